// SPDX-License-Identifier: Apache-2.0
// The encoding of every struct of the manifest, stated once: its members in order. Reader and
// writer both walk these tables, so they cannot disagree.
#pragma once

#include <tuple>
#include <type_traits>

#include "halftone/manifest/manifest.hpp"

namespace halftone::manifest {

template <class Struct>
inline constexpr int kFields = 0;  // left as it is for what is not one of our structs

template <>
inline constexpr auto kFields<Dimension> =
    std::tuple{&Dimension::extent, &Dimension::symbol, &Dimension::divisor, &Dimension::added};
template <>
inline constexpr auto kFields<encoding::Scaling> =
    std::tuple{&encoding::Scaling::kind,   &encoding::Scaling::size,    &encoding::Scaling::rows,
               &encoding::Scaling::scale,  &encoding::Scaling::history, &encoding::Scaling::margin,
               &encoding::Scaling::of_all, &encoding::Scaling::rotated};
template <>
inline constexpr auto kFields<Encoding> =
    std::tuple{&Encoding::element, &Encoding::scaling, &Encoding::rounding, &Encoding::saturate};
template <>
inline constexpr auto kFields<Buffer> =
    std::tuple{&Buffer::name, &Buffer::role,    &Buffer::encoding, &Buffer::shape,
               &Buffer::slot, &Buffer::initial, &Buffer::section,  &Buffer::in_host};
template <>
inline constexpr auto kFields<Slot> = std::tuple{&Slot::tenants};
template <>
inline constexpr auto kFields<Initializer> =
    std::tuple{&Initializer::kind, &Initializer::first, &Initializer::second, &Initializer::low,
               &Initializer::high};
template <>
inline constexpr auto kFields<Parameter> =
    std::tuple{&Parameter::name, &Parameter::shape, &Parameter::offset, &Parameter::trained,
               &Parameter::initializer};
template <>
inline constexpr auto kFields<Limit> = std::tuple{&Limit::symbol,    &Limit::most,  &Limit::layer,
                                                  &Limit::parameter, &Limit::least, &Limit::reason};
template <>
inline constexpr auto kFields<TaskAxis> = std::tuple{&TaskAxis::extent, &TaskAxis::tile};
template <>
inline constexpr auto kFields<Argument> =
    std::tuple{&Argument::buffer, &Argument::offset, &Argument::parts, &Argument::seen};
template <>
inline constexpr auto kFields<RegisterTile> = std::tuple{
    &RegisterTile::rows, &RegisterTile::columns, &RegisterTile::lanes, &RegisterTile::depth};
template <>
inline constexpr auto kFields<Blocking> = std::tuple{
    &Blocking::tiles, &Blocking::depth,          &Blocking::stride,        &Blocking::transposes,
    &Blocking::rhs,   &Blocking::lhs_neighbours, &Blocking::rhs_neighbours};
template <>
inline constexpr auto kFields<Kernel> =
    std::tuple{&Kernel::name,      &Kernel::skeleton,   &Kernel::tasks,
               &Kernel::cpu_entry, &Kernel::cpu_finish, &Kernel::blocking};
template <>
inline constexpr auto kFields<Launch> =
    std::tuple{&Launch::kernel, &Launch::arguments, &Launch::fused};
template <>
inline constexpr auto kFields<Value> =
    std::tuple{&Value::name,     &Value::layer, &Value::op,     &Value::role,  &Value::pass,
               &Value::encoding, &Value::rule,  &Value::beaten, &Value::shape, &Value::buffer};
template <>
inline constexpr auto kFields<Decision> =
    std::tuple{&Decision::field,   &Decision::layer, &Decision::role,  &Decision::pass,
               &Decision::setting, &Decision::rule,  &Decision::beaten};
template <>
inline constexpr auto kFields<Cast> =
    std::tuple{&Cast::value, &Cast::from, &Cast::to, &Cast::kernel, &Cast::own_launch, &Cast::rule};
template <>
inline constexpr auto kFields<Probe> = std::tuple{
    &Probe::phase, &Probe::launch, &Probe::argument, &Probe::before, &Probe::layer,
    &Probe::op,    &Probe::pass,   &Probe::role,     &Probe::rule,   &Probe::first_launch};
template <>
inline constexpr auto kFields<LossScale> =
    std::tuple{&LossScale::kind,    &LossScale::initial,    &LossScale::growth,
               &LossScale::backoff, &LossScale::interval,   &LossScale::floor,
               &LossScale::ceiling, &LossScale::hysteresis, &LossScale::patience};
template <>
inline constexpr auto kFields<Section> =
    std::tuple{&Section::phase,  &Section::first, &Section::count, &Section::rows,
               &Section::symbol, &Section::inner, &Section::parts, &Section::multiple};
template <>
inline constexpr auto kFields<QuantizedWeight> = std::tuple{
    &QuantizedWeight::parameter,   &QuantizedWeight::codes,     &QuantizedWeight::first_code,
    &QuantizedWeight::first_scale, &QuantizedWeight::dimension, &QuantizedWeight::least_error};
template <>
inline constexpr auto kFields<Stay> = std::tuple{&Stay::buffer, &Stay::back};
template <>
inline constexpr auto kFields<Program> = std::tuple{&Program::name,
                                                    &Program::buffers,
                                                    &Program::slots,
                                                    &Program::phases,
                                                    &Program::loss_without_output,
                                                    &Program::values,
                                                    &Program::casts,
                                                    &Program::probes,
                                                    &Program::sections,
                                                    &Program::quantized,
                                                    &Program::masters,
                                                    &Program::stays};
template <>
inline constexpr auto kFields<Output> =
    std::tuple{&Output::name, &Output::buffer, &Output::gradient};
template <>
inline constexpr auto kFields<InputGradient> =
    std::tuple{&InputGradient::input, &InputGradient::buffer};
template <>
inline constexpr auto kFields<Split> = std::tuple{&Split::depth, &Split::least, &Split::most};
template <>
inline constexpr auto kFields<Work> =
    std::tuple{&Work::bytes, &Work::count, &Work::per_split, &Work::zeroed};
template <>
inline constexpr auto kFields<MapDimension> = std::tuple{&MapDimension::extent, &MapDimension::box};
template <>
inline constexpr auto kFields<TensorMap> =
    std::tuple{&TensorMap::argument, &TensorMap::element, &TensorMap::dimensions};
template <>
inline constexpr auto kFields<Cost> =
    std::tuple{&Cost::operations, &Cost::bytes, &Cost::waves, &Cost::microseconds};
template <>
inline constexpr auto kFields<Plan> = std::tuple{&Plan::name, &Plan::cost};
template <>
inline constexpr auto kFields<CudaKernel> =
    std::tuple{&CudaKernel::text,         &CudaKernel::entry,    &CudaKernel::threads,
               &CudaKernel::blocks,       &CudaKernel::resident, &CudaKernel::shared_bytes,
               &CudaKernel::maps,         &CudaKernel::split,    &CudaKernel::workspace,
               &CudaKernel::plans,        &CudaKernel::reason,   &CudaKernel::no_warpgroups,
               &CudaKernel::no_eight_bits};
template <>
inline constexpr auto kFields<CudaTarget> = std::tuple{&CudaTarget::chip, &CudaTarget::kernels};
template <>
inline constexpr auto kFields<Manifest> = std::tuple{&Manifest::model,
                                                     &Manifest::halftone_version,
                                                     &Manifest::description,
                                                     &Manifest::structure,
                                                     &Manifest::symbols,
                                                     &Manifest::limits,
                                                     &Manifest::variants,
                                                     &Manifest::parameter_elements,
                                                     &Manifest::trained_elements,
                                                     &Manifest::parameters,
                                                     &Manifest::inputs,
                                                     &Manifest::input_gradients,
                                                     &Manifest::outputs,
                                                     &Manifest::losses,
                                                     &Manifest::kept_states,
                                                     &Manifest::learning_rate,
                                                     &Manifest::rules,
                                                     &Manifest::loss_scale,
                                                     &Manifest::decisions,
                                                     &Manifest::targets,
                                                     &Manifest::stages,
                                                     &Manifest::during,
                                                     &Manifest::assumed,
                                                     &Manifest::text_count,
                                                     &Manifest::kernels,
                                                     &Manifest::cuda,
                                                     &Manifest::programs};

template <class T>
concept HasFields = !std::is_same_v<std::remove_cv_t<decltype(kFields<T>)>, int>;

/// The last enumerator, for the check of what was read.
template <class Enum>
inline constexpr Enum kLast = Enum{};
template <>
inline constexpr Element kLast<Element> = static_cast<Element>(encoding::kElements - 1);
template <>
inline constexpr auto kLast<encoding::Scaling::Kind> = encoding::Scaling::Kind::column;
template <>
inline constexpr auto kLast<encoding::Rounding> = encoding::Rounding::stochastic;
template <>
inline constexpr Role kLast<Role> = Role::scales;
template <>
inline constexpr Phase kLast<Phase> = static_cast<Phase>(kPhases - 1);
template <>
inline constexpr ValueRole kLast<ValueRole> = ValueRole::optimizer_state;
template <>
inline constexpr Pass kLast<Pass> = Pass::none;
template <>
inline constexpr LossScale::Kind kLast<LossScale::Kind> = LossScale::Kind::dynamic;
template <>
inline constexpr Initializer::Kind kLast<Initializer::Kind> = Initializer::Kind::orthogonal;

}  // namespace halftone::manifest
