// SPDX-License-Identifier: Apache-2.0
#include "header.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <optional>
#include <set>

#include "../text.hpp"
#include "../utf8.hpp"
#include "json_reader.hpp"

namespace halftone::safetensors {
namespace {

struct TypeForm {
  std::string_view word;
  int bits;
};

constexpr TypeForm kTypes[] = {
    {"BOOL", 8},    {"F4", 4},      {"F6_E2M3", 6},     {"F6_E3M2", 6},    {"U8", 8},   {"I8", 8},
    {"F8_E5M2", 8}, {"F8_E4M3", 8}, {"F8_E8M0", 8},     {"I16", 16},       {"U16", 16}, {"F16", 16},
    {"BF16", 16},   {"I32", 32},    {"U32", 32},        {"F32", 32},       {"C64", 64}, {"F64", 64},
    {"I64", 64},    {"U64", 64},    {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}};

/// Where it fits into 64 bits.
std::optional<std::uint64_t> bytes_of(const Tensor& tensor) {
  unsigned __int128 bits = static_cast<unsigned>(bits_of(tensor.type));
  bool is_empty = false;
  for (const std::int64_t extent : tensor.shape) is_empty = is_empty || extent == 0;
  if (is_empty) return 0;
  for (const std::int64_t extent : tensor.shape) {
    bits *= static_cast<std::uint64_t>(extent);
    if (bits > std::numeric_limits<std::uint64_t>::max()) return std::nullopt;
  }
  if (bits % 8 != 0) return std::nullopt;
  return static_cast<std::uint64_t>(bits / 8);
}

bool read_shape(JsonReader& reader, std::vector<std::int64_t>& shape) {
  return reader.array([&] {
    std::uint64_t extent = 0;
    if (!reader.number(extent)) return false;
    if (extent > std::uint64_t{std::numeric_limits<std::int64_t>::max()})
      return reader.fail("has an extent past 2^63 - 1");
    shape.push_back(static_cast<std::int64_t>(extent));
    return true;
  });
}

bool read_offsets(JsonReader& reader, Tensor& tensor) {
  std::vector<std::uint64_t> offsets;
  const bool read = reader.array([&] {
    offsets.emplace_back();
    return reader.number(offsets.back());
  });
  if (!read) return false;
  if (offsets.size() != 2) return reader.fail("has data_offsets that are not two numbers");
  tensor.begin = offsets[0];
  tensor.end = offsets[1];
  return true;
}

bool read_tensor(JsonReader& reader, Tensor& tensor) {
  std::set<std::string> seen;
  const bool read = reader.object([&](std::string key) {
    if (!seen.insert(key).second) return reader.fail("has " + shown(key) + " twice");
    if (key == "dtype") return reader.string(tensor.type);
    if (key == "shape") return read_shape(reader, tensor.shape);
    if (key == "data_offsets") return read_offsets(reader, tensor);
    return reader.fail("has " + shown(key) + ", which is none of dtype, shape, data_offsets");
  });
  if (!read) return false;
  if (seen.size() != 3) return reader.fail("has a tensor without dtype, shape or data_offsets");
  return true;
}

bool read_metadata(JsonReader& reader, Metadata& metadata) {
  std::set<std::string> seen;
  return reader.object([&](std::string key) {
    if (!seen.insert(key).second) return reader.fail("has " + shown(key) + " twice");
    metadata.emplace_back(std::move(key), "");
    return reader.string(metadata.back().second);
  });
}

/// What the JSON says, with tensors in its order.
bool read(JsonReader& reader, Header& header) {
  std::set<std::string> seen;
  const bool read = reader.object([&](std::string name) {
    if (!seen.insert(name).second) return reader.fail("has " + shown(name) + " twice");
    if (name == "__metadata__") return read_metadata(reader, header.metadata);
    header.tensors.push_back({.name = std::move(name), .type = {}, .shape = {}});
    return read_tensor(reader, header.tensors.back());
  });
  return read && reader.end();
}

/// The sentence's rest, empty where tensors fill `data_bytes` without holes.
std::string fault_of(std::span<const Tensor> tensors, std::uint64_t data_bytes) {
  std::uint64_t at = 0;
  for (const Tensor& tensor : tensors) {
    const std::string name = "has a tensor " + shown(tensor.name);
    if (bits_of(tensor.type) == 0) return name + " of the unknown type " + shown(tensor.type);
    if (tensor.begin != at || tensor.end < tensor.begin)
      return name + " that does not begin where the one before it ends";
    const std::optional<std::uint64_t> bytes = bytes_of(tensor);
    if (!bytes || *bytes != tensor.end - tensor.begin)
      return name + " whose shape and type do not make the bytes that it takes";
    at = tensor.end;
  }
  if (at == data_bytes) return {};
  return "has " + std::to_string(data_bytes) + " bytes behind its header, but its tensors take " +
         std::to_string(at);
}

}  // namespace

int bits_of(std::string_view type) {
  const auto* const found = std::ranges::find(kTypes, type, &TypeForm::word);
  return found == std::end(kTypes) ? 0 : found->bits;
}

const std::string* find(const Metadata& metadata, std::string_view key) {
  const auto found = std::ranges::find(metadata, key, &Metadata::value_type::first);
  return found == metadata.end() ? nullptr : &found->second;
}

std::string form_text(std::string_view type, std::span<const std::int64_t> shape) {
  std::vector<std::string> extents;
  for (const std::int64_t extent : shape) extents.push_back(std::to_string(extent));
  return std::string(type) + "[" + joined(extents, ", ") + "]";
}

bool parse(std::span<const std::byte> file, Header& header, std::uint64_t& tensors_at,
           std::string& why) {
  header = {};
  const auto refuse = [&](std::string fault) {
    why = std::move(fault);
    header = {};
    return false;
  };
  if (file.size() < kLengthBytes) return refuse("is shorter than the 8 bytes of a length");
  std::uint64_t length = 0;
  for (std::size_t i = kLengthBytes; i-- > 0;)
    length = length << 8 | std::to_integer<std::uint64_t>(file[i]);
  if (length > kMostHeaderBytes)
    return refuse("says that its header has " + std::to_string(length) + " bytes; at most " +
                  std::to_string(kMostHeaderBytes) + " are allowed");
  if (length > file.size() - kLengthBytes)
    return refuse("ends inside its header of " + std::to_string(length) + " bytes");
  const std::string_view json(reinterpret_cast<const char*>(file.data()) + kLengthBytes, length);
  if (json.empty() || json[0] != '{') return refuse("has a header that does not begin with '{'");
  JsonReader reader(json);
  if (!read(reader, header)) return refuse("has a header that " + reader.fault());
  std::ranges::sort(header.tensors, {},
                    [](const Tensor& tensor) { return std::pair(tensor.begin, tensor.end); });
  tensors_at = kLengthBytes + length;
  std::string fault = fault_of(header.tensors, file.size() - tensors_at);
  return fault.empty() || refuse(std::move(fault));
}

std::string print(const Header& header) {
  std::string json = "{\"__metadata__\":{";
  for (const auto& [key, value] : header.metadata) {
    if (json.back() != '{') json += ',';
    append_json_text(json, key);
    json += ':';
    append_json_text(json, value);
  }
  json += '}';
  for (const Tensor& tensor : header.tensors) {
    json += ',';
    append_json_text(json, tensor.name);
    json += ":{\"dtype\":\"" + tensor.type + "\",\"shape\":[";
    for (const std::int64_t extent : tensor.shape)
      json += (json.back() == '[' ? "" : ",") + std::to_string(extent);
    json += "],\"data_offsets\":[" + std::to_string(tensor.begin) + "," +
            std::to_string(tensor.end) + "]}";
  }
  json += '}';
  json.resize((json.size() + 7) / 8 * 8, ' ');
  std::string text;
  for (std::uint64_t i = 0; i < kLengthBytes; ++i)
    text += static_cast<char>(json.size() >> (8 * i) & 0xff);
  return text + json;
}

}  // namespace halftone::safetensors
