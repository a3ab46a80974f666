// SPDX-License-Identifier: Apache-2.0
// Writes the library's path into the file that STUB_LOG names, when it is opened.
#include <dlfcn.h>

#include <cstdlib>
#include <fstream>

namespace {

__attribute__((constructor)) void opened() {
  Dl_info info{};
  const char* log = std::getenv("STUB_LOG");
  if (log && dladdr(reinterpret_cast<const void*>(&opened), &info) != 0) {
    std::ofstream(log, std::ios::app) << info.dli_fname << "\n";
  }
}

}  // namespace
