// SPDX-License-Identifier: Apache-2.0
// The manifest: everything the runtime knows about a model, and all that codegen and runtime share.
// Codegen fills these structs and encodes them into the artifact; the runtime decodes, verifies and
// executes them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "halftone/encoding/encoding.hpp"
#include "halftone/manifest/kernels.hpp"
#include "halftone/manifest/phases.hpp"

namespace halftone::manifest {

/// Raised with every change of the structs here and in kernels.hpp, or of the calling convention of
/// kernels.
inline constexpr std::uint32_t kVersion = 23;

using encoding::Element, encoding::Encoding;

/// Who owns a buffer's contents. Elements: activations have any; caches any float; inputs f32, f16,
/// bf16 or integers; working copies any float but f32; states f32 or i32; counters i32; states of
/// the optimizer f32, f16 or bf16 (P68); parameters f32, or bf16 beside remainders of i16; all else
/// f32. Floats are those that rules state (P10).
enum class Role : std::uint8_t {
  input,           // copied in by every step
  parameters,      // the flat buffer of all parameters, master format
  working_copies,  // the flat buffer of all parameters in one format that operations read (M1)
  gradients,       // the flat buffer of all gradients, f32
  accumulated,  // the sum of gradients over micro-batches (M4), f32; allocated when those are first
                // asked for, read and written by the accumulate phase alone
  optimizer_state,  // persists, changed by the step's end alone: moments, powers; with a loss scale
                    // the scalar loss_scale (of the next step), with a dynamic one also
                    // loss_scale.clean, loss_scale.wait and loss_scale.floored (L3, L4). For every
                    // state that is assigned "before=" and its name: what it was before the
                    // micro-batches of a step, written by accumulate and read by update (S4)
  state,            // the user's state: persists, assigned by accumulate and update (S2)
  activation,       // lives inside one step
  output,           // readable after the forward pass
  output_gradient,  // d objective / d output: written by loss_backward or by the user
  input_gradient,   // d objective / d input (D15): readable after a backward pass
  loss,             // one scalar, readable after the forward pass
  hyperparameter,   // f32 scalars that the host sets: learning_rate, micro_batches,
                    // first_micro_batch; weight_decay and momentum, where updates read them
  statistic,        // f32 scalars that the host reads: grad_norm, finite (1 or 0)
  counters,         // what layers draw by (D35), copied in by every pass: kCounters words
  cache,            // rows of earlier tokens (G9): persists, written by the forward phase
  remainders,  // i16, beside parameters that are bf16: with them each is the f32 whose code is that
               // of the parameter, as f32, plus the remainder (P69)
  codes,       // i8 or f8e4m3, of quantized weights one behind another (P81), written by the host
  scales,      // f32, of the channels of all of these
};

/// The halves of the seed, lower first; the steps that the trainer ended before; the micro-batches
/// that joined the step before; each mod 2^32. A program has them once, if a layer draws.
inline constexpr std::int64_t kCounters = 4;

/// Whether the host gives the contents for the run that comes.
[[nodiscard]] constexpr bool is_given(Role role) {
  return role == Role::input || role == Role::output_gradient || role == Role::counters;
}

struct Buffer {
  std::string name;
  Role role = Role::activation;
  Encoding encoding;             ///< its rounding is nearest_even: how values got here, casts say
  std::vector<Dimension> shape;  ///< row-major; empty is a scalar
  std::int32_t slot = 0;         ///< index into Program::slots
  /// First value of every element of optimizer_state, state, hyperparameter and statistic; all else
  /// starts at zero.
  double initial = 0.0;
  /// Index into Program::sections of that whose chunk or part it holds, or -1.
  std::int32_t section = -1;
  /// Of optimizer_state alone: where the device has memory of its own, it lies in the host's (P91),
  /// and kernels see the parts that Argument::seen says, each fetched before and put back behind.
  bool in_host = false;

  bool operator==(const Buffer&) const = default;
};

/// A place in the arena. Its size is that of its largest tenant, rounded up to kSlotAlignment;
/// slots lie one after another. Only activations share one.
struct Slot {
  std::vector<std::int32_t> tenants;  ///< buffers whose lifetimes do not overlap

  bool operator==(const Slot&) const = default;
};

inline constexpr std::int64_t kSlotAlignment = 64;

struct Initializer {
  enum class Kind : std::uint8_t { constant, uniform, normal, truncated_normal, orthogonal };
  Kind kind = Kind::constant;
  double first = 0.0,
         second = 0.0;  ///< constant: value; uniform: lower, upper; normals: mean, standard
                        ///< deviation; orthogonal: the length of rows, or of fewer columns
  double low = -2.0, high = 2.0;  ///< of the truncated normal

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

/// What bounds a symbol: a layer that reads a row of a parameter for each of its times (D65), or
/// one whose windows or padding want more places or fewer (D85, D91, D99).
struct Limit {
  std::int32_t symbol = 0;  ///< index into Manifest::symbols
  std::int64_t most = 0;    ///< that it is bound to
  std::string layer;
  std::string parameter;   ///< empty where there is no such row
  std::int64_t least = 1;  ///< that it is bound to
  std::string reason = {};  ///< "has a padding of 3 ...", where there is no parameter

  bool operator==(const Limit&) const = default;
};

struct Argument {
  std::int32_t buffer = 0;  ///< index into Program::buffers
  std::int64_t offset = 0;  ///< in elements
  /// By how many leading dimensions of the section's parts the buffer is cut: the kernel sees the
  /// part at hand of it.
  std::int32_t parts = 0;
  /// Of a buffer in the host's memory how many elements the kernel sees, from `offset` on; of
  /// others 0.
  std::int64_t seen = 0;

  bool operator==(const Argument&) const = default;
};

struct Launch {
  std::int32_t kernel = 0;  ///< index into Manifest::kernels
  std::vector<Argument> arguments;
  std::string fused = {};  ///< the layers and operations inside, for people

  bool operator==(const Launch&) const = default;
};

/// Neighbouring launches of a phase that run together once per chunk of rows, the last chunk with
/// the rows that are left. They run with `symbol` bound to its part of the chunk. A buffer of the
/// section holds one chunk; of another whose shape begins with the symbol an argument stands for
/// the chunk's part of it; all else is whole. What one chunk leaves, the next one may go on from.
/// Or they run once for every element of `parts`, in any order and side by side; then no row is
/// counted. Of a buffer of the section each thread has one; Argument says of what else a kernel
/// sees a part.
struct Section {
  Phase phase = Phase::loss;
  std::int32_t first = 0, count = 0;  ///< of Program::phases[phase]
  std::int64_t rows = 0;              ///< at most, but for the fewest that a chunk may have
  std::int32_t symbol = 0;            ///< that rows begin with, index into Manifest::symbols
  std::vector<Dimension> inner = {};  ///< of the rows that an element of the symbol has
  std::vector<Dimension> parts = {};
  std::int64_t multiple = 1;  ///< of which a chunk's rows are one, but for the last chunk's

  bool operator==(const Section&) const = default;
};

/// Who a value is to the rules (P2), in the order of description::Role.
enum class ValueRole : std::uint8_t {
  activation,
  saved,
  gradient,
  weight,
  weight_gradient,
  master,
  optimizer_state
};
enum class Pass : std::uint8_t { forward, input_gradient, weight_gradient, none };

/// A value of the model and the encoding that rules gave it, for people and for explain.
struct Value {
  std::string name;   ///< of its node or parameter; of the optimizer's state; need not be unique
  std::string layer;  ///< the layer, loss or parameter whose rules hold
  std::string op;     ///< "linear", "gelu", ..., "parameter"
  ValueRole role = ValueRole::activation;
  Pass pass = Pass::forward;
  Encoding encoding;       ///< as Buffer::encoding
  std::int32_t rule = -1;  ///< index into Manifest::rules of the rule that won, or -1: the default
  std::vector<std::int32_t> beaten;  ///< rules that stated a format and lost, in order
  std::vector<Dimension> shape;
  std::int32_t buffer = -1;  ///< index into Program::buffers; -1: it never leaves registers

  bool operator==(const Value&) const = default;
};

/// Which rule won a field that is no format, or the store of an internal value, for people and for
/// explain; words as rules spell them.
struct Decision {
  std::string field;    ///< "accumulate", "rounding", "recompute", "loss_scale", "place" or "store"
  std::string layer;    ///< the layer, loss, parameter or internal value; empty for the loss scale
  std::string role;     ///< of what is rounded or computed again; otherwise empty
  std::string pass;     ///< empty for a weight, an internal value and for the loss scale
  std::string setting;  ///< "ordered", "toward_zero", "always", "dynamic", ...
  std::int32_t rule = 0;             ///< index into Manifest::rules of the rule that won
  std::vector<std::int32_t> beaten;  ///< rules that stated the field and lost, in order

  bool operator==(const Decision&) const = default;
};

/// One rounding of one tensor to another element, once per step (P38).
struct Cast {
  std::int32_t value = 0;   ///< index into Program::values
  Encoding from, to;        ///< floats, never the same; `to` says how values are rounded
  std::string kernel;       ///< of Manifest::kernels, the one that performs it
  bool own_launch = false;  ///< whether that kernel does nothing else
  std::int32_t rule = -1;   ///< as Value::rule, of `to`

  bool operator==(const Cast&) const = default;
};

/// An activation that stays in the host's memory between the passes (P98): what launches of forward
/// and loss leave in `buffer` goes there behind the last of them that uses it, and comes to `back`
/// before the first launch of loss_backward, external or backward that does; meanwhile both slots
/// are free for others.
struct Stay {
  std::int32_t buffer = 0, back = 0;  ///< indices into Program::buffers

  bool operator==(const Stay&) const = default;
};

/// What a launch of the `diagnosis` program leaves behind, so that the first value that is not
/// finite can be named.
struct Probe {
  Phase phase = Phase::forward;  ///< forward, loss, loss_backward, backward or external
  std::int32_t launch = 0;       ///< index into Program::phases[phase]
  std::int32_t argument = 0;     ///< of the launch: the result
  std::int32_t before = -1;      ///< of the launch: the operand before a cast, or -1
  std::string layer;
  std::string op;  ///< "linear", "gelu", ...
  Pass pass = Pass::forward;
  ValueRole role = ValueRole::activation;
  std::int32_t rule = -1;  ///< of the cast's format, otherwise of the operation's
  /// Of a rounding in several launches of the phase the first, whose operand 0 it rounds, or -1.
  std::int32_t first_launch = -1;

  bool operator==(const Probe&) const = default;
};

/// A parameter that a program holds as codes of 8 bits, and a scale for each channel: the elements
/// with one index along `dimension` (P81).
struct QuantizedWeight {
  std::int32_t parameter = 0;  ///< index into Manifest::parameters
  std::int32_t codes = 0;      ///< index into Program::buffers, of role codes
  std::int64_t first_code = 0, first_scale = 0;
  std::int32_t dimension = 0;
  bool least_error = false;  ///< how scales are found

  bool operator==(const QuantizedWeight&) const = default;
};

/// The program that decodes, and its inputs beside the tokens (G8).
inline constexpr const char *kDecode = "decode", *kStart = "%start", *kCount = "%count";

/// What one kind of run needs: `training` has all phases, `inference` forward, loss and refresh.
/// `diagnosis` is training's refresh and forward to backward, unfused: every operation and every
/// cast is a launch of its own and no two buffers share a slot; its parameters, states, inputs,
/// hyperparameters, gradients of outputs and loss scale are training's by name, role, format and
/// shape. `decode` has forward and refresh, and is the only program of its artifact; its inputs are
/// the tokens, "%start" and "%count" (G8), an output has one row for every sequence (G11), the last
/// symbol is "capacity".
struct Program {
  std::string name;
  std::vector<Buffer> buffers;
  std::vector<Slot> slots;
  std::vector<Launch> phases[kPhases];
  /// Empty when backward(external gradient) is possible, otherwise the loss that does not read an
  /// output.
  std::string loss_without_output;
  std::vector<Value> values;
  std::vector<Cast> casts;
  std::vector<Probe> probes;  ///< in the order of execution; of diagnosis alone
  std::vector<Section> sections;
  /// Of inference and decode: parameters that have no master there, and where all others have
  /// theirs, by the index of the parameter, -1 for none; empty: at Parameter::offset.
  std::vector<QuantizedWeight> quantized;
  std::vector<std::int64_t> masters;
  std::vector<Stay> stays;  ///< of training alone, where the targets are chips

  bool operator==(const Program&) const = default;
};

struct Output {
  std::string name;
  std::string buffer;    ///< in every program
  std::string gradient;  ///< role output_gradient, same shape, in programs with a backward phase;
                         ///< empty when none is needed

  bool operator==(const Output&) const = default;
};

/// Of an input that wants one (D15).
struct InputGradient {
  std::string input;
  std::string buffer;  ///< role input_gradient, of the input's shape, in programs with a backward
                       ///< phase but diagnosis

  bool operator==(const InputGradient&) const = default;
};

/// L1 to L4 as description::LossScale; the scale itself lives on the device. Unless kind is none
/// the numbers obey P43; growth to patience count for dynamic alone.
struct LossScale {
  enum class Kind : std::uint8_t { none, fixed, dynamic };
  Kind kind = Kind::none;
  double initial = 1.0, growth = 2.0, backoff = 0.5;
  std::int64_t interval = 0;
  double floor = 1.0, ceiling = 1.0;
  std::int64_t hysteresis = 1, patience = 0;

  bool operator==(const LossScale&) const = default;
};

/// An artifact has one manifest for every way in which rules tell its targets and stages apart.
/// Those of "cpu" alone have CPU code, and the first is of "cpu" and of the first stage; they agree
/// in model, symbols and their limits, parameters, inputs, outputs, losses and stages.
struct Manifest {
  std::string model;
  std::string halftone_version;
  std::string description;              ///< the text form that it was made from
  std::uint64_t structure = 0;          ///< the digest of D13
  std::vector<std::string> symbols;     ///< "batch", ...
  std::vector<Limit> limits;            ///< of symbols, in the order of the layers
  std::vector<std::string> variants;    ///< CPU code variants, best first: "x86-64-v4", ...
  std::int64_t parameter_elements = 0;  ///< of the flat parameter buffer, frozen ones included
  std::int64_t trained_elements = 0;    ///< of the flat gradient buffer
  std::vector<Parameter> parameters;
  std::vector<std::string> inputs;             ///< buffer names, in the order of the generated API
  std::vector<InputGradient> input_gradients;  ///< in the order of inputs
  std::vector<Output> outputs;
  std::vector<std::string> losses;
  std::vector<std::string> kept_states;  ///< that layers keep (D17): they go with the parameters
  double learning_rate = 0.0;
  std::vector<std::string> rules;  ///< precision rules in their order, as the text form spells them
  LossScale loss_scale;
  std::vector<Decision> decisions;   ///< where no rule won, the default of P13 to P17 holds
  std::vector<std::string> targets;  ///< that rules resolve for in this way: "cpu", "sm_80", ...
  /// The model's stages (P66), that first in which a run begins; none where it declares none.
  std::vector<std::string> stages;
  std::vector<std::string> during;    ///< those of them that rules resolve for in this way
  std::vector<std::int64_t> assumed;  ///< sizes of the symbols that plans were chosen for
  std::int32_t text_count = 0;        ///< of the artifact's texts
  std::vector<Kernel> kernels;
  std::vector<CudaTarget> cuda;  ///< one for every target but "cpu", in their order
  std::vector<Program> programs;

  bool operator==(const Manifest&) const = default;
};

/// "HTMANIF\n", with which a manifest begins. Programs that read manifests do not hold the word, so
/// that where it stands in a file, a manifest most likely follows.
[[nodiscard]] std::array<char, 8> magic() noexcept;

/// Deterministic bytes: a header of magic, kVersion, length and XXH3-128 checksum, then the fields
/// in order.
[[nodiscard]] std::vector<std::byte> encode(const Manifest& manifest);

/// Why bytes are no manifest; `message` is one sentence.
struct DecodeError {
  enum class Kind : std::uint8_t { truncated, altered, version, malformed, unsealed };
  Kind kind = Kind::malformed;
  std::string message;
};

/// Decodes and verifies: checksum, version, and that every index lies in range. On failure `error`
/// says why and the result is empty.
[[nodiscard]] bool decode(std::span<const std::byte> bytes, Manifest& manifest, DecodeError& error);

/// The manifest's kernels for a chip, or null when it does not hold for that chip.
[[nodiscard]] const CudaTarget* find_cuda(const Manifest& manifest, std::string_view chip);

/// Whether the manifest is that of a stage; an empty name is the first one, or that of a model that
/// declares none.
[[nodiscard]] bool holds_in(const Manifest& manifest, std::string_view stage);

struct ManifestImage {
  const std::byte* bytes;
  std::uint64_t size;
};

/// What the artifact's object exports; see codegen/emit/cpu/Objects.h.
struct ArtifactImage {
  char magic[8];  ///< "HALFTONE"
  std::uint32_t version;
  std::uint32_t variant_count;
  const ManifestImage* manifests;  ///< cpu's first
  std::uint64_t manifest_count;
  const void* const* const* cpu_entries;  ///< [variant][entry]
  std::uint64_t cpu_entry_count;
  const std::byte* texts;  ///< CUDA texts, each once, as pack_texts writes them; may be none
  std::uint64_t text_bytes;
};

}  // namespace halftone::manifest
