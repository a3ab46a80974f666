// SPDX-License-Identifier: Apache-2.0
#include "compile_texts.hpp"

#include <cstdio>
#include <exception>
#include <fstream>
#include <stdexcept>
#include <vector>

#include "artifact_file.hpp"
#include "cuda/nvrtc.hpp"
#include "halftone/manifest/texts.hpp"
#include "settings.hpp"
#include "thread_pool.hpp"

namespace halftone::tools {
namespace {

std::vector<std::string> read(const std::string& path) {
  std::vector<std::string> strings;
  manifest::DecodeError error;
  if (!manifest::unpack_texts(read_file(path), strings, error) || strings.size() % 3 != 0) {
    throw std::runtime_error("'" + path + "' holds no jobs; name what halftonec --aot wrote");
  }
  return strings;
}

/// Whole or not at all: what was there before stays where this fails.
void write(const std::string& path, const std::vector<std::byte>& bytes) {
  const std::string beside = path + ".part";
  std::ofstream file(beside, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (file && std::rename(beside.c_str(), path.c_str()) == 0) return;
  std::remove(beside.c_str());
  throw std::runtime_error("cannot write '" + path + "'; name a file that can be written");
}

}  // namespace

void compile_texts(const std::string& jobs, const std::string& images) {
  const std::vector<std::string> strings = read(jobs);
  const Nvrtc& nvrtc = Nvrtc::instance();
  const std::size_t count = strings.size() / 3;
  std::vector<std::string> made(count + 1);
  std::vector<std::exception_ptr> failures(count);
  made[0] = text_of(nvrtc.version());
  ThreadPool pool(threads_setting());
  pool.run_in_turn(static_cast<std::int64_t>(count), [&](std::int64_t job) {
    const auto i = static_cast<std::size_t>(job);
    try {
      made[i + 1] = nvrtc.compile_cubin(strings[3 * i + 2], strings[3 * i + 1], strings[3 * i]);
    } catch (...) {
      failures[i] = std::current_exception();
    }
  });
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
  write(images, manifest::pack_texts(made));
}

}  // namespace halftone::tools
