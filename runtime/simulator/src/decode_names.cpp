// SPDX-License-Identifier: Apache-2.0
// Where names and literals lie: planes of registers, offsets in shared, local and parameter memory.
#include <algorithm>
#include <iterator>

#include "execute.hpp"
#include "kernel_builder.hpp"
#include "syntax_text.hpp"

namespace halftone::simulator {

namespace {

constexpr std::string_view kSpecials[] = {
    "%tid.x",
    "%tid.y",
    "%tid.z",
    "%ntid.x",
    "%ntid.y",
    "%ntid.z",
    "%ctaid.x",
    "%ctaid.y",
    "%ctaid.z",
    "%nctaid.x",
    "%nctaid.y",
    "%nctaid.z",
    "%laneid",
    "%warpid",
    "%nwarpid",
    "%smid",
    "%nsmid",
    "%gridid",
    "%lanemask_eq",
    "%lanemask_le",
    "%lanemask_lt",
    "%lanemask_ge",
    "%lanemask_gt",
    "%dynamic_smem_size",
    "%total_smem_size",
    "%clusterid.x",
    "%clusterid.y",
    "%clusterid.z",
    "%nclusterid.x",
    "%nclusterid.y",
    "%nclusterid.z",
    "%cluster_ctaid.x",
    "%cluster_ctaid.y",
    "%cluster_ctaid.z",
    "%cluster_nctaid.x",
    "%cluster_nctaid.y",
    "%cluster_nctaid.z",
    "%cluster_ctarank",
    "%cluster_nctarank",
};

std::string bits_of(std::uint8_t bytes) { return std::to_string(8 * bytes) + " bits"; }

}  // namespace

std::uint32_t KernelBuilder::source(const syntax::Operand& operand, std::uint8_t bytes) {
  using Kind = syntax::Operand::Kind;
  const std::uint8_t lane = bytes > 4 ? 8 : 4;
  switch (operand.kind) {
    case Kind::integer:
      return literal(operand.bits, lane);
    case Kind::float32:
    case Kind::float64:
      if (const int has = operand.kind == Kind::float32 ? 4 : 8; has != bytes)
        refuse("needs " + bits_of(bytes) + " where a number has " + std::to_string(8 * has));
      return literal(operand.bits, lane);
    case Kind::name:
      break;
    default:
      unknown();
  }
  const std::string_view name = operand.name;
  if (operand.negated) refuse("cannot be simulated with '!' before '" + std::string(name) + "'");
  if (name == "WARP_SZ") return literal(kAllLanes & 32, lane);
  for (std::size_t i = 0; i < std::size(kSpecials); ++i)
    if (kSpecials[i] == name) return special(static_cast<Special>(i), lane);
  if (const Register* r = find_register(name)) {
    if (operand.offset != 0)
      refuse("cannot be simulated with an offset behind '" + std::string(name) + "'");
    return place_of(*r, name, bytes);
  }
  if (const std::uint32_t* at = find_place(&Names::shared, name))
    return literal(*at + static_cast<std::uint64_t>(operand.offset), lane);
  // Generic addresses see parameters below all buffers.
  if (const auto at = entry_parameters_.find(name);
      at != entry_parameters_.end() && current_ == &entry_)
    return literal(at->second + static_cast<std::uint64_t>(operand.offset), lane);
  return variable(name, operand.offset, lane);
}

std::uint32_t KernelBuilder::destination(const syntax::Operand& operand, std::uint8_t bytes) {
  const std::string name(operand.name);
  if (operand.kind != syntax::Operand::Kind::name) refuse("needs a register to write to");
  if (operand.negated || operand.offset != 0)
    refuse("needs '" + name + "' to write to as it is, without '!' or an offset");
  if (name == "_") {
    if (sink_ == kNone) sink_ = allocate(256);
    return sink_;
  }
  const Register* r = find_register(operand.name);
  if (!r) refuse("needs a register to write to, not '" + name + "'");
  return place_of(*r, operand.name, bytes);
}

std::uint32_t KernelBuilder::predicate_of(const syntax::Operand& operand) {
  if (operand.kind == syntax::Operand::Kind::integer) {
    const std::uint32_t place = allocate(4);
    kernel_.literals.push_back({place, 0, operand.bits ? kAllLanes : 0});
    return place;
  }
  const Register* r = find_register(operand.name);
  if (operand.kind != syntax::Operand::Kind::name || !r) refuse("needs a predicate to read");
  return place_of(*r, operand.name, kPredicate);
}

std::uint32_t KernelBuilder::place_of(const Register& r, std::string_view name,
                                      std::uint8_t bytes) const {
  // Only these take registers that are wider than their type (PTX ISA 9.0, 9.4.1).
  constexpr std::string_view kTakesWider[] = {"ld", "ldu", "st", "cvt"};
  const auto lane = [](std::uint8_t of) { return std::max<std::uint8_t>(4, of); };
  const bool wider = bytes != kPredicate && r.bytes > bytes && lane(r.bytes) == lane(bytes) &&
                     std::ranges::find(kTakesWider, words[0]) != std::end(kTakesWider);
  if (r.bytes != bytes && !wider)
    refuse("needs " + (bytes == kPredicate ? "a predicate" : bits_of(bytes)) + " where '" +
           std::string(name) + "' " +
           (r.bytes == kPredicate ? "is a predicate" : "has " + bits_of(r.bytes)));
  return r.place;
}

std::uint32_t KernelBuilder::address(const syntax::Operand& operand, Instruction& into) {
  if (operand.kind != syntax::Operand::Kind::memory)
    refuse("needs an address in brackets, not '" + std::string(operand.name) + "'");
  if (!operand.parts.empty() && !has("tensor")) refuse("needs an address without coordinates");
  into.offset += operand.offset;
  if (operand.name.empty()) return literal(0, 8);
  if (const Register* r = find_register(operand.name)) {
    if (r->bytes == 4) into.flags |= kNarrowAddress;
    return r->bytes == 4 ? r->place : place_of(*r, operand.name, 8);
  }
  if (const std::uint32_t* at = find_place(&Names::shared, operand.name)) return literal(*at, 8);
  if (operand.name.starts_with('%')) unknown();
  if (const std::uint32_t* at = find_place(&Names::locals, operand.name)) return literal(*at, 8);
  if (const auto at = entry_parameters_.find(operand.name);
      at != entry_parameters_.end() && current_ == &entry_)
    return literal(at->second, 8);
  return variable(operand.name, 0, 8);
}

std::optional<std::uint8_t> KernelBuilder::register_bytes(std::string_view name) const {
  const Register* r = find_register(name);
  return r ? std::optional(r->bytes) : std::nullopt;
}

std::uint32_t KernelBuilder::label(std::string_view name) {
  fixups_.push_back({kernel_.code.size(), name, statement->scope, kNone});
  return kNone;
}

const syntax::BranchTargets& KernelBuilder::targets(std::string_view name) {
  const auto* const found =
      nearest(statement->scope, name, [&](const Names& names) -> const syntax::BranchTargets* {
        const auto scope = static_cast<std::uint32_t>(&names - scopes_.data());
        for (const syntax::BranchTargets& list : current_->branch_targets)
          if (list.name == name && list.scope == scope) return &list;
        return nullptr;
      });
  if (!found) unknown();
  return *found;
}

std::int64_t KernelBuilder::local_parameter(std::string_view name) const {
  const std::uint32_t* const at = find_place(&Names::locals, name);
  return at ? std::int64_t{*at} : -1;
}

std::int64_t KernelBuilder::entry_parameter(std::string_view name) const {
  const auto at = entry_parameters_.find(name);
  return at == entry_parameters_.end() || current_ != &entry_ ? -1 : std::int64_t{at->second};
}

std::uint32_t KernelBuilder::carry() {
  if (carry_ == kNone) carry_ = allocate(4);
  return carry_;
}

std::uint32_t KernelBuilder::allocate(std::uint32_t bytes) {
  kernel_.register_bytes = aligned(kernel_.register_bytes, bytes >= 64 ? 64 : 4);
  const std::uint32_t place = kernel_.register_bytes;
  kernel_.register_bytes += bytes;
  return place;
}

std::uint32_t KernelBuilder::literal(std::uint64_t bits, std::uint8_t bytes) {
  if (bytes == 4) bits &= 0xffffffff;
  const auto [at, is_new] = literals_.try_emplace({bits, bytes}, 0);
  if (is_new) {
    at->second = allocate(bytes * 32u);
    kernel_.literals.push_back({at->second, bytes, bits});
  }
  return at->second;
}

std::uint32_t KernelBuilder::special(Special which, std::uint8_t bytes) {
  const auto [at, is_new] = specials_.try_emplace({which, bytes}, 0);
  if (is_new) {
    at->second = allocate(bytes * 32u);
    kernel_.specials.push_back({at->second, bytes, which});
  }
  return at->second;
}

std::uint32_t KernelBuilder::variable(std::string_view name, std::int64_t offset,
                                      std::uint8_t bytes) {
  const auto known = std::ranges::find(module_.variables, name, &syntax::Variable::name);
  if (known == module_.variables.end()) unknown();
  if (known->space == "shared")
    kernel_.dynamic_alignment = std::max(kernel_.dynamic_alignment, known->alignment);
  const std::uint32_t place = allocate(bytes * 32u);
  kernel_.addresses.push_back({place, bytes, name, offset});
  return place;
}

std::uint32_t KernelBuilder::place(const syntax::Variable& v, std::uint32_t least_alignment,
                                   std::uint32_t& used, std::vector<Range>& ranges) const {
  // Local memory of a thread: CUDA C++ Programming Guide, technical specifications. What shared
  // memory a chip has is judged at the launch.
  const std::uint64_t most = v.space == "shared" ? std::uint64_t{1} << 30 : 512u << 10;
  const std::uint64_t bytes = size_of(v);
  const std::uint32_t begin = aligned(used, std::max(v.alignment, least_alignment));
  if (bytes > most || begin < used || begin + bytes > most) {
    throw Error("variable '" + std::string(v.name) + "' of kernel '" + std::string(entry_.name) +
                "' takes " + std::to_string(bytes) + " bytes of ." + std::string(v.space) +
                ", more than any chip has; make it smaller");
  }
  used = begin + static_cast<std::uint32_t>(bytes);
  ranges.push_back({v.name, begin, static_cast<std::uint32_t>(bytes)});
  return begin;
}

std::uint32_t KernelBuilder::place_shared(const syntax::Variable& v) {
  return place(v, 4, kernel_.static_shared_bytes, kernel_.shared);
}

std::uint32_t KernelBuilder::place_local(const syntax::Variable& v) {
  return place(v, 8, kernel_.local_bytes, kernel_.local);
}

const std::uint32_t* KernelBuilder::find_place(Places Names::* space, std::string_view name) const {
  const std::uint32_t* const found = nearest(statement->scope, name, [&](const Names& names) {
    const auto at = (names.*space).find(name);
    return at == (names.*space).end() ? nullptr : &at->second;
  });
  if (found || space != &Names::shared) return found;
  const auto at = shared_.find(name);
  return at == shared_.end() ? nullptr : &at->second;
}

void KernelBuilder::lay_out_entry_parameters() {
  constexpr std::uint64_t kMost = 32764;  // PTX ISA 9.0, 11.2.1
  std::uint64_t used = 0;
  for (const syntax::Variable& v : entry_.parameters) {
    const std::uint64_t bytes = size_of(v);
    const std::uint64_t to = std::max<std::uint32_t>({v.alignment, bytes_of(type_of(v.type)), 1});
    const std::uint64_t begin = (used + to - 1) / to * to;
    used = begin + bytes;
    if (used > kMost)
      throw Error("parameter '" + std::string(v.name) + "' of kernel '" + std::string(entry_.name) +
                  "' ends at byte " + std::to_string(used) + ", but all parameters end by byte " +
                  std::to_string(kMost) + "; pass a pointer instead");
    entry_parameters_[v.name] = static_cast<std::uint32_t>(begin);
    kernel_.parameters.push_back(
        {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(bytes)});
  }
  kernel_.parameter_bytes = static_cast<std::uint32_t>(used);
}

const KernelBuilder::Register* KernelBuilder::find_register(std::string_view name) const {
  // %r<10> declares %r0 to %r9.
  std::size_t digits = name.size();
  while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9') --digits;
  const std::string_view stem = name.substr(0, digits), number = name.substr(digits);
  const bool canonical = number == "0" || (!number.empty() && number.front() != '0');
  const auto index = canonical ? syntax::integer_of(number) : std::nullopt;
  std::string lacking;
  const Register* const found =
      nearest(statement->scope, name, [&](Names& names) -> const Register* {
        if (const auto known = names.registers.find(name); known != names.registers.end())
          return &known->second;
        const auto family = number.empty() ? names.families.end() : names.families.find(stem);
        if (family == names.families.end()) return nullptr;
        const auto& [bytes, count] = family->second;
        if (index && *index < count) return &(names.registers[name] = make_register(bytes));
        lacking = std::string(stem) + "<" + std::to_string(count) + ">";
        return nullptr;
      });
  if (!found && !lacking.empty())
    refuse("names '" + std::string(name) + "', which " + lacking + " does not declare");
  return found;
}

KernelBuilder::Register KernelBuilder::make_register(std::uint8_t bytes) const {
  auto* self = const_cast<KernelBuilder*>(this);
  return {self->allocate(bytes == kPredicate ? 4u : std::max<std::uint8_t>(4, bytes) * 32u), bytes};
}

void KernelBuilder::declare_registers(const syntax::Statement& s) {
  for (const syntax::Variable& v : syntax::parse_variables("reg", s.text, s.ptx_line)) {
    const Type type = type_of(v.type);
    if (type == Type::none) unknown();
    const std::uint8_t bytes = type == Type::pred ? kPredicate : bytes_of(type);
    const bool family = s.text.find('<') != std::string_view::npos;
    declare(s.scope, v.name);
    if (family)
      scopes_[s.scope].families[v.name] = {bytes, v.elements};
    else
      scopes_[s.scope].registers[v.name] = make_register(bytes);
  }
}

}  // namespace halftone::simulator
