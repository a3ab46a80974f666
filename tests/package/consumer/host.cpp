// SPDX-License-Identifier: Apache-2.0
// host EXTENSION: opens the shared library and trains with it; exit status 0 when it learned.
#include <dlfcn.h>

#include <cstdio>

int main(int, char** arguments) {
  void* extension = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
  if (!extension) return std::puts(dlerror()), 1;
  const auto train = reinterpret_cast<float (*)()>(dlsym(extension, "train_line"));
  const float ratio = train();
  std::printf("extension: error times %g\n", ratio);
  return ratio < 0.01f ? 0 : 1;
}
