// SPDX-License-Identifier: Apache-2.0
#include "trial.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <optional>
#include <stdexcept>
#include <utility>

#include "compiled_model.hpp"
#include "halftone/description/validate.hpp"

namespace halftone::tests {

namespace {

constexpr const char* kWords[] = {"agrees", "invalid", "refused",  "differs",
                                  "fails",  "dies",    "times out"};
// Lines of a process: what begins, and its verdict as kind and sentence. Others are what libraries
// print, such as an assertion that failed.
constexpr char kBegins = '\1', kEnds = '\2';

void write_all(int file, const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t written = ::write(file, text.data() + at, text.size() - at);
    if (written < 0) return;
    at += static_cast<std::size_t>(written);
  }
}

[[noreturn]] void run_in_child(const Trials::Trial& trial, int pipe) {
  ::dup2(pipe, STDERR_FILENO);
  ::dup2(pipe, STDOUT_FILENO);
  // Of the processor's time, and where nothing moves on, on a busy machine ten times as long.
  const auto limit = static_cast<rlim_t>(Trials::kLimit.count());
  const rlimit seconds{limit, limit + 1};
  ::setrlimit(RLIMIT_CPU, &seconds);
  ::alarm(static_cast<unsigned>(10 * limit));
  const Verdict verdict = try_model(trial.model, trial.run, [&](const std::string& what) {
    write_all(pipe, "\n" + std::string(1, kBegins) + what + "\n");
  });
  std::string sentence = verdict.sentence;
  for (char& c : sentence) c = c == '\n' ? ' ' : c;
  write_all(pipe, "\n" + std::string(1, kEnds) +
                      static_cast<char>('0' + static_cast<int>(verdict.kind)) + sentence + "\n");
  ::_exit(0);
}

/// From what the process said and how it ended.
Verdict read_verdict(const std::string& said, int status) {
  Verdict verdict;
  verdict.kind = Verdict::Kind::dies;
  std::string noise;
  bool ended = false;
  for (std::size_t at = 0; at < said.size();) {
    const std::size_t end = std::min(said.find('\n', at), said.size());
    const std::string line = said.substr(at, end - at);
    at = end + 1;
    if (!line.empty() && line[0] == kBegins) {
      verdict.during = line.substr(1);
    } else if (line.size() > 1 && line[0] == kEnds) {
      ended = true;
      verdict.kind = static_cast<Verdict::Kind>(line[1] - '0');
      verdict.sentence = line.substr(2);
    } else if (noise.empty()) {
      noise = line;
    }
  }
  if (ended) return verdict;
  if (WIFSIGNALED(status)) {
    const bool is_late = WTERMSIG(status) == SIGALRM || WTERMSIG(status) == SIGXCPU;
    if (is_late) verdict.kind = Verdict::Kind::times_out;
    verdict.sentence = std::string("by ") + ::strsignal(WTERMSIG(status)) + "; " + noise;
  } else {
    verdict.sentence = "with status " + std::to_string(WEXITSTATUS(status)) + "; " + noise;
  }
  return verdict;
}

}  // namespace

std::string Verdict::summary() const {
  std::string result = kWords[static_cast<int>(kind)];
  if (kind == Kind::agrees) return result;
  if (kind == Kind::dies || kind == Kind::times_out) result += " during " + during;
  result += ": ";
  for (std::size_t i = 0; i < sentence.size(); ++i) {
    const char c = sentence[i];
    if (kind == Kind::differs && c == '\'') break;  // what differs, not by how much
    const std::size_t end = c == '\'' ? sentence.find('\'', i + 1) : std::string::npos;
    if (end != std::string::npos) {
      result += "'...'";
      i = end;
    } else if (std::isdigit(static_cast<unsigned char>(c))) {
      if (result.back() != '#') result += '#';
    } else {
      result += c;
    }
  }
  return result;
}

/// The model with the smallest memory budget that can be met, where what codegen says of it is that
/// its own cannot (P67).
static std::optional<description::Description> within_budget(const description::Description& model,
                                                             const std::string& sentence) {
  static constexpr char kBefore[] = "write a share of ";
  const std::size_t at = sentence.find(kBefore);
  if (at == sentence.npos) return std::nullopt;
  const double least = std::strtod(sentence.c_str() + at + std::strlen(kBefore), nullptr);
  description::Description within = model;
  bool has_changed = false;
  for (description::Rule& rule : within.rules) {
    if (!rule.memory_budget || rule.memory_budget->share >= least) continue;
    rule.memory_budget->share = least;
    has_changed = true;
  }
  return has_changed ? std::optional(std::move(within)) : std::nullopt;
}

Verdict try_model(const description::Description& model, const Run& run,
                  const std::function<void(const std::string&)>& at) {
  using Kind = Verdict::Kind;
  try {
    if (auto violation = description::validate(model))
      return {Kind::invalid, "", violation->message, 0};
    at("compilation");
    const CompiledModel compiled(model, run.variant, {}, run.optimize);
    const auto found = first_disagreement(model, compiled.image(), run, at);
    if (found) return {Kind::differs, "", *found, 0};
    return {};
  } catch (const Refused& refused) {
    if (const auto within = within_budget(model, refused.sentence)) {
      return try_model(*within, run, at);
    }
    return {Kind::refused, "", refused.sentence, 0};
  } catch (const std::exception& error) {
    return {Kind::fails, "", error.what(), 0};
  }
}

void Trials::start(Trial trial) {
  int ends[2];
  if (::pipe(ends) != 0) throw std::runtime_error("no pipe can be made");
  std::fflush(stdout);
  const pid_t process = ::fork();
  if (process < 0) throw std::runtime_error("no process can be started");
  if (process == 0) run_in_child(trial, ends[1]);
  ::close(ends[1]);
  running_.push_back({std::move(trial), process, ends[0], "", std::chrono::steady_clock::now()});
}

std::pair<Trials::Trial, Verdict> Trials::finish() {
  for (;;) {
    std::vector<pollfd> files;
    for (const Running& one : running_) files.push_back({one.pipe, POLLIN, 0});
    ::poll(files.data(), files.size(), -1);
    for (std::size_t i = 0; i < files.size(); ++i) {
      if (files[i].revents == 0) continue;
      char buffer[4096];
      const ssize_t count = ::read(files[i].fd, buffer, sizeof buffer);
      if (count > 0) {
        running_[i].said.append(buffer, static_cast<std::size_t>(count));
        continue;
      }
      Running ended = std::move(running_[i]);
      running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
      ::close(ended.pipe);
      int status = 0;
      ::waitpid(ended.process, &status, 0);
      Verdict verdict = read_verdict(ended.said, status);
      const auto taken = std::chrono::steady_clock::now() - ended.begun;
      verdict.seconds = std::chrono::duration<double>(taken).count();
      return {std::move(ended.trial), std::move(verdict)};
    }
  }
}

Verdict try_alone(const description::Description& model, const Run& run) {
  Trials trials(1);
  trials.start({0, model, run});
  return trials.finish().second;
}

}  // namespace halftone::tests
