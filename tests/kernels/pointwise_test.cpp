// SPDX-License-Identifier: Apache-2.0
// pointwise.cuh and load_store.cuh on the simulator: rows of any length, four and eight wide, and
// 16 bytes at once on every chip where memory allows.
#include <doctest/doctest.h>

#include <iterator>
#include <regex>

#include "chips.hpp"
#include "halftone/reference/rounding.hpp"
#include "halftone/simulator/module.hpp"
#include "simulated.hpp"

using namespace halftone;
using namespace halftone::tests;
using description::Element;

namespace {

constexpr Element kFormats[] = {Element::f16, Element::bf16, Element::f32};

Compilation compiled(const std::string& chip, Element format, int columns, int width) {
  return compile("pointwise.cu", "compute_" + chip,
                 {std::string("ELEMENT=") + element_name(format),
                  "COLUMNS=" + std::to_string(columns), "WIDTH=" + std::to_string(width)});
}

}  // namespace

TEST_CASE("rows of any length are added four and eight wide") {
  constexpr long long kRows = 3;
  for (const Element format : kFormats) {
    for (const int columns : {1, 7, 8, 12, 1000, 1001}) {
      for (const int width : {4, 8}) {
        CAPTURE(element_name(format));
        CAPTURE(columns);
        CAPTURE(width);
        const Compilation compilation = compiled("80", format, columns, width);
        REQUIRE(compilation.accepted);
        const auto count = static_cast<std::size_t>(kRows * columns);
        const std::vector<float> x = drawn(count, format, 1), y = drawn(count, format, 2);
        simulator::Device device("sm_80");
        const Buffer x_buffer(device, "x", stored(format, x));
        const Buffer y_buffer(device, "y", stored(format, y));
        const Buffer result(device, "result", stored(format, x).size());
        const void* const parameters[] = {x_buffer.parameter(), y_buffer.parameter(),
                                          result.parameter(), &kRows};
        const auto threads = static_cast<std::uint32_t>(kRows * ((columns + width - 1) / width));
        const auto report = device.launch(simulator::Module::parse(compilation.ptx, "pointwise"),
                                          "add", {(threads + 127) / 128}, {128}, 0, parameters);
        for (const simulator::Finding& finding : report.findings) FAIL_CHECK(finding.text());
        std::vector<float> expected(count);
        for (std::size_t i = 0; i < count; ++i)
          expected[i] = reference::round({format}, x[i] + y[i]);
        CHECK(values(format, result.bytes()) == expected);
      }
    }
  }
}

TEST_CASE("sixteen bytes are read and written at once on every chip") {
  for (const char* chip : kChips) {
    for (const Element format : kFormats) {
      CAPTURE(chip);
      CAPTURE(element_name(format));
      const std::string ptx = compiled(chip, format, 1000, format == Element::f32 ? 4 : 8).ptx;
      const auto count = [&](const char* pattern) {
        const std::regex regex(pattern);
        return std::distance(std::sregex_iterator(ptx.begin(), ptx.end(), regex), {});
      };
      CHECK(count("ld\\.global(\\.nc)?\\.v4\\.") == 2);
      CHECK(count("st\\.global\\.v4\\.") == 1);
    }
  }
}
