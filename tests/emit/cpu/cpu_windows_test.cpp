// SPDX-License-Identifier: Apache-2.0
// Contractions of windows.mlir.in, whose neighbouring taps are neighbours in memory, too: what they
// copy in runs, cut off by the edges of an image (docs/decisions/0058), is what windows that are
// spelled out here have.
#include "formats.hpp"
#include "native.hpp"
#include "reference.hpp"

using namespace native;
using reference::Values;

namespace {

std::size_t size(std::int64_t elements) { return static_cast<std::size_t>(elements); }

/// x as kernels see it, of f32 or bf16.
class Source {
 public:
  Source(std::int64_t count, const std::string& format, const Case& c)
      : values_(size(count), c.place) {
    fill(values_, size(count), 1, c.specials);
    if (format == "f32") return;
    codes_ = std::make_unique<Memory<std::uint16_t>>(size(count), c.place);
    for (std::size_t i = 0; i < size(count); ++i) {
      (*codes_)[i] = static_cast<std::uint16_t>(formats::bf16().round(values_[i], false));
      values_[i] = formats::bf16().widen((*codes_)[i]);
    }
  }
  [[nodiscard]] const void* pointer() const {
    return codes_ ? codes_->pointer() : values_.pointer();
  }
  float at(std::int64_t i) { return values_[size(i)]; }

 private:
  Floats values_;
  std::unique_ptr<Memory<std::uint16_t>> codes_;
};

/// Windows of images [height, width, channels], or of sequences where there is one row.
struct Windows {
  std::int64_t height, width, channels;
  std::int64_t down, across;                       // windows
  std::int64_t taps_down, taps_across;             // of each
  std::int64_t step, before_first, before_column;  // from one window to the next; padding

  [[nodiscard]] std::int64_t count(std::int64_t images) const { return images * down * across; }
  [[nodiscard]] std::int64_t length() const { return taps_down * taps_across * channels; }

  float at(Source& x, std::int64_t window, std::int64_t element) const {
    const std::int64_t image = window / (down * across), tap = element / channels;
    const std::int64_t row = window / across % down * step + tap / taps_across - before_first,
                       column = window % across * step + tap % taps_across - before_column;
    if (row < 0 || row >= height || column < 0 || column >= width) return 0;
    return x.at(((image * height + row) * width + column) * channels + element % channels);
  }
};

/// Of windows.mlir.in's images; of its sequences.
Windows of_images(std::int64_t width, std::int64_t channels) {
  return {8, width, channels, 5, 4, 2, 5, 2, 1, 2};
}
Windows of_sequences(std::int64_t channels) { return {1, 9, channels, 1, 8, 1, 10, 1, 0, 4}; }

void check_forward(const std::string& name, const std::string& format, const Windows& windows) {
  constexpr std::int64_t kColumns = 33;
  each_case({1, 3}, [&](const Case& c) {
    CAPTURE(name);
    Source x(c.batch * windows.height * windows.width * windows.channels, format, c);
    Floats w(size(windows.length() * kColumns), c.place),
        sums(size(windows.count(c.batch) * kColumns), c.place);
    fill(w, size(windows.length() * kColumns), 2, c.specials);
    run(c.variant, name, {x.pointer(), w.pointer(), sums.pointer()}, c.batch);
    Values wanted;
    for (std::int64_t window = 0; window < windows.count(c.batch); ++window)
      for (std::int64_t column = 0; column < kColumns; ++column) {
        Values a, b;
        for (std::int64_t k = 0; k < windows.length(); ++k) {
          a.push_back(windows.at(x, window, k));
          b.push_back(w[size(k * kColumns + column)]);
        }
        wanted.push_back(reference::contraction(a, b));
      }
    check(sums, wanted);
  });
}

void check_gradient(const std::string& name, const std::string& format, const Windows& windows) {
  constexpr std::int64_t kRows = 17;
  each_case({1, 3}, [&](const Case& c) {
    CAPTURE(name);
    const std::int64_t count = windows.count(c.batch);
    Source x(c.batch * windows.height * windows.width * windows.channels, format, c);
    Floats g(size(count * kRows), c.place), sums(size(kRows * windows.length()), c.place);
    fill(g, size(count * kRows), 2, c.specials);
    run(c.variant, name, {g.pointer(), x.pointer(), sums.pointer()}, c.batch);
    Values wanted;
    for (std::int64_t row = 0; row < kRows; ++row)
      for (std::int64_t element = 0; element < windows.length(); ++element) {
        Values a, b;
        for (std::int64_t window = 0; window < count; ++window) {
          a.push_back(g[size(window * kRows + row)]);
          b.push_back(windows.at(x, window, element));
        }
        wanted.push_back(reference::contraction(a, b));
      }
    check(sums, wanted);
  });
}

template <class Check>
void of_all_images(const std::string& kernel, Check check) {
  for (const std::string format : {"f32", "bf16"})
    for (const std::int64_t channels : {1, 3, 24})
      for (const std::int64_t width : {2, 6})
        check(kernel + "_" + format + "_" + std::to_string(channels) + "_" + std::to_string(width),
              format, of_images(width, channels));
}

}  // namespace

TEST_CASE("rows are copied in runs of taps, without what is outside of an image") {
  of_all_images("windows", check_forward);
}

TEST_CASE("columns are copied in runs of taps, without what is outside of an image") {
  of_all_images("gradient", check_gradient);
}

TEST_CASE("a run may be all of a line") {
  for (const std::int64_t channels : {1, 3, 24})
    check_forward("times_" + std::to_string(channels), "f32", of_sequences(channels));
}
