// SPDX-License-Identifier: Apache-2.0
#include "halftone/dataset.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "data/gather.hpp"
#include "data/table.hpp"
#include "files/scratch_folder.hpp"
#include "halftone/loader.hpp"
#include "message_of.hpp"
#include "npy/header.hpp"
#include "read_rows.hpp"
#include "safetensors/header.hpp"

using namespace halftone;
using namespace halftone::tests;
using Shape = std::vector<std::int64_t>;

namespace {

std::vector<float> counted(std::size_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 0.0f);
  return values;
}

template <class Element>
std::string bytes_of(const std::vector<Element>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Element)};
}

template <class Element>
void write_npy(const std::string& path, npy::Type type, const Shape& shape,
               const std::vector<Element>& values) {
  write_file(path, npy::print(type, shape) + bytes_of(values));
}

}  // namespace

TEST_CASE("values in memory are viewed, with the shape that the number of rows leaves") {
  std::vector<float> x = counted(6);
  const std::vector<std::int32_t> y = {5, 6, 7};
  const Dataset data = Dataset::view({{"x", x}, {"y", y}}, 3);
  CHECK(data.rows() == 3);
  CHECK(data.inputs() == std::vector<std::string>{"x", "y"});
  CHECK(data.shape("x") == Shape{2});
  CHECK(data.shape("y") == Shape{});
  x[1] = 9.0f;
  CHECK(floats_of(data, "x") == std::vector<float>{0, 9, 2, 3, 4, 5});
  CHECK(integers_of(data, "y") == y);
}

TEST_CASE("values that are given away live as long as who needs them") {
  std::unique_ptr<Dataset> half;
  {
    const Dataset data = Dataset::own({{"x", counted(6)}}, 6);
    half = std::make_unique<Dataset>(data.slice(3, 3));
  }
  CHECK(floats_of(*half, "x") == std::vector<float>{3, 4, 5});
}

TEST_CASE("what is wrong with values in memory is one sentence") {
  const std::vector<float> x = counted(6);
  CHECK(message_of([&] {
          (void)Dataset::view({{"x", x}}, 4);
        }) == "dataset: input 'x' has 6 values, which are no 4 rows; give whole rows, row-major");
  CHECK(message_of([&] {
          (void)Dataset::view({{"x", x}}, 0);
        }) == "dataset: the number of rows is 0; give 1 or more");
  CHECK(message_of([&] {
          (void)Dataset::view({{"x", x}, {"x", x}}, 6);
        }) == "dataset: input 'x' is given twice; give it once");
  CHECK(message_of([&] {
          (void)Dataset::view({{"", x}}, 6);
        }) == "dataset: an input has no name; call it as the model does");
  CHECK(message_of([&] { (void)Dataset::view({}, 6); }) ==
        "dataset: it has no input; name at least one");
  const std::span<const float> nowhere(static_cast<const float*>(nullptr), 6);
  CHECK(message_of([&] {
          (void)Dataset::view({{"x", nowhere}}, 6);
        }) == "dataset: input 'x' was given a null pointer; give the address of its values");
  CHECK(message_of([&] {
          (void)Dataset::view({{"x", x}}, 6).shape("y");
        }) == "dataset: input 'y' is unknown; it has 'x'");
}

TEST_CASE("slices of slices and of splits are rows of the source") {
  const std::vector<float> x = counted(100);
  const Dataset data = Dataset::view({{"x", x}}, 100);
  CHECK(floats_of(data.slice(10, 20).slice(5, 3), "x") == std::vector<float>{15, 16, 17});
  const auto [training, held_out] = data.slice(50, 10).split(0.3, 1);
  CHECK(training.rows() == 7);
  CHECK(held_out.rows() == 3);
  std::vector<float> both = floats_of(training, "x");
  CHECK(std::ranges::is_sorted(both));
  const std::vector<float> rest = floats_of(held_out, "x");
  CHECK(std::ranges::is_sorted(rest));
  CHECK(floats_of(training.slice(2, 3), "x") ==
        std::vector<float>(both.begin() + 2, both.begin() + 5));
  both.insert(both.end(), rest.begin(), rest.end());
  std::ranges::sort(both);
  CHECK(both == floats_of(data.slice(50, 10), "x"));
  CHECK(message_of([&] { (void)data.slice(99, 2); }) ==
        "dataset: a slice of 2 rows from row 99 is not inside of 100 rows; give one row or more of "
        "those that there are");
  CHECK(message_of([&] { (void)data.slice(0, 0); }).find("a slice of 0 rows") != std::string::npos);
  for (const double share : {0.0, 0.001, 1.0, -1.0, 2.0, std::nan("")})
    CHECK(message_of([&] { (void)data.split(share, 1); }).find("leaves one part without rows") !=
          std::string::npos);
  CHECK(data.split(0.005, 1).held_out.rows() == 1);
}

TEST_CASE("datasets are joined by row") {
  const std::vector<float> x = counted(4), z = counted(5);
  const std::vector<std::int32_t> y = {1, 2, 3, 4};
  const Dataset a = Dataset::view({{"x", x}}, 4), b = Dataset::view({{"y", y}}, 4);
  const Dataset both = a.joined(b);
  CHECK(both.inputs() == std::vector<std::string>{"x", "y"});
  CHECK(integers_of(both.slice(2, 2), "y") == std::vector<std::int32_t>{3, 4});
  CHECK(message_of([&] {
          (void)a.joined(Dataset::view({{"z", z}}, 5));
        }) == "dataset: datasets of 4 and 5 rows cannot be joined; give both as many rows");
  CHECK(message_of([&] { (void)a.joined(b.slice(0, 4)); }) ==
        "dataset: a part of a dataset cannot be joined; join before slice() and split()");
}

TEST_CASE(".npy files are mapped, and their elements converted") {
  const ScratchFolder folder;
  const std::string pixels = folder / "pixels.npy", labels = folder / "labels.npy";
  write_npy<std::uint8_t>(pixels, npy::Type::u1, {3, 2, 1}, {0, 51, 102, 153, 204, 255});
  write_npy<std::int64_t>(labels, npy::Type::i8, {3}, {7, -8, 9});
  const Dataset data = Dataset::npy(
      {{.input = "x", .file = pixels, .convert = {.scale = 2.0f}}, {.input = "y", .file = labels}});
  CHECK(data.rows() == 3);
  CHECK(data.shape("x") == Shape{2, 1});
  CHECK(data.shape("y") == Shape{});
  CHECK(floats_of(data, "x") == std::vector<float>{0, 102, 204, 306, 408, 510});
  CHECK(integers_of(data, "y") == std::vector<std::int32_t>{7, -8, 9});
}

TEST_CASE("whatever elements numpy writes, they are the numbers that they stand for") {
  const ScratchFolder folder;
  struct Case {
    npy::Type type;
    std::string bytes;  ///< of two numbers, written out
    std::vector<float> numbers;
    InputElement as_it_lies = InputElement::by_source;
  };
  using npy::Type;
  const std::string f(1, '\xff'), o(1, '\0');
  const Case cases[] = {
      {Type::b1, "\1" + o, {1, 0}},
      {Type::u1, f + "\2", {255, 2}, InputElement::u8},
      {Type::i1, f + "\2", {-1, 2}, InputElement::i8},
      {Type::u2, f + f + "\2\1", {65535, 258}, InputElement::u16},
      {Type::i2, "\xfe" + f + "\2\1", {-2, 258}, InputElement::i16},
      {Type::u4, o + o + o + "\x80" + "\3" + o + o + o, {2147483648.0f, 3}},
      {Type::i4, f + f + f + f + "\3" + o + o + o, {-1, 3}},
      {Type::u8,
       o + o + o + o + "\1" + o + o + o + "\4" + o + o + o + o + o + o + o,
       {4294967296.0f, 4}},
      {Type::i8,
       f + f + f + f + f + f + f + f + "\4" + o + o + o + o + o + o + o,
       {-1, 4},
       InputElement::i64},
      {Type::f2, o + "\x3c" + o + "\xc0", {1, -2}, InputElement::f16},
      {Type::f4, o + o + "\x80\x3f" + o + o + o + "\xc0", {1, -2}},
      {Type::f8, o + o + o + o + o + o + "\xf0\x3f" + o + o + o + o + o + o + o + "\xc0", {1, -2}}};
  for (const Case& c : cases) {
    CAPTURE(static_cast<int>(c.type));
    const std::string file = folder / "x.npy";
    write_file(file, npy::print(c.type, Shape{2}) + c.bytes);
    const Dataset wide =
        Dataset::npy({{.input = "x", .file = file, .convert = {.to = InputElement::f32}}});
    CHECK(floats_of(wide, "x") == c.numbers);
    if (c.as_it_lies == InputElement::by_source) continue;
    const Dataset data =
        Dataset::npy({{.input = "x", .file = file, .convert = {.to = c.as_it_lies}}});
    Loader loader(data, {.batch = 2, .shuffle = false, .threads = 0});
    const auto batch = loader.next();
    REQUIRE(batch);
    const std::string given = std::visit(
        [](const auto& values) {
          return std::string(reinterpret_cast<const char*>(values.data()), values.size_bytes());
        },
        batch->inputs[0].values);
    CHECK(given == c.bytes);
  }
}

TEST_CASE("what is wrong with .npy files is one sentence") {
  const ScratchFolder folder;
  const std::string file = folder / "x.npy", other = folder / "y.npy";
  const auto of = [&](std::vector<NpyInput> inputs) {
    std::string message = message_of([&] { (void)Dataset::npy(std::move(inputs)); });
    for (const std::string& path : {file, other})
      for (std::size_t at = message.find(path); at != message.npos; at = message.find(path))
        message.replace(at, path.size(), path == file ? "F" : "G");
    return message;
  };
  CHECK(of({{"x", file}}) ==
        "dataset: file 'F' cannot be opened: No such file or directory; check the path and its "
        "permissions");
  CHECK(message_of([&] {
          (void)Dataset::npy({{"x", folder.path()}});
        }).find("is no regular file") != std::string::npos);
  write_file(file, "");
  CHECK(of({{"x", file}}) ==
        "dataset: file 'F' does not begin as a .npy file does; save it with numpy.save");
  write_npy<float>(file, npy::Type::f4, {}, {1});
  CHECK(of({{"x", file}}) ==
        "dataset: input 'x' is a single number in file 'F'; store it as [rows, ...]");
  write_npy<float>(file, npy::Type::f4, {0, 3}, {});
  CHECK(of({{"x", file}}) == "dataset: input 'x' is empty in file 'F'; give it rows");
  write_npy<float>(file, npy::Type::f4, {2}, {1, 2});
  write_npy<float>(other, npy::Type::f4, {3}, {1, 2, 3});
  CHECK(of({{"x", file}, {"y", other}}) ==
        "dataset: input 'y' has 3 rows in file 'G', but inputs before it 2; give all inputs as "
        "many rows");
  std::string fortran = npy::print(npy::Type::f4, Shape{2, 1});
  fortran.replace(fortran.find("False"), 5, "True,").replace(fortran.find("True,,"), 6, "True, ");
  write_file(file, fortran + bytes_of(counted(2)));
  CHECK(of({{"x", file}}) ==
        "dataset: file 'F' has its rows across memory (fortran_order); save "
        "numpy.ascontiguousarray of it");
}

TEST_CASE("tensors of a safetensors file are mapped") {
  const ScratchFolder folder;
  const std::string file = folder / "x.safetensors";
  safetensors::Header header;
  header.tensors = {{"x", "F16", {2, 2}, 0, 8}, {"y", "U8", {2}, 8, 10}, {"z", "C64", {1}, 10, 18}};
  write_file(file, safetensors::print(header) +
                       bytes_of(std::vector<std::uint16_t>{0x3c00, 0xc000, 0x7bff, 0x0001}) +
                       bytes_of(std::vector<std::uint8_t>{3, 4}) + std::string(8, '\0'));
  const Dataset data =
      Dataset::safetensors(file, {{.input = "x"}, {.input = "digit", .tensor = "y"}});
  CHECK(floats_of(data, "x") == std::vector<float>{1, -2, 65504, 0x1p-24f});
  CHECK(integers_of(data, "digit") == std::vector<std::int32_t>{3, 4});
  const auto of = [&](std::vector<TensorInput> inputs) {
    return message_of([&] { (void)Dataset::safetensors(file, std::move(inputs)); });
  };
  CHECK(of({{"w"}}) == "dataset: file '" + file + "' has no tensor 'w'; it has 'x', 'y', 'z'");
  CHECK(of({{"z"}}) ==
        "dataset: file '" + file +
            "' has 'z' as C64, which no input is made of; store integers, F16, BF16, "
            "F32 or F64");
  write_file(file, "no header");
  CHECK(of({{"x"}}).find("dataset: file '" + file + "' ") == 0);
}

TEST_CASE("tokens are windows, and targets the same one token further on") {
  const ScratchFolder folder;
  const std::string file = folder / "tokens.bin";
  write_file(file, "HH" + bytes_of(std::vector<std::uint16_t>{1, 2, 3, 4, 5, 6, 65535}));
  TokenOptions options{.input = "in", .targets = "out", .length = 3, .header_bytes = 2};
  Dataset data = Dataset::tokens(file, options);
  CHECK(data.shape("out") == Shape{3});
  CHECK(integers_of(data, "in") == std::vector<std::int32_t>{1, 2, 3, 4, 5, 6});
  CHECK(integers_of(data, "out") == std::vector<std::int32_t>{2, 3, 4, 5, 6, 65535});
  options.stride = 2;
  options.targets = "";
  data = Dataset::tokens(file, options);
  CHECK(integers_of(data, "in") == std::vector<std::int32_t>{1, 2, 3, 3, 4, 5, 5, 6, 65535});
  const auto of = [&](const TokenOptions& wrong) {
    std::string message = message_of([&] { (void)Dataset::tokens(file, wrong); });
    if (const auto at = message.find(file); at != message.npos)
      message.replace(at, file.size(), "F");
    return message;
  };
  CHECK(of({.input = "in", .length = 3}) == "no error");  // the header taken for a token
  CHECK(of({.input = "in", .length = 3, .token_bytes = 4, .header_bytes = 1}) ==
        "dataset: file 'F' has 16 bytes, which are no header of 1 and tokens of 4; give the "
        "header's bytes and those of a token");
  CHECK(of({.input = "in", .targets = "out", .length = 8}) ==
        "dataset: file 'F' has 8 tokens, which make no window of 8 and the targets behind it; give "
        "a shorter length, or more tokens");
  CHECK(of({.input = "in", .length = 0}) ==
        "dataset: the length of a window is 0; give 1 token or more");
  CHECK(of({.input = "in", .length = 1, .token_bytes = 3}) ==
        "dataset: a token of 3 bytes is none; give 2 or 4");
}

TEST_CASE("windows of a series lie in one another, and targets behind them") {
  const std::vector<float> series = {1, 2, 3, 4, 5, 6, 7};
  const Dataset data = Dataset::view({{"series", std::span(series)}}, 7);
  Dataset windows =
      data.windows({.series = "series", .input = "past", .targets = "next", .length = 3});
  CHECK(windows.rows() == 4);
  CHECK(windows.shape("past") == Shape{3});
  CHECK(windows.shape("next") == Shape{1});
  CHECK(floats_of(windows, "past") == std::vector<float>{1, 2, 3, 2, 3, 4, 3, 4, 5, 4, 5, 6});
  CHECK(floats_of(windows, "next") == std::vector<float>{4, 5, 6, 7});
  windows = data.slice(1, 6).windows({.series = "series",
                                      .input = "past",
                                      .targets = "next",
                                      .length = 2,
                                      .ahead = 2,
                                      .stride = 2});
  CHECK(floats_of(windows, "past") == std::vector<float>{2, 3, 4, 5});
  CHECK(floats_of(windows, "next") == std::vector<float>{4, 5, 6, 7});
  const Dataset pairs = Dataset::view({{"series", std::span(series).first(6)}}, 3);
  windows = pairs.windows({.series = "series", .input = "past", .length = 2});
  CHECK(windows.shape("past") == Shape{2, 2});
  CHECK(floats_of(windows, "past") == std::vector<float>{1, 2, 3, 4, 3, 4, 5, 6});
  CHECK(windows.slice(1, 1).rows() == 1);

  const auto said = [](const Dataset& of, const WindowOptions& options) {
    return message_of([&] { (void)of.windows(options); });
  };
  CHECK(said(data, {.series = "serie", .input = "past", .length = 3}) ==
        "dataset: series 'serie' is unknown; the dataset's inputs are 'series'");
  CHECK(said(data, {.series = "series", .input = "past", .targets = "next", .length = 7}) ==
        "dataset: series 'series' has 7 rows, which make no window of 7 and the 1 behind it; give "
        "a shorter length, or more rows");
  CHECK(said(data, {.series = "series", .input = "past", .length = 0}) ==
        "dataset: the length of a window is 0; give 1 value or more");
  CHECK(said(data.split(0.5, 1).training, {.series = "series", .input = "past", .length = 1}) ==
        "dataset: series 'series' has rows that a split picked, which do not follow each other; "
        "make windows first, and split those");
  CHECK(
      said(data.windows({.series = "series", .input = "past", .length = 3}),
           {.series = "past", .input = "again", .length = 2}) ==
      "dataset: series 'past' is made of windows itself; give the dataset that they were made of");
}
