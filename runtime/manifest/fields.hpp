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
inline constexpr auto kFields<Dimension> = std::tuple{&Dimension::extent, &Dimension::symbol};
template <>
inline constexpr auto kFields<Buffer> = std::tuple{&Buffer::name,  &Buffer::role, &Buffer::format,
                                                   &Buffer::shape, &Buffer::slot, &Buffer::initial};
template <>
inline constexpr auto kFields<Slot> = std::tuple{&Slot::tenants};
template <>
inline constexpr auto kFields<Initializer> =
    std::tuple{&Initializer::kind, &Initializer::first, &Initializer::second};
template <>
inline constexpr auto kFields<Parameter> =
    std::tuple{&Parameter::name, &Parameter::shape, &Parameter::offset, &Parameter::trained,
               &Parameter::initializer};
template <>
inline constexpr auto kFields<TaskAxis> = std::tuple{&TaskAxis::extent, &TaskAxis::tile};
template <>
inline constexpr auto kFields<Argument> = std::tuple{&Argument::buffer, &Argument::offset};
template <>
inline constexpr auto kFields<Kernel> =
    std::tuple{&Kernel::name,  &Kernel::skeleton,  &Kernel::fused,
               &Kernel::tasks, &Kernel::cpu_entry, &Kernel::cpu_finish};
template <>
inline constexpr auto kFields<Launch> = std::tuple{&Launch::kernel, &Launch::arguments};
template <>
inline constexpr auto kFields<Program> =
    std::tuple{&Program::name, &Program::buffers, &Program::slots, &Program::phases,
               &Program::loss_without_output};
template <>
inline constexpr auto kFields<Output> =
    std::tuple{&Output::name, &Output::buffer, &Output::gradient};
template <>
inline constexpr auto kFields<Manifest> = std::tuple{&Manifest::model,
                                                     &Manifest::halftone_version,
                                                     &Manifest::description,
                                                     &Manifest::symbols,
                                                     &Manifest::variants,
                                                     &Manifest::parameter_elements,
                                                     &Manifest::trained_elements,
                                                     &Manifest::parameters,
                                                     &Manifest::inputs,
                                                     &Manifest::outputs,
                                                     &Manifest::losses,
                                                     &Manifest::learning_rate,
                                                     &Manifest::kernels,
                                                     &Manifest::programs};

template <class T>
concept HasFields = !std::is_same_v<std::remove_cv_t<decltype(kFields<T>)>, int>;

/// The last enumerator, for the check of what was read.
template <class Enum>
inline constexpr Enum kLast = Enum{};
template <>
inline constexpr Format kLast<Format> = Format::i32;
template <>
inline constexpr Role kLast<Role> = Role::statistic;
template <>
inline constexpr Initializer::Kind kLast<Initializer::Kind> = Initializer::Kind::normal;

}  // namespace halftone::manifest
