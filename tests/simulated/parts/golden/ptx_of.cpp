// SPDX-License-Identifier: Apache-2.0
// ptx_of ARCH FILE.cu [OPTION...]: what NVRTC 13 makes of a text for compute_ARCH, on standard
// output. Exit status: 77 where no NVRTC is.
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "nvrtc_library.hpp"

int main(int count, char** arguments) {
  if (count < 3) {
    std::fprintf(stderr, "ptx_of ARCH FILE.cu [OPTION...]\n");
    return 2;
  }
  std::string reason;
  const auto nvrtc = halftone::tests::NvrtcLibrary::open("", reason);
  if (!nvrtc) {
    std::fprintf(stderr, "%s\n", reason.c_str());
    return 77;
  }
  std::ifstream file(arguments[2]);
  std::stringstream text;
  text << file.rdbuf();
  const std::vector<std::string> more(arguments + 3, arguments + count);
  const auto made =
      nvrtc->compile(text.str(), arguments[2],
                     halftone::tests::options_for(std::string("compute_") + arguments[1], more));
  if (!made.accepted) {
    std::fprintf(stderr, "%s\n", made.log.c_str());
    return 1;
  }
  std::fputs(made.ptx.c_str(), stdout);
  return 0;
}
