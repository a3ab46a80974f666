// SPDX-License-Identifier: Apache-2.0
// plugin_host PLUGIN: what simulated_chips() of that shared object says.
#include <dlfcn.h>

#include <cstdio>

int main(int count, char** arguments) {
  void* const plugin = count == 2 ? dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL) : nullptr;
  void* const function = plugin ? dlsym(plugin, "simulated_chips") : nullptr;
  if (!function) return std::puts("there is no such plugin"), 1;
  std::puts(reinterpret_cast<const char* (*)()>(function)());
}
