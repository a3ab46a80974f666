// SPDX-License-Identifier: Apache-2.0
// line_weights save FILE f32|f16|bf16 SEED, line_weights load FILE [FROM TO transposed|as_is]...:
// weights of the hand-made model to and from a file; prints every parameter's bits. For
// compare_with_pypi.
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "generated_example.hpp"

namespace {

template <class Program>
void print(const Program& program) {
  for (const std::string& name : program.parameter_names()) {
    std::printf("%s", name.c_str());
    for (const float value : program.parameter(name))
      std::printf(" %08x", std::bit_cast<std::uint32_t>(value));
    std::printf("\n");
  }
}

}  // namespace

int main(int count, char** arguments) {
  using halftone::WeightType;
  if (count < 3) return 2;
  const std::string_view command = arguments[1];
  try {
    if (command == "save" && count == 5) {
      const std::string_view type = arguments[3];
      const models::line::Trainer trainer(
          halftone::Device::cpu(), {.batch = 1, .seed = std::strtoull(arguments[4], nullptr, 10)});
      trainer.save_weights(arguments[2], {.as = type == "f16"    ? WeightType::f16
                                                : type == "bf16" ? WeightType::bf16
                                                                 : WeightType::f32});
      print(trainer);
      return 0;
    }
    if (command != "load" || count % 3 != 0) return 2;
    halftone::LoadOptions options;
    for (int i = 3; i < count; i += 3)
      options.names.push_back(
          {arguments[i], arguments[i + 1], std::string_view(arguments[i + 2]) == "transposed"});
    models::line::Predictor predictor(halftone::Device::cpu(), {.batch = 1});
    predictor.load_weights(arguments[2], options);
    print(predictor);
  } catch (const halftone::Error& error) {
    std::printf("%s\n", error.what());
    return 1;
  }
  return 0;
}
