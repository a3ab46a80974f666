// SPDX-License-Identifier: Apache-2.0
// What people see: on a terminal, which a pseudo-terminal plays, and elsewhere.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "halftone/run_sinks.hpp"
#include "halftone/stages.hpp"
#include "halftone/value_statistics.hpp"
#include "made_up_run.hpp"
#include "message_of.hpp"

using halftone::LogChoice, halftone::progress, halftone::RunSink;

namespace {

constexpr std::chrono::milliseconds kAlways{0};
constexpr std::chrono::hours kNever{1};

/// A terminal of so many columns, and what was written to it.
class Terminal {
 public:
  explicit Terminal(unsigned short columns) {
    inside_ = posix_openpt(O_RDWR | O_NOCTTY);
    REQUIRE(inside_ != -1);
    REQUIRE(grantpt(inside_) == 0);
    REQUIRE(unlockpt(inside_) == 0);
    stream_ = std::fopen(ptsname(inside_), "w");
    REQUIRE(stream_ != nullptr);
    termios raw{};
    tcgetattr(fileno(stream_), &raw);
    cfmakeraw(&raw);
    tcsetattr(fileno(stream_), TCSANOW, &raw);
    const winsize size{24, columns, 0, 0};
    ioctl(inside_, TIOCSWINSZ, &size);
  }
  ~Terminal() {
    std::fclose(stream_);
    close(inside_);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  [[nodiscard]] std::FILE* stream() const { return stream_; }
  /// What comes until nothing came for a while.
  [[nodiscard]] std::string text() const {
    std::string text;
    for (pollfd waiting{inside_, POLLIN, 0}; poll(&waiting, 1, text.empty() ? 5000 : 200) > 0;) {
      char bytes[4096];
      const ssize_t count = read(inside_, bytes, sizeof bytes);
      if (count <= 0) break;
      text.append(bytes, static_cast<std::size_t>(count));
    }
    return text;
  }

 private:
  int inside_ = -1;
  std::FILE* stream_ = nullptr;
};

/// A file, and what was written to it.
class PlainFile {
 public:
  PlainFile() : stream_(std::tmpfile()) { REQUIRE(stream_ != nullptr); }
  ~PlainFile() { std::fclose(stream_); }
  PlainFile(const PlainFile&) = delete;
  PlainFile& operator=(const PlainFile&) = delete;

  [[nodiscard]] std::FILE* stream() const { return stream_; }
  [[nodiscard]] std::string text() const {
    std::rewind(stream_);
    char bytes[4096];
    return {bytes, std::fread(bytes, 1, sizeof bytes, stream_)};
  }

 private:
  std::FILE* stream_;
};

/// Entries of steps 10 and 20 of 100, a second each ten, and the end.
void run(RunSink& sink) {
  sink.begin(made_up::facts());
  for (const std::int64_t step : {10, 20}) {
    halftone::LogEntry entry = made_up::entry(step, 0.03125f, step / 10 - 1);
    entry.seconds = static_cast<double>(step) / 10;
    sink.write(entry);
  }
  sink.end();
}

constexpr const char* kFirst =
    "first  step 10 of 100  10 %  error 0.0312  scale 65536  10.0 steps/s  3.20k rows/s  9 s left";
constexpr const char* kSecond =
    "first  step 20 of 100  20 %  error 0.0312  scale 65536  skipped 1  10.0 steps/s  3.20k rows/s"
    "  8 s left";

/// HALFTONE_LOG while this lives.
struct Variable {
  explicit Variable(const char* value) { setenv("HALFTONE_LOG", value, 1); }
  ~Variable() { unsetenv("HALFTONE_LOG"); }
};

}  // namespace

TEST_CASE("on a terminal one line is drawn again") {
  const Terminal terminal(200);
  run(*progress(terminal.stream(), {.steps = 100, .redraw_every = kAlways}));
  CHECK(terminal.text() == "\r" + std::string(kFirst) + "\033[K\r" + kSecond + "\033[K\n");
}

TEST_CASE("a terminal is drawn on no more often than asked for, and at the end") {
  const Terminal terminal(200);
  const auto sink = progress(terminal.stream(), {.steps = 100, .redraw_every = kNever});
  run(*sink);
  CHECK(terminal.text() == "\r" + std::string(kFirst) + "\033[K\r" + kSecond + "\033[K\n");
  const Terminal other(200);
  const auto seldom = progress(other.stream(), {.steps = 100, .redraw_every = kNever});
  seldom->begin(made_up::facts());
  for (int step = 1; step < 5; ++step) seldom->write(made_up::entry(step, 1.0f));
  CHECK(other.text().find("step 2") == std::string::npos);
}

TEST_CASE("a line is cut where it would wrap") {
  const Terminal terminal(20);
  run(*progress(terminal.stream(), {.steps = 100, .redraw_every = kAlways}));
  CHECK(terminal.text() == "\rfirst  step 10 of 1\033[K\rfirst  step 20 of 1\033[K\n");
}

TEST_CASE("elsewhere lines are plain") {
  const PlainFile file;
  run(*progress(file.stream(), {.steps = 100, .line_every = kAlways}));
  CHECK(file.text() == std::string(kFirst) + "\n" + kSecond + "\n");
}

TEST_CASE("where the number of steps is not known nothing is said of what is left") {
  const PlainFile file;
  run(*progress(file.stream(), {.line_every = kAlways}));
  CHECK(file.text().starts_with(
      "first  step 10  error 0.0312  scale 65536  10.0 steps/s  3.20k rows/s\n"));
}

TEST_CASE("a run that resumed has a rate of its own") {
  const PlainFile file;
  const auto sink = progress(file.stream(), {.steps = 200, .line_every = kAlways});
  halftone::RunFacts facts = made_up::facts();
  facts.first_step = 100;
  facts.first_skipped_steps = 3;
  sink->begin(facts);
  halftone::LogEntry entry = made_up::entry(150, 1.0f, 3);
  entry.seconds = 5;
  sink->write(entry);
  CHECK(file.text() ==
        "first  step 150 of 200  75 %  error 1  scale 65536  10.0 steps/s  3.20k rows/s  "
        "5 s left\n");
}

TEST_CASE("times that are left are told in two units") {
  struct Case {
    double seconds_so_far;
    const char* left;
  };
  for (const Case& c : {Case{0.5, "1 s left"},
                        {59, "59 s left"},
                        {61.5, "1 min 02 s left"},
                        {3599, "59 min 59 s left"},
                        {12000, "3 h 20 min left"}}) {
    const PlainFile file;
    const auto sink = progress(file.stream(), {.steps = 20, .line_every = kAlways});
    sink->begin(made_up::facts());
    halftone::LogEntry entry = made_up::entry(10, 1.0f);
    entry.seconds = c.seconds_so_far;  // for half of the steps
    sink->write(entry);
    CAPTURE(c.left);
    CHECK(file.text().ends_with(std::string("  ") + c.left + "\n"));
  }
}

TEST_CASE("lines of steps have every entry") {
  const PlainFile file;
  run(*halftone::step_lines(file.stream()));
  CHECK(file.text() ==
        "first  model made_up  cpu: a \"made-up\" <processor> & 2 threads\n"
        "step 10  error 0.0312  norm 0.5  scale 65536  rate 0.001  10 ms/step  3.20k rows/s\n"
        "step 20  error 0.0312  norm 0.5  scale 65536  rate 0.001  skipped 1  10 ms/step  "
        "3.20k rows/s\n");
}

namespace {

constexpr const char* kSwitch =
    "step 20  stage f16 -> bf16: 12 of 100 steps were skipped, more than 10 %\n";
halftone::StageSwitch taken() {
  return {.step = 20,
          .from = "f16",
          .to = "bf16",
          .why = "12 of 100 steps were skipped, more than 10 %"};
}

}  // namespace

TEST_CASE("a stage that is entered is a line of its own, on a terminal, too") {
  const Terminal terminal(200);
  const auto drawn = progress(terminal.stream(), {.steps = 100, .redraw_every = kAlways});
  drawn->begin(made_up::facts());
  drawn->switched(taken());
  CHECK(terminal.text() == "\r\033[Kfirst  " + std::string(kSwitch));
  const PlainFile file;
  halftone::step_lines(file.stream())->switched(taken());
  CHECK(file.text() == kSwitch);
}

TEST_CASE("lines of steps tell the worst roundings of a sample") {
  halftone::ValueStatistics value{.layer = "fc", .role = "gradient", .elements = 8};
  value.format = "f16";
  value.zeros = 2;
  value.flushed = 1;
  halftone::ValueSample sample{.step = 20, .values = {value, value}};
  sample.values[1].layer = "head";
  sample.values[1].error = 0.03125;
  const PlainFile file;
  halftone::step_lines(file.stream())->values(sample);
  CHECK(file.text() ==
        "step 20  2 roundings  became 0 14.3 % (gradient of fc in f16)  error 0.0312 (gradient of "
        "head in f16)\n");
}

TEST_CASE("HALFTONE_LOG names what is printed") {
  struct Case {
    const char* value;
    LogChoice otherwise;
    const char* begins;  ///< null: nothing is printed
  };
  for (const Case& c : {Case{"", LogChoice::off, nullptr},
                        {"", LogChoice::steps, "first  model"},
                        {"off", LogChoice::steps, nullptr},
                        {"progress", LogChoice::off, "first  step 10"},
                        {"steps", LogChoice::off, "first  model"}}) {
    CAPTURE(c.value);
    const Variable variable(c.value);
    const PlainFile file;
    const auto sink = halftone::sink_of_environment(file.stream(), c.otherwise);
    CHECK((sink == nullptr) == (c.begins == nullptr));
    if (!sink) continue;
    run(*sink);
    CHECK(file.text().starts_with(c.begins));
  }
  const Variable variable("loud");
  CHECK(message_of([] { (void)halftone::sink_of_environment(stderr); }) ==
        "settings: HALFTONE_LOG is 'loud'; give 'off', 'progress' or 'steps', or unset it");
}
