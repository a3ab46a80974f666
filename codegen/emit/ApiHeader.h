// SPDX-License-Identifier: Apache-2.0
// The typed C++ API of one model: a thin header over the runtime's Trainer and Predictor.
#ifndef HALFTONE_EMIT_APIHEADER_H
#define HALFTONE_EMIT_APIHEADER_H

#include <string>

#include "halftone/manifest/manifest.hpp"

namespace halftone::ir {

/// Text of `<model>.hpp`: namespace models::<model> with Options, Trainer and Predictor, which are
/// those of the artifact with that identity (cpu::identityOf) alone.
std::string buildApiHeader(const manifest::Manifest &manifest, const std::string &identity);

} // namespace halftone::ir

#endif
