// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <string>

namespace halftone::tests {

/// Sets an environment variable while it lives.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* former = std::getenv(name)) former_ = former;
    setenv(name, value.c_str(), 1);
  }
  ~Variable() { former_.empty() ? unsetenv(name_) : setenv(name_, former_.c_str(), 1); }

 private:
  const char* name_;
  std::string former_;
};

}  // namespace halftone::tests
