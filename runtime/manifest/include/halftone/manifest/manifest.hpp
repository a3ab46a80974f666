// SPDX-License-Identifier: Apache-2.0
// The manifest: everything the runtime knows about a model, and all that codegen and runtime share.
// Codegen fills these structs and encodes them into the artifact; the runtime decodes, verifies and
// executes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace halftone::manifest {

/// Raised with every change of the structs below or of the calling convention of kernels.
inline constexpr std::uint32_t kVersion = 1;

enum class Format : std::uint8_t { f32, tf32, f16, bf16, i32 };

[[nodiscard]] std::int64_t bytes_of(Format format);

/// A fixed extent, or coefficient * the bound value of `symbol`.
struct Dimension {
  std::int64_t extent = 1;   ///< the size, or the coefficient in front of the symbol
  std::int32_t symbol = -1;  ///< index into Manifest::symbols, or -1

  bool operator==(const Dimension&) const = default;
};

/// Who owns a buffer's contents.
enum class Role : std::uint8_t {
  input,            // copied in by every step
  parameters,       // the flat buffer of all parameters, master format
  gradients,        // the flat buffer of all gradients
  optimizer_state,  // persists, changed by the update alone
  state,            // the user's state: persists, assigned by the forward pass
  activation,       // lives inside one step
  output,           // readable after the forward pass
  output_gradient,  // d objective / d output: written by loss_backward or by the user
  loss,             // one scalar, readable after the forward pass
  hyperparameter,   // scalars that the host sets: learning_rate
  statistic,        // scalars that the host reads: grad_norm, finite (1 or 0)
};

struct Buffer {
  std::string name;
  Role role = Role::activation;
  Format format = Format::f32;
  std::vector<Dimension> shape;  ///< row-major; empty is a scalar
  std::int32_t slot = 0;         ///< index into Program::slots
  double initial =
      0.0;  ///< first value of every element of optimizer_state, state and hyperparameter

  bool operator==(const Buffer&) const = default;
};

/// A place in the arena. Its size is that of its largest tenant, rounded up to kSlotAlignment;
/// slots lie one after another.
struct Slot {
  std::vector<std::int32_t> tenants;  ///< buffers whose lifetimes do not overlap

  bool operator==(const Slot&) const = default;
};

inline constexpr std::int64_t kSlotAlignment = 64;

struct Initializer {
  enum class Kind : std::uint8_t { constant, uniform, normal };
  Kind kind = Kind::constant;
  double first = 0.0,
         second =
             0.0;  ///< constant: value; uniform: lower, upper; normal: mean, standard deviation

  bool operator==(const Initializer&) const = default;
};

/// A named part of the flat parameter buffer. Parameters have the same layout in the gradient and
/// state buffers.
struct Parameter {
  std::string name;
  std::vector<std::int64_t> shape;
  std::int64_t offset = 0;  ///< first element in the flat buffer, a multiple of 32
  bool trained = true;      ///< false: frozen, lies behind all trained ones and has no gradient
  Initializer initializer;

  bool operator==(const Parameter&) const = default;
};

/// How many independent tasks a kernel has: the product of ceil(dimension / tile).
struct TaskAxis {
  std::vector<Dimension> extent;  ///< a product
  std::int64_t tile = 1;

  bool operator==(const TaskAxis&) const = default;
};

struct Argument {
  std::int32_t buffer = 0;  ///< index into Program::buffers
  std::int64_t offset = 0;  ///< in elements

  bool operator==(const Argument&) const = default;
};

/// CPU entries have the C signature
///   void entry(void* const* arguments, const std::int64_t* symbols, std::int64_t first_task,
///   std::int64_t last_task);
/// arguments[i] points at the i-th argument's first element, symbols[i] is the bound value of
/// Manifest::symbols[i]. Tasks [first_task, last_task) are run; tasks are independent of each
/// other. A kernel with a finish has a second entry of the same signature, called once with tasks
/// [0, 1) after all tasks are done.
struct Kernel {
  std::string name;      ///< unique in the artifact, and the CUDA entry's name
  std::string skeleton;  ///< contraction, row, column, flat, pointwise
  std::string fused;     ///< the layers and operations inside, for people
  std::vector<TaskAxis> tasks;
  std::int32_t cpu_entry = 0;    ///< index into a variant's entry table
  std::int32_t cpu_finish = -1;  ///< likewise, or -1

  bool operator==(const Kernel&) const = default;
};

struct Launch {
  std::int32_t kernel = 0;  ///< index into Manifest::kernels
  std::vector<Argument> arguments;

  bool operator==(const Launch&) const = default;
};

enum class Phase : std::uint8_t { forward, loss, loss_backward, backward, check, update };
inline constexpr std::size_t kPhases = 6;

/// What one kind of run needs: `training` has all phases, `inference` the forward phase alone.
struct Program {
  std::string name;
  std::vector<Buffer> buffers;
  std::vector<Slot> slots;
  std::vector<Launch> phases[kPhases];
  /// Empty when backward(external gradient) is possible, otherwise the loss that does not read an
  /// output.
  std::string loss_without_output;

  bool operator==(const Program&) const = default;
};

struct Output {
  std::string name;
  std::string buffer;    ///< in every program
  std::string gradient;  ///< role output_gradient, same shape, in programs with a backward phase;
                         ///< empty when none is needed

  bool operator==(const Output&) const = default;
};

struct Manifest {
  std::string model;
  std::string halftone_version;
  std::string description;              ///< the text form that it was made from
  std::vector<std::string> symbols;     ///< "batch", ...
  std::vector<std::string> variants;    ///< CPU code variants, best first: "x86-64-v3", "x86-64"
  std::int64_t parameter_elements = 0;  ///< of the flat parameter buffer, frozen ones included
  std::int64_t trained_elements = 0;    ///< of the flat gradient buffer
  std::vector<Parameter> parameters;
  std::vector<std::string> inputs;  ///< buffer names, in the order of the generated API
  std::vector<Output> outputs;
  std::vector<std::string> losses;
  double learning_rate = 0.0;
  std::vector<Kernel> kernels;
  std::vector<Program> programs;

  bool operator==(const Manifest&) const = default;
};

/// Deterministic bytes: a header of magic, kVersion, length and XXH3-128 checksum, then the fields
/// in order.
[[nodiscard]] std::vector<std::byte> encode(const Manifest& manifest);

/// Why bytes are no manifest; `message` is one sentence.
struct DecodeError {
  enum class Kind : std::uint8_t { truncated, altered, version, malformed };
  Kind kind = Kind::malformed;
  std::string message;
};

/// Decodes and verifies: checksum, version, and that every index lies in range. On failure `error`
/// says why and the result is empty.
[[nodiscard]] bool decode(std::span<const std::byte> bytes, Manifest& manifest, DecodeError& error);

/// The number of elements / tasks with the symbols bound; throws std::overflow_error past 2^62.
[[nodiscard]] std::int64_t elements(std::span<const Dimension> shape,
                                    std::span<const std::int64_t> symbols);
[[nodiscard]] std::int64_t task_count(const Kernel& kernel, std::span<const std::int64_t> symbols);

/// The bytes of the arena and each slot's offset in it: the memory that a program needs, known
/// before it runs.
struct ArenaPlan {
  std::int64_t bytes = 0;
  std::vector<std::int64_t> slot_offsets;
};
[[nodiscard]] ArenaPlan plan_arena(const Program& program, std::span<const std::int64_t> symbols);

/// What the artifact's object exports as `halftone_artifact_<model>`; see
/// codegen/emit/Artifact.cpp.
struct ArtifactImage {
  char magic[8];  ///< "HALFTONE"
  std::uint32_t version;
  std::uint32_t variant_count;
  const std::byte* manifest;
  std::uint64_t manifest_bytes;
  const void* const* const* cpu_entries;  ///< [variant][entry]
  std::uint64_t cpu_entry_count;
  const std::byte* kernel_text;  ///< zstd-compressed CUDA text of every kernel
  std::uint64_t kernel_text_bytes;
};

}  // namespace halftone::manifest
