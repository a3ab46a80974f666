// SPDX-License-Identifier: Apache-2.0
// The names that a model, its inputs, outputs and symbols cannot have, since the generated header
// makes C++ names of them, and those that no value can have, since halftonec's own buffers have
// them: one list for the dsl and halftonec. Needs no standard library, as
// vocabulary.hpp.
#pragma once

namespace halftone::description {

/// What C++ keeps a name for.
enum class Reserved : unsigned char { nothing, keyword, compiler, macro };

// How each reads after "'NAME' is ", in the order of Reserved.
inline constexpr const char* kReservedWords[] = {
    "free", "a C++ keyword", "reserved for the compiler by C++", "a macro of the standard library"};

// ISO C++20: the keywords and alternative tokens.
// clang-format off
inline constexpr const char* kKeywords[] = {
    "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break",
    "case", "catch", "char", "char16_t", "char32_t", "char8_t", "class", "co_await", "co_return",
    "co_yield", "compl", "concept", "const", "const_cast", "consteval", "constexpr", "constinit",
    "continue", "decltype", "default", "delete", "do", "double", "dynamic_cast", "else", "enum",
    "explicit", "export", "extern", "false", "float", "for", "friend", "goto", "if", "inline",
    "int", "long", "mutable", "namespace", "new", "noexcept", "not", "not_eq", "nullptr",
    "operator", "or", "or_eq", "private", "protected", "public", "register", "reinterpret_cast",
    "requires", "return", "short", "signed", "sizeof", "static", "static_assert", "static_cast",
    "struct", "switch", "template", "this", "thread_local", "throw", "true", "try", "typedef",
    "typeid", "typename", "union", "unsigned", "using", "virtual", "void", "volatile", "wchar_t",
    "while", "xor", "xor_eq"};

// ISO C++20, <cmath> of POSIX, and what compilers predefine outside of strict modes: the macros
// that a tensor might be called like.
inline constexpr const char* kMacros[] = {
    "assert", "errno", "offsetof", "setjmp", "stderr", "stdin", "stdout", "va_arg", "va_copy",
    "va_end", "va_start", "linux", "unix", "ATOMIC_FLAG_INIT", "ATOMIC_VAR_INIT", "BUFSIZ",
    "CHAR_BIT", "CHAR_MAX", "CHAR_MIN", "CLOCKS_PER_SEC", "DBL_DECIMAL_DIG", "DBL_DIG",
    "DBL_EPSILON", "DBL_HAS_SUBNORM", "DBL_MANT_DIG", "DBL_MAX", "DBL_MAX_10_EXP", "DBL_MAX_EXP",
    "DBL_MIN", "DBL_MIN_10_EXP", "DBL_MIN_EXP", "DBL_TRUE_MIN", "DECIMAL_DIG", "EACCES", "EAGAIN",
    "EBADF", "EBUSY", "ECHILD", "EDEADLK", "EDOM", "EEXIST", "EFAULT", "EFBIG", "EINTR", "EINVAL",
    "EIO", "EISDIR", "EMFILE", "EMLINK", "ENFILE", "ENODEV", "ENOENT", "ENOEXEC", "ENOMEM",
    "ENOSPC", "ENOSYS", "ENOTDIR", "ENOTTY", "ENXIO", "EOF", "EPERM", "EPIPE", "ERANGE", "EROFS",
    "ESPIPE", "ESRCH", "ETIME", "EXDEV", "EXIT_FAILURE", "EXIT_SUCCESS", "FE_ALL_EXCEPT",
    "FE_DFL_ENV", "FE_DIVBYZERO", "FE_DOWNWARD", "FE_INEXACT", "FE_INVALID", "FE_OVERFLOW",
    "FE_TONEAREST", "FE_TOWARDZERO", "FE_UNDERFLOW", "FE_UPWARD", "FILENAME_MAX",
    "FLT_DECIMAL_DIG", "FLT_DIG", "FLT_EPSILON", "FLT_EVAL_METHOD", "FLT_HAS_SUBNORM",
    "FLT_MANT_DIG", "FLT_MAX", "FLT_MAX_10_EXP", "FLT_MAX_EXP", "FLT_MIN", "FLT_MIN_10_EXP",
    "FLT_MIN_EXP", "FLT_RADIX", "FLT_ROUNDS", "FLT_TRUE_MIN", "FOPEN_MAX", "FP_ILOGB0",
    "FP_ILOGBNAN", "FP_INFINITE", "FP_NAN", "FP_NORMAL", "FP_SUBNORMAL", "FP_ZERO", "HUGE_VAL",
    "HUGE_VALF", "HUGE_VALL", "I", "INFINITY", "INT16_MAX", "INT16_MIN", "INT32_MAX", "INT32_MIN",
    "INT64_MAX", "INT64_MIN", "INT8_MAX", "INT8_MIN", "INTMAX_MAX", "INTMAX_MIN", "INTPTR_MAX",
    "INTPTR_MIN", "INT_MAX", "INT_MIN", "LC_ALL", "LC_COLLATE", "LC_CTYPE", "LC_MONETARY",
    "LC_NUMERIC", "LC_TIME", "LDBL_DECIMAL_DIG", "LDBL_DIG", "LDBL_EPSILON", "LDBL_HAS_SUBNORM",
    "LDBL_MANT_DIG", "LDBL_MAX", "LDBL_MAX_10_EXP", "LDBL_MAX_EXP", "LDBL_MIN", "LDBL_MIN_10_EXP",
    "LDBL_MIN_EXP", "LDBL_TRUE_MIN", "LLONG_MAX", "LLONG_MIN", "LONG_MAX", "LONG_MIN", "L_tmpnam",
    "MATH_ERREXCEPT", "MATH_ERRNO", "MB_CUR_MAX", "MB_LEN_MAX", "M_1_PI", "M_2_PI", "M_2_SQRTPI",
    "M_E", "M_LN10", "M_LN2", "M_LOG10E", "M_LOG2E", "M_PI", "M_PI_2", "M_PI_4", "M_SQRT1_2",
    "M_SQRT2", "NAN", "NULL", "PTRDIFF_MAX", "PTRDIFF_MIN", "RAND_MAX", "SCHAR_MAX", "SCHAR_MIN",
    "SEEK_CUR", "SEEK_END", "SEEK_SET", "SHRT_MAX", "SHRT_MIN", "SIGABRT", "SIGFPE", "SIGILL",
    "SIGINT", "SIGSEGV", "SIGTERM", "SIG_ATOMIC_MAX", "SIG_ATOMIC_MIN", "SIG_DFL", "SIG_ERR",
    "SIG_IGN", "SIZE_MAX", "TIME_UTC", "TMP_MAX", "UCHAR_MAX", "UINT16_MAX", "UINT32_MAX",
    "UINT64_MAX", "UINT8_MAX", "UINTMAX_MAX", "UINTPTR_MAX", "UINT_MAX", "ULLONG_MAX", "ULONG_MAX",
    "USHRT_MAX", "WCHAR_MAX", "WCHAR_MIN", "WEOF", "WINT_MAX", "WINT_MIN"};
// clang-format on

// Namespaces that the generated header names inside of the model's own, which would hide them.
inline constexpr const char* kNamespaces[] = {"std", "halftone", "models"};

// Buffers that the passes make beside those of inputs, states and losses, and what stands before
// the first dot of others. (An output's and its gradient's hold a '=', which no node's name does:
// D2.)
inline constexpr const char* kBuffers[] = {"accumulated", "finite",        "first_micro_batch",
                                           "gradients",   "grad_norm",     "learning_rate",
                                           "loss_scale",  "micro_batches", "momentum",
                                           "parameters",  "weight_decay"};
inline constexpr const char* kBufferFamilies[] = {
    "adafactor", "adagrad",    "adam",          "adamw",    "averaged",
    "custom",    "lamb",       "learning_rate", "lion",     "loss_scale",
    "nadam",     "parameters", "rmsprop",       "schedule", "sgd"};

namespace names {
/// The character that a C++ name has for one of a model's names: '_' for '/', '-' and '.'.
constexpr char character_in_code(char c) {
  const bool kept = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  return kept ? c : '_';
}

constexpr bool is_called(const char* name, const char* word) {
  while (*name != 0 && character_in_code(*name) == *word) {
    ++name;
    ++word;
  }
  return *name == *word;
}

/// Whether two names become one C++ name.
constexpr bool are_alike(const char* left, const char* right) {
  while (*left != 0 && *right != 0 && character_in_code(*left) == character_in_code(*right)) {
    ++left;
    ++right;
  }
  return *left == *right;
}

template <int N>
constexpr bool has(const char* const (&list)[N], const char* name) {
  const char first = *name == 0 ? 0 : character_in_code(*name);
  for (const char* word : list)
    if (*word == first && is_called(name, word)) return true;
  return false;
}

/// Likewise, to the character.
template <int N>
constexpr bool has_exactly(const char* const (&list)[N], const char* name) {
  for (const char* word : list) {
    int at = 0;
    while (name[at] != 0 && name[at] == word[at]) ++at;
    if (name[at] == word[at]) return true;
  }
  return false;
}

/// With which two letters buffers and their families begin. Most names are told apart by them, in
/// one of the steps that a compiler counts.
struct Letters {
  unsigned seconds[128] = {};  ///< by the first letter, a bit each
  static constexpr unsigned bit(char second) { return 1u << (static_cast<unsigned>(second) & 31u); }
  constexpr Letters() {
    for (const char* word : kBuffers) seconds[static_cast<int>(word[0])] |= bit(word[1]);
    for (const char* word : kBufferFamilies) seconds[static_cast<int>(word[0])] |= bit(word[1]);
  }
};
inline constexpr Letters kLetters;
}  // namespace names

/// Whether is_buffer and is_buffer_family are worth asking.
constexpr bool begins_as_buffer(const char* name) {
  return static_cast<unsigned char>(name[0]) < 128 && name[0] != 0 &&
         (names::kLetters.seconds[static_cast<int>(name[0])] >>
              (static_cast<unsigned>(name[1]) & 31u) &
          1u) != 0;
}

/// What C++ keeps `name` for, once it is written as a C++ name.
constexpr Reserved reserved_as(const char* name) {
  using names::character_in_code;
  if (names::has(kKeywords, name)) return Reserved::keyword;
  for (const char* at = name; *at != 0; ++at) {
    if (character_in_code(*at) != '_' || at[1] == 0) continue;
    const char next = character_in_code(at[1]);
    if (next == '_' || (at == name && next >= 'A' && next <= 'Z')) return Reserved::compiler;
  }
  return names::has(kMacros, name) ? Reserved::macro : Reserved::nothing;
}

/// Whether a buffer of halftonec's own has the name.
constexpr bool is_buffer(const char* name) { return names::has_exactly(kBuffers, name); }

/// Whether such buffers have names that begin with it and a dot.
constexpr bool is_buffer_family(const char* name) {
  return names::has_exactly(kBufferFamilies, name);
}

/// Whether a model of this name would hide a namespace that its generated header needs.
constexpr bool hides_namespace(const char* name) { return names::has(kNamespaces, name); }

}  // namespace halftone::description
