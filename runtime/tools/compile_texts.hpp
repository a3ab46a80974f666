// SPDX-License-Identifier: Apache-2.0
// `halftone compile-texts`: NVRTC for halftonec --aot, which has neither CUDA nor the runtime.
#pragma once

#include <string>

namespace halftone::tools {

/// Reads jobs, as pack_texts wrote them: of each the architecture, the kernel's name and the text.
/// Writes in the same form NVRTC's version and the image of each. Throws Error or
/// std::runtime_error.
void compile_texts(const std::string& jobs, const std::string& images);

}  // namespace halftone::tools
