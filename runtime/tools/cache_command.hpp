// SPDX-License-Identifier: Apache-2.0
// `halftone cache`: looks after the folder of compiled kernels (docs/cache.md).
#pragma once

#include <string>

namespace halftone::tools {

enum class CacheTask { stats, verify, prune, clear };

struct CacheReport {
  std::string text;   ///< for people
  bool sound = true;  ///< verify found nothing damaged
};

/// `folder` may be empty: the one that programs use. Throws, in one sentence, where
/// a named folder does not exist, where it is not safe to use, or where the environment's words are
/// none.
[[nodiscard]] CacheReport look_after_cache(CacheTask task, const std::string& folder);

}  // namespace halftone::tools
