// SPDX-License-Identifier: Apache-2.0
// An NVRTC whose images are what it was asked for. A text "wrong" is refused, "without builtins" is
// said to lack what NVRTC itself needs; "slow" takes until it
// is stopped, and writes a byte to the file that STUB_SLOW numbers when it begins. Each text that
// is compiled is a byte in the file that STUB_COMPILED names; it knows no chip where STUB_NO_CHIPS
// is set.
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#ifndef STUB_MAJOR
#define STUB_MAJOR 13
#define STUB_MINOR 0
#endif

namespace {

struct Program {
  std::string text, made;
  int (*callback)(void*, void*) = nullptr;
  void* payload = nullptr;
};

Program* program_of(void* handle) { return static_cast<Program*>(handle); }

constexpr char kLog[] = "line 1: wrong";

}  // namespace

extern "C" {

int nvrtcVersion(int* major, int* minor) { return *major = STUB_MAJOR, *minor = STUB_MINOR, 0; }
int nvrtcGetNumSupportedArchs(int* count) {
  return *count = std::getenv("STUB_NO_CHIPS") ? 0 : 2, 0;
}
int nvrtcGetSupportedArchs(int* numbers) { return numbers[0] = 75, numbers[1] = 90, 0; }
int nvrtcCreateProgram(void** program, const char* text, const char*, int, const char* const*,
                       const char* const*) {
  *program = new Program{text, "", nullptr, nullptr};
  return 0;
}
int nvrtcDestroyProgram(void** program) {
  delete program_of(*program);
  return 0;
}
int nvrtcCompileProgram(void* handle, int count, const char* const* options) {
  Program* program = program_of(handle);
  if (const char* file = std::getenv("STUB_COMPILED")) std::ofstream(file, std::ios::app) << "c";
  if (program->text == "wrong") return 6;
  if (program->text == "without builtins") return 7;
  if (program->text == "slow") {
    const char* file = std::getenv("STUB_SLOW");
    if (file && write(std::atoi(file), "s", 1) != 1) return 6;
    while (program->callback && program->callback(program->payload, nullptr) == 0) {
    }
    return program->callback ? 16 : 0;
  }
  for (int i = 0; i < count; ++i) program->made += std::string(i ? " " : "") + options[i];
  return 0;
}
int nvrtcGetProgramLogSize(void*, unsigned long* size) { return *size = sizeof kLog, 0; }
int nvrtcGetProgramLog(void*, char* log) { return std::memcpy(log, kLog, sizeof kLog), 0; }
int nvrtcGetPTXSize(void* handle, unsigned long* size) {
  return *size = program_of(handle)->made.size() + 4, 0;
}
int nvrtcGetPTX(void* handle, char* ptx) {
  return std::memcpy(ptx, ("ptx " + program_of(handle)->made).data(),
                     program_of(handle)->made.size() + 4),
         0;
}
#ifndef STUB_WITHOUT_CUBINS
int nvrtcGetCUBINSize(void* handle, unsigned long* size) {
  return *size = program_of(handle)->made.size(), 0;
}
int nvrtcGetCUBIN(void* handle, char* cubin) {
  return std::memcpy(cubin, program_of(handle)->made.data(), program_of(handle)->made.size()), 0;
}
#endif
const char* nvrtcGetErrorString(int) { return "NVRTC_ERROR_SOMETHING"; }
#if STUB_MAJOR >= 13
int nvrtcSetFlowCallback(void* handle, int (*callback)(void*, void*), void* payload) {
  program_of(handle)->callback = callback;
  program_of(handle)->payload = payload;
  return 0;
}
#endif

}  // extern "C"
