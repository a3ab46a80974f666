// SPDX-License-Identifier: Apache-2.0
// The texts of general.mlir on the host: general accesses and contractions of a batch, to the bit.
#include "general.hpp"

#include "emulation.hpp"

using namespace emulation;

extern "C" {
void halftone_transposed(const float*, const float*, float*, long long);
void halftone_swapped(const float*, float*, long long);
void halftone_gathered(const std::uint16_t*, const int*, float*, long long);
void halftone_summed(const int*, const float*, float*, long long);
void halftone_summed_of_each(const int*, const float*, float*, long long);
void halftone_shifted(const float*, float*, long long);
void halftone_spread(const float*, float*, long long);
void halftone_cropped(const float*, float*, long long);
void halftone_picked(const float*, const int*, float*, long long);
void halftone_strided(const float*, float*, long long);
void halftone_late_sums(const float*, const float*, float*, long long);
void halftone_turned_sums(const float*, float*, long long);
void halftone_sums_of_each(const float*, const float*, float*, long long);
void halftone_gathered_sums(const std::uint16_t*, const int*, float*, long long);
void halftone_placed(const float*, const float*, float*, long long);
void halftone_products(const float*, const float*, const float*, const float*, float*, long long);
void halftone_turned(const float*, const float*, float*, long long);
void halftone_gradients(const float*, const float*, float*, long long);
void halftone_places(const float*, float*, long long);
void halftone_causal(const float*, float*, long long);
void halftone_spectrum(const float*, const float*, float*, long long);
}

namespace {

template <class T>
struct Filled : Buffer<T> {
  explicit Filled(const std::vector<T>& values) : Buffer<T>(values.size()) {
    for (std::size_t i = 0; i < values.size(); ++i) (*this)[i] = values[i];
  }
};

/// The kernel of that name, if it takes these operands.
template <class... T>
auto find(const std::string& name) {
  using Kernel = void (*)(const T*..., float*, long long);
  const std::map<std::string, void*> all = {
      {"transposed", reinterpret_cast<void*>(halftone_transposed)},
      {"swapped", reinterpret_cast<void*>(halftone_swapped)},
      {"gathered", reinterpret_cast<void*>(halftone_gathered)},
      {"summed", reinterpret_cast<void*>(halftone_summed)},
      {"summed_of_each", reinterpret_cast<void*>(halftone_summed_of_each)},
      {"shifted", reinterpret_cast<void*>(halftone_shifted)},
      {"spread", reinterpret_cast<void*>(halftone_spread)},
      {"cropped", reinterpret_cast<void*>(halftone_cropped)},
      {"picked", reinterpret_cast<void*>(halftone_picked)},
      {"strided", reinterpret_cast<void*>(halftone_strided)},
      {"late_sums", reinterpret_cast<void*>(halftone_late_sums)},
      {"turned_sums", reinterpret_cast<void*>(halftone_turned_sums)},
      {"sums_of_each", reinterpret_cast<void*>(halftone_sums_of_each)},
      {"gathered_sums", reinterpret_cast<void*>(halftone_gathered_sums)},
      {"placed", reinterpret_cast<void*>(halftone_placed)},
      {"products", reinterpret_cast<void*>(halftone_products)},
      {"turned", reinterpret_cast<void*>(halftone_turned)},
      {"gradients", reinterpret_cast<void*>(halftone_gradients)},
      {"places", reinterpret_cast<void*>(halftone_places)},
      {"causal", reinterpret_cast<void*>(halftone_causal)},
      {"spectrum", reinterpret_cast<void*>(halftone_spectrum)}};
  return reinterpret_cast<Kernel>(all.at(name));
}

}  // namespace

TEST_CASE("every text computes its elements and touches nothing else") {
  for (const long long batch : {1, 4, 13})
    for (const bool reversed : {false, true})
      general::each_kernel(static_cast<std::size_t>(batch),
                           [&]<class... T>(const std::string& name, const general::Values& expected,
                                           const std::vector<T>&... operands) {
                             CAPTURE(name);
                             CAPTURE(batch);
                             Buffer<float> result(expected.size());
                             std::tuple<Filled<T>...> memories(operands...);
                             std::apply(
                                 [&](auto&... memory) {
                                   run(name.c_str(), find<T...>(name), reversed, batch,
                                       memory.get()..., result.get());
                                 },
                                 memories);
                             check_equal(result.values(), expected);
                           });
}
