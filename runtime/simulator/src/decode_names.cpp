// SPDX-License-Identifier: Apache-2.0
// Where names and literals lie: planes of registers, offsets in shared, local and parameter memory.
#include <algorithm>
#include <iterator>

#include "execute.hpp"
#include "kernel_builder.hpp"

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

}  // namespace

std::uint32_t KernelBuilder::source(const syntax::Operand& operand, std::uint8_t bytes) {
  using Kind = syntax::Operand::Kind;
  switch (operand.kind) {
    case Kind::integer:
    case Kind::float32:
    case Kind::float64:
      return literal(operand.bits, bytes);
    case Kind::name:
      break;
    default:
      unknown();
  }
  const std::string_view name = operand.name;
  if (name == "WARP_SZ") return literal(kAllLanes & 32, bytes);
  for (std::size_t i = 0; i < std::size(kSpecials); ++i)
    if (kSpecials[i] == name) return special(static_cast<Special>(i), bytes);
  if (const Register* r = find_register(name)) return r->place;
  if (const auto at = shared_.find(name); at != shared_.end())
    return literal(at->second + static_cast<std::uint64_t>(operand.offset), bytes);
  // Generic addresses see parameters below all buffers.
  if (const auto at = entry_parameters_.find(name);
      at != entry_parameters_.end() && current_ == &entry_)
    return literal(at->second + static_cast<std::uint64_t>(operand.offset), bytes);
  return variable(name, operand.offset, bytes);
}

std::uint32_t KernelBuilder::destination(std::string_view name) {
  if (name == "_") {
    if (sink_ == kNone) sink_ = allocate(256);
    return sink_;
  }
  const Register* r = find_register(name);
  if (!r) unknown();
  return r->place;
}

std::uint32_t KernelBuilder::predicate(const syntax::Operand& operand) {
  if (operand.kind == syntax::Operand::Kind::integer) {
    const std::uint32_t place = allocate(4);
    kernel_.literals.push_back({place, 0, operand.bits ? kAllLanes : 0});
    return place;
  }
  return destination(operand.name);
}

std::uint32_t KernelBuilder::address(const syntax::Operand& operand, Instruction& into) {
  into.offset += operand.offset;
  if (operand.name.empty()) return literal(0, 8);
  if (const Register* r = find_register(operand.name)) {
    if (r->bytes == 8) return r->place;
    into.flags |= kNarrowAddress;
    return r->place;
  }
  if (const auto at = shared_.find(operand.name); at != shared_.end())
    return literal(at->second, 8);
  if (operand.name.starts_with('%')) unknown();
  if (const auto at = locals_.find(operand.name); at != locals_.end())
    return literal(at->second, 8);
  if (const auto at = entry_parameters_.find(operand.name);
      at != entry_parameters_.end() && current_ == &entry_)
    return literal(at->second, 8);
  return variable(operand.name, 0, 8);
}

std::uint8_t KernelBuilder::lane_bytes(std::string_view name) const {
  const Register* r = find_register(name);
  return r ? r->bytes : 4;
}

std::uint32_t KernelBuilder::label(std::string_view name) {
  fixups_.push_back({kernel_.code.size(), name, kNone});
  return kNone;
}

const std::vector<std::string_view>& KernelBuilder::targets(std::string_view name) {
  for (const auto& [label, list] : current_->branch_targets)
    if (label == name) return list;
  unknown();
}

std::int64_t KernelBuilder::local_parameter(std::string_view name) const {
  const auto at = locals_.find(name);
  return at == locals_.end() ? -1 : std::int64_t{at->second};
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

void KernelBuilder::place_shared(const syntax::Variable& v) {
  kernel_.static_shared_bytes = aligned(kernel_.static_shared_bytes, std::max(v.alignment, 4u));
  shared_[v.name] = kernel_.static_shared_bytes;
  const auto bytes = static_cast<std::uint32_t>(size_of(v));
  kernel_.shared.push_back({v.name, kernel_.static_shared_bytes, bytes});
  kernel_.static_shared_bytes += bytes;
}

void KernelBuilder::place_local(const syntax::Variable& v) {
  kernel_.local_bytes = aligned(kernel_.local_bytes, std::max(v.alignment, 8u));
  locals_[v.name] = kernel_.local_bytes;
  const auto bytes = static_cast<std::uint32_t>(size_of(v));
  kernel_.local.push_back({v.name, kernel_.local_bytes, bytes});
  kernel_.local_bytes += bytes;
}

void KernelBuilder::lay_out_entry_parameters() {
  for (const syntax::Variable& v : entry_.parameters) {
    const auto bytes = static_cast<std::uint32_t>(size_of(v));
    const std::uint32_t natural = std::max<std::uint32_t>(v.alignment, bytes_of(type_of(v.type)));
    kernel_.parameter_bytes = aligned(kernel_.parameter_bytes, std::max(natural, 1u));
    entry_parameters_[v.name] = kernel_.parameter_bytes;
    kernel_.parameters.push_back({kernel_.parameter_bytes, bytes});
    kernel_.parameter_bytes += bytes;
  }
}

const KernelBuilder::Register* KernelBuilder::find_register(std::string_view name) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
    if (const auto found = scope->find(name); found != scope->end()) return &found->second;
  // %r<10> declares %r0 to %r9.
  std::size_t digits = name.size();
  while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9') --digits;
  if (digits == name.size()) return nullptr;
  const auto family = families_.find(name.substr(0, digits));
  if (family == families_.end()) return nullptr;
  return &(scopes_made_->front()[name] = make_register(family->second));
}

KernelBuilder::Register KernelBuilder::make_register(std::uint8_t bytes) const {
  auto* self = const_cast<KernelBuilder*>(this);
  return {self->allocate(bytes == 0 ? 4u : bytes * 32u), bytes};
}

void KernelBuilder::declare_registers(const syntax::Statement& s) {
  for (const syntax::Variable& v : syntax::parse_variables("reg", s.text, s.ptx_line)) {
    const Type type = type_of(v.type);
    const std::uint8_t bytes = type == Type::pred   ? 0
                               : bytes_of(type) > 8 ? 16
                               : bytes_of(type) > 4 ? 8
                                                    : 4;
    const bool family = s.text.find('<') != std::string_view::npos;
    if (family)
      families_[v.name] = bytes;
    else
      scopes_.back()[v.name] = make_register(bytes);
  }
}

}  // namespace halftone::simulator
