// SPDX-License-Identifier: Apache-2.0
// long_convolution: D101 and D102. Each channel of each sequence stands for itself.
#pragma once

#include <optional>

#include "../matrix_transforms.hpp"

namespace halftone::reference {

struct LongConvolution : LayerKind {
  static constexpr std::string_view word = "long_convolution";
  static constexpr std::array internals{std::string_view("transforms")};
  static constexpr bool reads(std::string_view read, std::string_view wanted) {
    return read != wanted;
  }

  // D101
  template <class Scalar>
  static Values<Scalar> result(const Layer<Scalar>& layer) {
    const Sizes sizes(layer);
    const Transforms<Scalar> transforms(layer, sizes.places);
    Values<Scalar> y(layer["x"].size());
    for (std::int64_t c = 0; c < sizes.channels; ++c) {
      const Spectrum<Scalar> filter = sizes.spectrum(layer["filter"], 0, c, transforms);
      for (std::int64_t i = 0; i < sizes.sequences; ++i)
        sizes.put(y, i, c, product(sizes.spectrum(layer["x"], i, c, transforms), filter),
                  transforms);
    }
    return y;
  }

  // D102
  template <class Scalar>
  static OperandGradients<Scalar> gradients(const Layer<Scalar>& layer, View<Scalar> g) {
    const Sizes sizes(layer);
    const Transforms<Scalar> transforms(layer, sizes.places);
    OperandGradients<Scalar> gradients(layer.operands.size());
    const bool of_x = layer.wants("x"), of_filter = layer.wants("filter");
    Values<Scalar> to_x(of_x ? g.size() : 0),
        to_filter(of_filter ? sizes.places * sizes.channels : 0);
    for (std::int64_t c = 0; c < sizes.channels; ++c) {
      Spectrum<Scalar> filter;
      if (of_x) filter = sizes.spectrum(layer["filter"], 0, c, transforms);
      Values<Scalar> products;  // (sequences, places of the spectrum, 2)
      for (std::int64_t i = 0; i < sizes.sequences; ++i) {
        const Spectrum<Scalar> arriving = sizes.spectrum(g, i, c, transforms);
        if (of_x) sizes.put(to_x, i, c, product_with_conjugate(arriving, filter), transforms);
        if (!of_filter) continue;
        for (const Complex<Scalar>& element :
             product_with_conjugate(arriving, sizes.spectrum(layer["x"], i, c, transforms)))
          products.insert(products.end(), {element.real, element.imaginary});
      }
      if (of_filter) {
        if (layer.extents.size() > 2)
          products = column_sums(View<Scalar>(products), 2 * spectrum_places(sizes.places));
        sizes.put(to_filter, 0, c, spectrum_of(products), transforms);
      }
    }
    if (of_x) gradients[layer.position("x")] = to_x;
    if (of_filter) gradients[layer.position("filter")] = to_filter;
    return gradients;
  }

 private:
  // Z2 and Z3, or Z8 and Z10 where rules round what products of matrices multiply.
  template <class Scalar>
  class Transforms {
   public:
    Transforms(const Layer<Scalar>& layer, std::int64_t length) {
      const auto to = layer.internals.find("transforms");
      if (to == layer.internals.end() || to->second.format == description::Element::f32)
        turns_ = spectrum_turns<Scalar>(spectrum_places(length));
      else
        products_.emplace(to->second, spectrum_places(length));
    }

    template <class Value>
    Spectrum<Scalar> there(std::int64_t length, Value value) const {
      return products_ ? products_->transformed(length, value)
                       : transformed<Scalar>(length, value, turns_);
    }
    [[nodiscard]] Values<Scalar> back(std::int64_t length, const Spectrum<Scalar>& spectrum) const {
      return products_ ? products_->transformed_back(length, spectrum)
                       : transformed_back(length, spectrum, turns_);
    }

   private:
    std::optional<MatrixTransforms<Scalar>> products_;
    Spectrum<Scalar> turns_;  ///< without them
  };

  struct Sizes {
    std::int64_t sequences, places, channels;

    template <class Scalar>
    explicit Sizes(const Layer<Scalar>& layer)
        : places(layer.operand("filter").extents[0]), channels(layer.operand("filter").extents[1]) {
      sequences = count(layer.extents) / (places * channels);
    }

    [[nodiscard]] std::int64_t at(std::int64_t sequence, std::int64_t channel,
                                  std::int64_t t) const {
      return (sequence * places + t) * channels + channel;
    }

    template <class Scalar>
    Spectrum<Scalar> spectrum(View<Scalar> values, std::int64_t sequence, std::int64_t channel,
                              const Transforms<Scalar>& transforms) const {
      return transforms.there(places,
                              [&](std::int64_t t) { return values[at(sequence, channel, t)]; });
    }

    template <class Scalar>
    void put(Values<Scalar>& values, std::int64_t sequence, std::int64_t channel,
             const Spectrum<Scalar>& spectrum, const Transforms<Scalar>& transforms) const {
      const Values<Scalar> back = transforms.back(places, spectrum);
      for (std::int64_t t = 0; t < places; ++t) values[at(sequence, channel, t)] = back[t];
    }
  };

  template <class Scalar>
  static Spectrum<Scalar> spectrum_of(const Values<Scalar>& parts) {
    Spectrum<Scalar> result(parts.size() / 2);
    for (std::size_t k = 0; k < result.size(); ++k) result[k] = {parts[2 * k], parts[2 * k + 1]};
    return result;
  }
};

}  // namespace halftone::reference
