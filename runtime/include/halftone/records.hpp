// SPDX-License-Identifier: Apache-2.0
// Boost.Hana's structs and maps as batches, results and hyperparameters of typed trainers and
// predictors (signature.hpp), and inputs and outputs as maps. Nothing else here needs Boost.
#pragma once

#if !__has_include(<boost/hana/version.hpp>)
#error \
    "halftone/records.hpp needs Boost.Hana: install the Debian package libboost-dev, or put Boost 1.74 or later on the include path"
#else

#include <array>
#include <boost/hana/accessors.hpp>
#include <boost/hana/adapt_adt.hpp>
#include <boost/hana/adapt_struct.hpp>
#include <boost/hana/at.hpp>
#include <boost/hana/at_key.hpp>
#include <boost/hana/concept/struct.hpp>
#include <boost/hana/define_struct.hpp>
#include <boost/hana/first.hpp>
#include <boost/hana/keys.hpp>
#include <boost/hana/map.hpp>
#include <boost/hana/pair.hpp>
#include <boost/hana/second.hpp>
#include <boost/hana/string.hpp>
#include <boost/hana/tuple.hpp>
#include <concepts>
#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

#include "halftone/record_calls.hpp"
#include "halftone/signature.hpp"

namespace halftone {

namespace records {

/// The text of every key.
template <template <class...> class Sequence, class... Keys>
consteval std::array<const char*, sizeof...(Keys)> texts(std::type_identity<Sequence<Keys...> >) {
  static_assert((std::same_as<boost::hana::tag_of_t<Keys>, boost::hana::string_tag> && ...),
                "every key of a record is a hana::string");
  return {Keys::c_str()...};
}

}  // namespace records

/// A struct of BOOST_HANA_DEFINE_STRUCT, BOOST_HANA_ADAPT_STRUCT or BOOST_HANA_ADAPT_ADT.
template <class Type>
  requires(boost::hana::Struct<Type>::value)
struct RecordAccess<Type> {
  template <class... Pairs>
  static auto keys(const boost::hana::tuple<Pairs...>&) -> boost::hana::tuple<
      std::remove_cvref_t<decltype(boost::hana::first(std::declval<Pairs>()))>...>;
  static constexpr auto names =
      records::texts(std::type_identity<decltype(keys(boost::hana::accessors<Type>()))>{});

  template <std::size_t Index>
  static constexpr decltype(auto) get(auto& record) {
    return boost::hana::second(boost::hana::at_c<Index>(boost::hana::accessors<Type>()))(record);
  }
};

/// A map with a hana::string for every member.
template <class Type>
  requires(std::same_as<boost::hana::tag_of_t<Type>, boost::hana::map_tag>)
struct RecordAccess<Type> {
  using Keys = decltype(boost::hana::keys(std::declval<const Type&>()));
  static constexpr auto names = records::texts(std::type_identity<Keys>{});

  template <std::size_t Index>
  static constexpr decltype(auto) get(auto& record) {
    return boost::hana::at_key(record, boost::hana::at_c<Index>(Keys{}));
  }
};

namespace records {

template <class Name, std::size_t... I>
constexpr auto key_of(std::index_sequence<I...>) {
  return boost::hana::string_c<Name::text[I]...>;
}
/// The hana::string of Name::text.
template <class Name>
constexpr auto key() {
  return key_of<Name>(std::make_index_sequence<std::string_view(Name::text).size()>{});
}
template <class Signature, std::size_t Index>
struct InputName {
  static constexpr const char* text = Signature::inputs[Index].name;
};
template <class Signature, std::size_t Index>
struct OutputName {
  static constexpr const char* text = Signature::outputs[Index].name;
};

struct MapInputs : AllInputs {
  static constexpr const char* name = "input_map";
  template <class Signature, std::size_t Index, class Member>
  static constexpr bool takes = AllInputs::takes<Signature, Index, Member> && Lasting<Member>;
};

}  // namespace records

/// A batch's inputs as a map from hana::string to std::span, in the model's order; it shows the
/// batch's own memory. Signature is models::<model>::Signature.
template <class Signature, records::FitsFor<records::MapInputs, Signature> Batch>
auto input_map(const Batch& batch) {
  return records::Call<records::MapInputs, Signature, Batch>::pass(batch, [](auto... inputs) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return boost::hana::make_map(
          boost::hana::make_pair(records::key<records::InputName<Signature, I> >(), inputs)...);
    }(std::index_sequence_for<decltype(inputs)...>{});
  });
}
template <class Signature, Record Batch>
decltype(records::Refusal<records::Call<records::MapInputs, Signature, Batch> >::of()) input_map(
    const Batch& batch);

namespace records {

template <class Signature>
auto output_map(const auto& typed) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return boost::hana::make_map(boost::hana::make_pair(
        key<OutputName<Signature, I> >(), typed.output(Signature::outputs[I].output))...);
  }(std::make_index_sequence<Signature::outputs.size()>{});
}

}  // namespace records

/// The outputs of a typed trainer or predictor as a map from hana::string to
/// std::span<const float>.
template <class Typed, class Signature>
auto output_map(const TrainerRecords<Typed, Signature>& trainer) {
  return records::output_map<Signature>(static_cast<const Typed&>(trainer));
}
template <class Typed, class Signature>
auto output_map(const PredictorRecords<Typed, Signature>& predictor) {
  return records::output_map<Signature>(static_cast<const Typed&>(predictor));
}

}  // namespace halftone
#endif
