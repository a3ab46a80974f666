// SPDX-License-Identifier: Apache-2.0
// A Description compiled by halftonec's own library and loaded into this process.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "halftone/description/description.hpp"
#include "halftone/manifest/manifest.hpp"

namespace halftone::tests {

/// Code for this machine's CPU, as halftonec makes it.
class CompiledModel {
 public:
  /// For the CPU and `chips`; in half the time, but slower, where it is not to `optimize`. Throws
  /// Refused with what codegen says of a model that it does not compile.
  CompiledModel(const description::Description& model, const std::string& variant,
                const std::vector<std::string>& chips = {}, bool optimize = true);
  ~CompiledModel();

  [[nodiscard]] const manifest::ArtifactImage& image() const { return *image_; }

 private:
  struct Loaded;
  std::unique_ptr<Loaded> loaded_;
  const manifest::ArtifactImage* image_ = nullptr;
};

struct Refused {
  std::string sentence;
};

}  // namespace halftone::tests
