// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "../files/replace_file.hpp"
#include "../settings.hpp"
#include "../text.hpp"
#include "halftone/error.hpp"

namespace halftone {
namespace {

[[noreturn]] void fail(const std::string& program, const std::string& cause, const char* hint) {
  throw Error({.operation = "bisect",
               .object = "the program " + shown(program),
               .cause = cause,
               .hint = hint});
}

class Redirections {
 public:
  explicit Redirections(const char* log) {
    posix_spawn_file_actions_init(&actions_);
    constexpr int kFlags = O_WRONLY | O_CREAT | O_TRUNC;
    posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, log, kFlags, 0644);
    posix_spawn_file_actions_adddup2(&actions_, STDOUT_FILENO, STDERR_FILENO);
  }
  Redirections(const Redirections&) = delete;
  Redirections& operator=(const Redirections&) = delete;
  ~Redirections() { posix_spawn_file_actions_destroy(&actions_); }

  [[nodiscard]] const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return -1;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

ProgramEnd run_program(const std::vector<std::string>& words, const std::filesystem::path& log,
                       const char* hint) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const Redirections redirections(log.c_str());
  pid_t child = 0;
  const int error = posix_spawnp(&child, arguments[0], redirections.get(), nullptr,
                                 arguments.data(), environment_of_programs());
  if (error != 0)
    fail(words.front(), "cannot be started: " + std::generic_category().message(error), hint);
  ProgramEnd end;
  end.status = wait_for(child);
  const std::vector<std::byte> bytes = read_file(system_file_calls(), "bisect", log);
  end.said.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  while (end.said.ends_with('\n')) end.said.pop_back();
  std::error_code ignored;
  std::filesystem::remove(log, ignored);
  return end;
}

}  // namespace halftone
