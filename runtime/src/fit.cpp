// SPDX-License-Identifier: Apache-2.0
#include "halftone/fit.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "halftone/error.hpp"
#include "text.hpp"

namespace halftone {
namespace {

constexpr const char *kEpochsNote = "fit/epochs", *kLoaderNote = "fit/loader",
                     *kStopNote = "fit/stop_early", *kRateNote = "fit/reduce_on_plateau",
                     *kBestNote = "fit/best", *kChooserNote = "fit/chooser";
constexpr const char* kPrefix = "validation/";

[[noreturn]] void refuse(std::string object, std::string cause, std::string hint) {
  throw Error({.operation = "fit",
               .object = std::move(object),
               .cause = std::move(cause),
               .hint = std::move(hint)});
}

/// A run: what is decided between the steps.
class Fit {
 public:
  Fit(Trainer& trainer, Loader& loader, const FitOptions& options)
      : trainer_(trainer), loader_(loader), options_(options) {
    check();
    if (options.stop_early) stop_early_.emplace(*options.stop_early);
    if (options.reduce_on_plateau) reduce_.emplace(*options.reduce_on_plateau);
    result_.steps = trainer.stats().steps;
    if (!options.checkpoint.empty() && std::filesystem::exists(options.checkpoint)) resume();
  }

  FitResult run() {
    while (!has_ended_ && !is_over()) epoch();
    if (options_.validation && result_.metrics.empty()) look();  // of a run with nothing left to do
    if (saved_at_ != result_.steps) save(options_.checkpoint, options_.keep);
    result_.best = best_.best();
    return result_;
  }

 private:
  void check() {
    if (options_.epochs < 0) refuse("the number of epochs", "is negative", "give 0 or more");
    if (options_.steps < 0) refuse("the number of steps", "is negative", "give 0 or more");
    if (options_.save_every < 0)
      refuse("save_every", "is negative", "give a number of steps, or 0 for epochs alone");
    if (options_.save_every > 0 && options_.checkpoint.empty())
      refuse("save_every", "is given without a checkpoint", "name the file in `checkpoint`");
    if (!(options_.reduce_by > 0 && options_.reduce_by < 1))
      refuse("reduce_by", "is " + number_text(options_.reduce_by), "give a factor between 0 and 1");
    const auto& validation = options_.validation;
    if (validation && (validation->predictor == nullptr || validation->loader == nullptr))
      refuse("the validation", "lacks its predictor or its loader", "give both");
    if (!validation &&
        (options_.stop_early || options_.reduce_on_plateau || !options_.best.empty()))
      refuse(options_.stop_early          ? "stop_early"
             : options_.reduce_on_plateau ? "reduce_on_plateau"
                                          : "best",
             "is given without a validation to judge by",
             "give `validation` its predictor and loader");
    if (options_.stages && options_.chooser != nullptr)
      refuse("stages", "are given beside a chooser, which decides by the run", "give one of both");
    if (options_.stages) check_stages();
    const std::vector<std::string> losses = trainer_.loss_names();
    monitored_ = options_.monitor.empty() ? losses.front() : options_.monitor;
    if (std::ranges::find(losses, monitored_) == losses.end())
      refuse(named("monitored loss", monitored_), "is unknown",
             "the model's losses are " + listed(losses));
  }

  /// Before the first step: one that comes in hours is looked at now.
  void check_stages() const {
    const std::vector<std::string> known = trainer_.stages();
    for (const std::string& stage : options_.stages->stages()) {
      if (std::ranges::find(known, stage) != known.end()) continue;
      refuse("the stage '" + stage + "' of the schedule", "is none of the model's",
             known.empty() ? "give HALFTONE_MODEL stages(...) with its name"
                           : "the model's stages are " + listed(known));
    }
  }

  [[nodiscard]] bool is_over() {
    if (result_.epochs >= options_.epochs) result_.end = FitResult::End::epochs;
    const bool enough = result_.steps >= options_.steps;
    if (enough) result_.end = FitResult::End::steps;
    return enough || result_.epochs >= options_.epochs;
  }

  void end(FitResult::End why) {
    has_ended_ = true;
    result_.end = why;
  }

  /// The rest of one, where the loader stands inside of it.
  void epoch() {
    while (!has_ended_ && result_.steps < options_.steps) {
      const auto batch = loader_.next();
      if (!batch) return end_of_epoch();
      if (options_.stages) trainer_.enter(options_.stages->at(result_.steps));
      trainer_.step(batch->inputs);
      ++result_.steps;
      if (options_.log != nullptr) options_.log->step(trainer_);
      if (options_.chooser != nullptr) options_.chooser->after_step(trainer_, options_.log);
      if (options_.save_every > 0 && result_.steps % options_.save_every == 0)
        save(options_.checkpoint, options_.keep);
      if (options_.after_step && !options_.after_step(result_)) end(FitResult::End::caller);
    }
  }

  void end_of_epoch() {
    ++result_.epochs;
    if (options_.validation) validate();
    save(options_.checkpoint, options_.keep);
    if (options_.after_epoch && !options_.after_epoch(result_)) end(FitResult::End::caller);
  }

  /// The losses of the validation as they are.
  void look() {
    const Validation& validation = *options_.validation;
    if (validation.averages)
      validation.predictor->copy_averages(trainer_);
    else
      validation.predictor->copy_parameters(trainer_);
    validation.predictor->copy_states(trainer_);
    result_.metrics = evaluate(*validation.predictor, *validation.loader);
  }

  void validate() {
    look();
    if (options_.log != nullptr) options_.log->step(trainer_, result_.metrics);
    const double value =
        std::ranges::find(result_.metrics, kPrefix + monitored_, &Metric::name)->value;
    best_.update(value);
    if (best_.is_best()) save(options_.best, 0);
    if (reduce_ && reduce_->update(value))
      trainer_.set_learning_rate(trainer_.learning_rate() * options_.reduce_by);
    if (stop_early_ && stop_early_->update(value)) end(FitResult::End::plateau);
  }

  void save(const std::filesystem::path& file, int keep) {
    if (file.empty()) return;
    Notes notes = {{kEpochsNote, std::to_string(result_.epochs)},
                   {kLoaderNote, loader_.cursor()},
                   {kBestNote, best_.state()}};
    if (stop_early_) notes.emplace_back(kStopNote, stop_early_->state());
    if (reduce_) notes.emplace_back(kRateNote, reduce_->state());
    if (options_.chooser != nullptr) notes.emplace_back(kChooserNote, options_.chooser->state());
    trainer_.save(file, {.keep = keep, .background = true, .notes = std::move(notes)});
    if (file == options_.checkpoint) saved_at_ = result_.steps;
  }

  void resume() {
    const Resumed resumed = trainer_.resume(options_.checkpoint);
    const auto note = [&](const char* name) -> const std::string* {
      const auto found = std::ranges::find(resumed.notes, name, &Notes::value_type::first);
      return found == resumed.notes.end() ? nullptr : &found->second;
    };
    const auto required = [&](const char* name) -> const std::string& {
      if (const std::string* found = note(name)) return *found;
      refuse(
          named("file", options_.checkpoint.string()),
          std::string("is a checkpoint that fit() did not write: it lacks the note '") + name + "'",
          "resume the trainer yourself, and give fit() another file");
    };
    loader_.seek(required(kLoaderNote));
    result_.epochs = std::stoll(required(kEpochsNote));
    best_.restore(required(kBestNote));
    if (const std::string* state = note(kStopNote); state != nullptr && stop_early_)
      stop_early_->restore(*state);
    if (const std::string* state = note(kRateNote); state != nullptr && reduce_)
      reduce_->restore(*state);
    if (const std::string* state = note(kChooserNote);
        state != nullptr && options_.chooser != nullptr)
      options_.chooser->restore(*state);
    result_.steps = saved_at_ = resumed.steps;
  }

  Trainer& trainer_;
  Loader& loader_;
  const FitOptions& options_;
  std::string monitored_;
  std::optional<Plateau> stop_early_, reduce_;
  Plateau best_;
  FitResult result_;
  std::int64_t saved_at_ = -1;  ///< the step of the checkpoint
  bool has_ended_ = false;
};

}  // namespace

FitResult fit(Trainer& trainer, Loader& loader, const FitOptions& options) {
  FitResult result = Fit(trainer, loader, options).run();
  trainer.wait();
  trainer.finish_saving();
  return result;
}

Metrics evaluate(Predictor& predictor, Loader& loader) {
  const std::vector<std::string> names = predictor.loss_names();
  std::vector<double> sums(names.size(), 0.0);
  double rows = 0;
  while (const auto batch = loader.next()) {
    predictor.evaluate(batch->inputs);
    rows += static_cast<double>(batch->rows);
    for (std::size_t i = 0; i < names.size(); ++i)
      sums[i] += static_cast<double>(predictor.loss(names[i])) * static_cast<double>(batch->rows);
  }
  Metrics means;
  for (std::size_t i = 0; i < names.size(); ++i)
    means.push_back({kPrefix + names[i], sums[i] / rows});
  return means;
}

}  // namespace halftone
