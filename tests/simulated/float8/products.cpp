// SPDX-License-Identifier: Apache-2.0
#include "products.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "artifacts.hpp"
#include "halftone/manifest/manifest.hpp"
#include "halftone/manifest/texts.hpp"
#include "simulation.hpp"

namespace halftone::tests {

Artifact artifact_of(const char* name) { return Artifact::linked(*find_artifact(name).image); }

std::string without_number(const std::string& kernel) {
  return kernel.substr(0, kernel.find_last_not_of("_0123456789") + 1);
}

const std::set<std::string>& products_of_4_bits() {
  static const std::set<std::string> products = {"one",
                                                 "one_weight_gradient",
                                                 "two",
                                                 "two_input_gradient",
                                                 "two_weight_gradient",
                                                 "three",
                                                 "three_input_gradient",
                                                 "three_weight_gradient"};
  return products;
}

std::map<std::string, Product> products_of(const char* name, std::string_view chip) {
  const Artifact artifact = artifact_of(name);
  std::vector<std::string> texts;
  manifest::DecodeError error;
  const manifest::ArtifactImage& image = artifact.image();
  REQUIRE(manifest::unpack_texts({image.texts, image.text_bytes}, texts, error));
  std::map<std::string, Product> products;
  for (const manifest::Manifest& manifest : artifact.manifests()) {
    const manifest::CudaTarget* target = manifest::find_cuda(manifest, chip);
    for (std::size_t i = 0; target != nullptr && i < manifest.kernels.size(); ++i) {
      const manifest::CudaKernel& kernel = target->kernels[i];
      const std::string& text = texts[static_cast<std::size_t>(kernel.text)];
      const auto has = [&](std::string_view part) { return text.find(part) != text.npos; };
      if (has("contraction::run<"))
        products[manifest.kernels[i].name] = {
            has("::float8_"),    has("block_scaled_contraction::run<"),  has("int kScalePlaces = "),
            has("::factored_"),  has("tensor_memory_contraction::run<"), has("kPromotes = true"),
            kernel.no_eight_bits};
    }
  }
  return products;
}

Device watched_device(const char* chip, const simulator::LaunchOptions& options, const Asked& asked,
                      Watched& watched) {
  const auto compile = [asked, &watched](std::string text, const std::string& entry,
                                         const std::string& architecture) {
    const bool is_asked = text.find(asked.run) != text.npos;
    if (asked.run_alone && !is_asked && !entry.starts_with("halftone_refresh"))
      return empty_kernel(entry, architecture);
    watched.kernels += is_asked;
    const std::string_view from = asked.mutant.from;
    const std::size_t at = is_asked && !from.empty() ? text.find(from) : text.npos;
    if (at != text.npos) text.replace(at, from.size(), asked.mutant.to);
    auto compiled = compile_with_nvrtc(text, entry, architecture);
    watched.changed += at != text.npos;  // of a text that does not compile nothing is seen
    return compiled;
  };
  return simulated(chip, options, compile,
                   [&watched](const std::string&, const simulator::LaunchReport& report) {
                     watched.findings += report.findings.size();
                   });
}

ProductsRun run_products(const char* artifact, std::int64_t batch,
                         const simulator::LaunchOptions& options, const char* chip,
                         std::string_view run, const Mutant& mutant) {
  ProductsRun result;
  const std::vector<Binding> bindings = {{"batch", batch}};
  Replay replay(
      artifact_of(artifact),
      watched_device(chip, options, {.run = run, .mutant = mutant, .run_alone = true}, result),
      {.model = "", .bindings = bindings, .seed = 5},
      [&](const std::string& text) { return text.find(run) != text.npos; }, "training");
  replay.step(1, result.tally);
  return result;
}

Parameters parameters_of(const Trainer& trainer) {
  Parameters parameters;
  for (const std::string& name : trainer.parameter_names()) {
    const auto values = trainer.parameter(name);
    parameters[name] = {values.begin(), values.end()};
  }
  return parameters;
}

Course course_of(const std::vector<float>& before, const std::vector<float>& wanted,
                 const std::vector<float>& got) {
  Course squares;
  for (std::size_t i = 0; i < before.size(); ++i) {
    squares.moved += std::pow(wanted[i] - before[i], 2);
    squares.off += std::pow(got[i] - wanted[i], 2);
  }
  return {std::sqrt(squares.moved), std::sqrt(squares.off)};
}

}  // namespace halftone::tests
