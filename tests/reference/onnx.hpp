// SPDX-License-Identifier: Apache-2.0
// Reads the parts of ONNX test vectors that the reference is judged by, straight from the protobuf
// wire format (protobuf.dev/programming-guides/encoding; field numbers from onnx/onnx.proto).
#pragma once

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace onnx {

/// One field of a message: `number` for varints and fixed widths, `bytes` for everything with a
/// length.
struct Field {
  std::uint32_t id = 0;
  std::uint64_t number = 0;
  std::string_view bytes;
};

/// Walks the fields of one message.
class Message {
 public:
  explicit Message(std::string_view bytes) : rest_(bytes) {}

  bool next(Field& field) {
    if (rest_.empty()) return false;
    const std::uint64_t key = varint();
    field = {static_cast<std::uint32_t>(key >> 3), 0, {}};
    switch (key & 7) {
      case 0:
        field.number = varint();
        break;
      case 1:
        field.number = fixed<std::uint64_t>();
        break;
      case 2:
        field.bytes = take(varint());
        break;
      case 5:
        field.number = fixed<std::uint32_t>();
        break;
      default:
        throw std::runtime_error("not a protobuf message");
    }
    return true;
  }

  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(take(1)[0]);
      value |= static_cast<std::uint64_t>(byte & 127) << shift;
      if (byte < 128) return value;
    }
    throw std::runtime_error("not a protobuf varint");
  }

  template <class T>
  T fixed() {
    T value;
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }

  [[nodiscard]] bool done() const { return rest_.empty(); }

 private:
  std::string_view take(std::uint64_t count) {
    if (count > rest_.size()) throw std::runtime_error("a protobuf message ends early");
    const std::string_view bytes = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return bytes;
  }

  std::string_view rest_;
};

enum class Type { undefined = 0, f32 = 1, i32 = 6, i64 = 7, boolean = 9 };

/// Values of f32, i32, i64 and Boolean tensors, the last 0 or 1; empty for all other types.
struct Tensor {
  Type type = Type::undefined;
  std::vector<std::int64_t> shape;
  std::vector<double> values;
};

struct Attribute {
  float f = 0;
  std::int64_t i = 0;
  std::string s;
  std::vector<std::int64_t> ints;
};

struct Node {
  std::string op;
  std::vector<std::string> inputs, outputs;  ///< an absent optional one is empty
  std::map<std::string, Attribute> attributes;
};

/// A model of one node or more, and its first data set.
struct Vector {
  std::string name;
  std::vector<Node> nodes;
  std::vector<Tensor> inputs, outputs;
};

template <class T>
void append_raw(std::string_view bytes, std::vector<double>& values) {
  for (Message raw(bytes); !raw.done();) values.push_back(static_cast<double>(raw.fixed<T>()));
}

inline Tensor parse_tensor(std::string_view bytes) {
  Tensor tensor;
  std::string_view raw;
  Message message(bytes);
  for (Field field; message.next(field);) {
    if (field.id == 1 && field.bytes.empty())
      tensor.shape.push_back(static_cast<std::int64_t>(field.number));
    if (field.id == 1) {
      for (Message dims(field.bytes); !dims.done();)
        tensor.shape.push_back(static_cast<std::int64_t>(dims.varint()));
    }
    if (field.id == 2) tensor.type = static_cast<Type>(field.number);
    if (field.id == 4) append_raw<float>(field.bytes, tensor.values);
    if (field.id == 5 || field.id == 7) {
      for (Message data(field.bytes); !data.done();) {
        tensor.values.push_back(static_cast<double>(static_cast<std::int64_t>(data.varint())));
      }
    }
    if (field.id == 9) raw = field.bytes;
  }
  if (tensor.type == Type::f32) append_raw<float>(raw, tensor.values);
  if (tensor.type == Type::i32) append_raw<std::int32_t>(raw, tensor.values);
  if (tensor.type == Type::i64) append_raw<std::int64_t>(raw, tensor.values);
  if (tensor.type == Type::boolean) append_raw<std::uint8_t>(raw, tensor.values);
  return tensor;
}

inline Node parse_node(std::string_view bytes) {
  Node node;
  Message message(bytes);
  for (Field field; message.next(field);) {
    if (field.id == 1) node.inputs.emplace_back(field.bytes);
    if (field.id == 2) node.outputs.emplace_back(field.bytes);
    if (field.id == 4) node.op = field.bytes;
    if (field.id != 5) continue;
    std::string name;
    Attribute attribute;
    Message fields(field.bytes);
    for (Field part; fields.next(part);) {
      if (part.id == 1) name = part.bytes;
      if (part.id == 2) {
        const auto pattern = static_cast<std::uint32_t>(part.number);
        std::memcpy(&attribute.f, &pattern, sizeof pattern);
      }
      if (part.id == 3) attribute.i = static_cast<std::int64_t>(part.number);
      if (part.id == 4) attribute.s = part.bytes;
      if (part.id == 8 && part.bytes.empty())
        attribute.ints.push_back(static_cast<std::int64_t>(part.number));
      if (part.id != 8) continue;
      for (Message ints(part.bytes); !ints.done();)
        attribute.ints.push_back(static_cast<std::int64_t>(ints.varint()));
    }
    node.attributes[name] = attribute;
  }
  return node;
}

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// The tensors PREFIX_0.pb, PREFIX_1.pb, ... of a data set.
inline std::vector<Tensor> read_tensors(const std::filesystem::path& folder,
                                        const std::string& prefix) {
  std::vector<Tensor> tensors;
  for (int i = 0;; ++i) {
    const auto path = folder / (prefix + "_" + std::to_string(i) + ".pb");
    if (!std::filesystem::exists(path)) return tensors;
    tensors.push_back(parse_tensor(read_file(path)));
  }
}

/// Only the nodes; tensors stay empty until read_data.
inline Vector read_model(const std::filesystem::path& folder) {
  Vector vector;
  vector.name = folder.filename().string();
  const std::string model = read_file(folder / "model.onnx");
  Message message(model);
  for (Field field; message.next(field);) {
    if (field.id != 7) continue;
    Message graph(field.bytes);
    for (Field part; graph.next(part);) {
      if (part.id == 1) vector.nodes.push_back(parse_node(part.bytes));
    }
  }
  return vector;
}

inline void read_data(const std::filesystem::path& folder, Vector& vector) {
  vector.inputs = read_tensors(folder / "test_data_set_0", "input");
  vector.outputs = read_tensors(folder / "test_data_set_0", "output");
}

}  // namespace onnx
