// SPDX-License-Identifier: Apache-2.0
#include "sampling.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <future>

#include "noise.hpp"

namespace {

/// The model's guess of the noise.
std::span<const float> guess(halftone::Predictor& predictor, std::span<const float> noised,
                             std::int64_t level) {
  const std::size_t clips = noised.size() / kClip;
  const std::vector<std::int32_t> levels(clips, static_cast<std::int32_t>(level));
  const std::vector<float> clip_shares(clips * kColours, shares_at(level).clip);
  const std::vector<float> noise_shares(clips * kColours, shares_at(level).noise);
  const auto named = [](const char* name, const auto& values) {
    return halftone::NamedValues{name, std::span(values)};
  };
  predictor.predict(std::array{named("noised", noised), named("level", levels),
                               named("clip_share", clip_shares),
                               named("noise_share", noise_shares)});
  return predictor.output("guess");
}

float clip_without(float noise, float noised, Shares shares) {
  return std::clamp((noised - shares.noise * noise) / shares.clip, -1.0f, 1.0f);
}

/// The device with a share of its threads: predictions are independent, so that several at once
/// lose less time in waiting for each other's threads.
halftone::Device share_of(const halftone::Device& device, int shares) {
  if (device.driver()) return device;
  return device.with_threads(std::max(1, device.threads() / shares));
}

}  // namespace

void sample(halftone::Predictor& predictor, std::span<float> clips, const Sampling& sampling) {
  for (std::size_t i = 0; i < clips.size() / kClip; ++i) {
    halftone::RowDraws draws(sampling.seed, 0, sampling.first + static_cast<std::int64_t>(i));
    draw_noise(draws, clips.subspan(i * kClip, kClip));
  }
  for (std::int64_t step = sampling.steps; step > 0; --step) {
    const std::int64_t level = step * kLevels / sampling.steps - 1;
    const std::int64_t next = (step - 1) * kLevels / sampling.steps - 1;
    const Shares shares = shares_at(level), then = next < 0 ? Shares{} : shares_at(next);
    const std::span<const float> noise = guess(predictor, clips, level);
    for (std::size_t i = 0; i < clips.size(); ++i) {
      const float clip = clip_without(noise[i], clips[i], shares);
      clips[i] = then.clip * clip + then.noise * (clips[i] - shares.clip * clip) / shares.noise;
    }
  }
}

std::vector<float> sample(const RuleSet& rules, const halftone::Device& device,
                          const std::filesystem::path& weights, const InFlight& in_flight,
                          Sampling sampling) {
  std::vector<float> clips(static_cast<std::size_t>(in_flight.clips * kClip));
  std::atomic<std::int64_t> next = 0;
  const halftone::Device own = share_of(device, in_flight.predictors);
  const auto work = [&, sampling]() mutable {
    halftone::Predictor predictor = predictor_of(rules, own, in_flight.batch);
    predictor.load_weights(weights);
    while ((sampling.first = next.fetch_add(in_flight.batch)) < in_flight.clips) {
      const std::int64_t count = std::min(in_flight.batch, in_flight.clips - sampling.first);
      sample(predictor,
             std::span(clips).subspan(static_cast<std::size_t>(sampling.first * kClip),
                                      static_cast<std::size_t>(count * kClip)),
             sampling);
    }
  };
  std::vector<std::future<void>> workers;
  for (int i = 0; i < in_flight.predictors; ++i)
    workers.push_back(std::async(std::launch::async, work));
  for (std::future<void>& worker : workers) worker.get();
  return clips;
}

void restore(halftone::Predictor& predictor, std::span<float> clips, std::int64_t level) {
  const std::span<const float> noise = guess(predictor, clips, level);
  const Shares shares = shares_at(level);
  for (std::size_t i = 0; i < clips.size(); ++i)
    clips[i] = clip_without(noise[i], clips[i], shares);
}
