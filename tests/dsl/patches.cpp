// SPDX-License-Identifier: Apache-2.0
// Patches of images as tokens (Dosovitskiy et al. 2021, ViT): one row of numbers for each patch,
// which a linear layer embeds. The three ways to write them give one result, that of the sums.
#include <doctest/doctest.h>

#include <halftone/reference/evaluator.hpp>
#include <vector>

#include "described.hpp"

using namespace specs;

namespace {

constexpr int kImages = 2, kHigh = 6, kWide = 8, kChannels = 3, kPatchHigh = 3, kPatchWide = 2;
constexpr int kRows = kHigh / kPatchHigh, kColumns = kWide / kPatchWide, kTokens = kRows * kColumns;
constexpr int kPlaces = kPatchHigh * kPatchWide, kNumbers = kPlaces * kChannels, kFeatures = 5;

constexpr auto image = tensor("image", batch, kHigh, kWide, kChannels);

/// Windows that lie side by side.
constexpr auto by_convolution = model(
    "by_convolution", inputs(image),
    from("image") |
        conv2d("embed", kFeatures, kernel(kPatchHigh, kPatchWide), stride(kPatchHigh, kPatchWide)) |
        reshape("tokens", batch, kTokens, kFeatures) | output("tokens"));

/// A patch's places as channels, whose numbers are counted channel by channel.
constexpr auto by_unshuffle =
    model("by_unshuffle", inputs(image),
          from("image") | pixel_unshuffle("places", factor(kPatchHigh, kPatchWide)) |
              reshape("patches", batch, kTokens, kNumbers) | linear("embed", kFeatures) |
              output("tokens"));

/// Views and a transposition.
constexpr auto by_axes = model(
    "by_axes", inputs(image),
    from("image") | reshape("apart", batch, kRows, kPatchHigh, kColumns, kPatchWide* kChannels) |
        transpose("turned", 0, 1, 3, 2, 4) | reshape("patches", batch, kTokens, kNumbers) |
        linear("embed", kFeatures) | output("tokens"));

double number(int index, int salt) { return ((index * (7919 + salt) + salt) % 201 - 100) / 64.0; }

/// The element of `image` at (row, column, channel) of a patch.
int place_in_image(int of, int token, int row, int column, int channel) {
  const int y = token / kColumns * kPatchHigh + row, x = token % kColumns * kPatchWide + column;
  return ((of * kHigh + y) * kWide + x) * kChannels + channel;
}

struct Results {
  std::vector<double> tokens, of_weight;
};

/// `place_of` says where a way keeps the weight of a place and a channel of a patch.
template <int N, class PlaceOf>
Results results_of(const Model<N>& model, PlaceOf place_of) {
  namespace reference = halftone::reference;
  const reference::Exact evaluator(described(model), {{"batch", kImages}});
  std::vector<double> weight(kFeatures * kNumbers), bias;
  for (int feature = 0; feature < kFeatures; ++feature) {
    bias.push_back(number(feature, 3));
    for (int place = 0; place < kPlaces; ++place) {
      for (int channel = 0; channel < kChannels; ++channel)
        weight[feature * kNumbers + place_of(place, channel)] =
            number((feature * kPlaces + place) * kChannels + channel, 2);
    }
  }
  const auto state = evaluator.initial_state({{"embed.weight", weight}, {"embed.bias", bias}});
  reference::Inputs<double> inputs;
  for (int e = 0; e < kImages * kHigh * kWide * kChannels; ++e)
    inputs.values["image"].push_back(number(e, 1));
  const auto forward = evaluator.forward(state, inputs);
  std::vector<double> gradient;
  for (int e = 0; e < kImages * kTokens * kFeatures; ++e) gradient.push_back(number(e, 4));
  const auto gradients = evaluator.backward(forward, {{"tokens", gradient}});
  const std::vector<double>& of_weight = gradients[evaluator.find("embed.weight")];
  Results results{forward.values[evaluator.description().outputs[0].node], {}};
  for (int feature = 0; feature < kFeatures; ++feature) {
    for (int place = 0; place < kPlaces; ++place) {
      for (int channel = 0; channel < kChannels; ++channel)
        results.of_weight.push_back(of_weight[feature * kNumbers + place_of(place, channel)]);
    }
  }
  return results;
}

/// The sums, one after another; numbers are whole multiples of 1/64, so that nothing is rounded.
Results sums() {
  Results results{std::vector<double>(kImages * kTokens * kFeatures),
                  std::vector<double>(kFeatures * kNumbers)};
  for (int row = 0; row < kImages * kTokens; ++row) {
    for (int feature = 0; feature < kFeatures; ++feature) {
      double& token = results.tokens[row * kFeatures + feature];
      token = number(feature, 3);
      for (int n = 0; n < kNumbers; ++n) {
        const int place = n / kChannels, channel = n % kChannels;
        const int element = place_in_image(row / kTokens, row % kTokens, place / kPatchWide,
                                           place % kPatchWide, channel);
        token += number(element, 1) * number(feature * kNumbers + n, 2);
        results.of_weight[feature * kNumbers + n] +=
            number(element, 1) * number(row * kFeatures + feature, 4);
      }
    }
  }
  return results;
}

}  // namespace

TEST_CASE("patches by windows side by side, by pixel_unshuffle and by axes are one embedding") {
  const Results expected = sums();
  const auto places_first = [](int place, int channel) { return place * kChannels + channel; };
  const auto channels_first = [](int place, int channel) { return channel * kPlaces + place; };
  for (const Results& results :
       {results_of(by_convolution, places_first), results_of(by_unshuffle, channels_first),
        results_of(by_axes, places_first)}) {
    CHECK(results.tokens == expected.tokens);
    CHECK(results.of_weight == expected.of_weight);
  }
}
