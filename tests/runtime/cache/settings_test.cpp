// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "cache/cache_settings.hpp"
#include "message_of.hpp"

namespace halftone::tests {

TEST_CASE("the folder is the first that the environment names, and never a shared one") {
  struct Case {
    CacheEnvironment environment;
    const char* folder;
  };
  const Case cases[] = {
      {{.cache_dir = "/a", .xdg_cache_home = "/b", .home = "/c"}, "/a"},
      {{.cache_dir = "/a//"}, "/a"},
      {{.cache_dir = "a/b/"}, "a/b"},
      {{.cache_dir = "/"}, "/"},
      {{.xdg_cache_home = "/b", .home = "/c"}, "/b/halftone"},
      {{.xdg_cache_home = "/b/", .home = "/c"}, "/b/halftone"},
      {{.xdg_cache_home = "b", .home = "/c"}, "/c/.cache/halftone"},
      {{.home = "/c"}, "/c/.cache/halftone"},
      {{.home = "c"}, ""},
      {{}, ""},
  };
  for (const Case& each : cases) {
    CAPTURE(each.folder);
    const CacheSettings settings = cache_settings(each.environment);
    CHECK(settings.folder == each.folder);
    CHECK(settings.without_folder.empty() == (*each.folder != '\0'));
  }
  CHECK(cache_settings({}).without_folder ==
        "neither HALFTONE_CACHE_DIR nor XDG_CACHE_HOME nor HOME names a folder; set one of them");
}

TEST_CASE("switch and limit are read, with 1 GiB and rw where nothing is said") {
  CHECK(cache_settings({}).mode == CacheMode::read_write);
  CHECK(cache_settings({.cache = "rw"}).mode == CacheMode::read_write);
  CHECK(cache_settings({.cache = "ro"}).mode == CacheMode::read_only);
  CHECK(cache_settings({.cache = "off"}).mode == CacheMode::off);
  CHECK(cache_settings({.cache = "refresh"}).mode == CacheMode::refresh);
  struct Case {
    const char* text;
    std::uint64_t bytes;
  };
  const Case cases[] = {{"", 1073741824},
                        {"1", 1},
                        {"4096", 4096},
                        {"3KiB", 3072},
                        {"512MiB", 536870912},
                        {"2GiB", 2147483648},
                        {"17179869183GiB", 18446744072635809792u},
                        {"18446744073709551615", 18446744073709551615u}};
  for (const Case& each : cases) {
    CAPTURE(each.text);
    CHECK(cache_settings({.cache_max = each.text}).most_bytes == each.bytes);
  }
}

TEST_CASE("a bad switch or limit is one sentence") {
  for (const char* bad : {"RW", "on", "1", "rw ", "write"}) {
    CAPTURE(bad);
    CHECK(message_of([&] { (void)cache_settings({.cache = bad}); }) ==
          "settings: HALFTONE_CACHE is '" + std::string(bad) +
              "'; give rw, ro, off or refresh, or unset it");
  }
  for (const char* bad : {"0", "0GiB", "-1", "1GB", "1 GiB", "1.5GiB", "GiB", "1gib", "1KiBs",
                          "17179869184GiB", "18446744073709551616", "0x10"}) {
    CAPTURE(bad);
    CHECK(message_of([&] { (void)cache_settings({.cache_max = bad}); }) ==
          "settings: HALFTONE_CACHE_MAX is '" + std::string(bad) +
              "'; give a size above 0 such as 512MiB (KiB, MiB, GiB, or bytes), or unset it");
  }
}

}  // namespace halftone::tests
