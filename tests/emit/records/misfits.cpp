// SPDX-License-Identifier: Apache-2.0
// Every sentence of halftone/records.hpp: a member too few, one too many and one of the wrong type.
#include <cases.hpp>

// EXPECT step_missing: step: the record has no member for the input 'class_' of model 'mixture';
// add it
namespace step_missing {
struct Record {
  RECORD(((Floats, features), (Floats, prior_log)), (Floats, features), (Integers, class_),
         (Floats, prior_log));
};
void use(Trainer& trainer, const Record& record) { trainer.step(record); }
}  // namespace step_missing

// EXPECT step_extra: step: the record's member 'klass' is no input of model 'mixture'
// ('features', 'class_', 'prior_log'); rename or remove it
namespace step_extra {
struct Record {
  RECORD(((Floats, features), (Integers, klass), (Floats, prior_log)), (Floats, features),
         (Integers, class_), (Floats, prior_log));
};
void use(Trainer& trainer, const Record& record) { trainer.step(record); }
}  // namespace step_extra

// EXPECT step_doubles: step: the record's member 'features' has the wrong type for that input of
// model 'mixture'; make it contiguous floats, such as std::vector<float> or std::span<const
// float>
namespace step_doubles {
struct Record {
  RECORD(((std::vector<double>, features), (Integers, class_), (Floats, prior_log)),
         (std::span<const float>, features), (Integers, class_), (Floats, prior_log));
};
void use(Trainer& trainer, const Record& record) { trainer.step(record); }
}  // namespace step_doubles

// EXPECT step_unsigned: step: the record's member 'class_' has the wrong type for that input of
// model 'mixture'; make it contiguous std::int32_t, such as std::vector<std::int32_t> or
// std::span<const std::int32_t>
namespace step_unsigned {
struct Record {
  RECORD(((Floats, features), (std::vector<unsigned>, class_), (Floats, prior_log)),
         (Floats, features), (Integers, class_), (Floats, prior_log));
};
void use(Trainer& trainer, Record record) { trainer.step(record); }
}  // namespace step_unsigned

// EXPECT accumulate_scalar: accumulate: the record's member 'prior_log' has the wrong type for
// that input of model 'mixture'; make it contiguous floats, such as std::vector<float> or
// std::span<const float>
namespace accumulate_scalar {
struct Record {
  RECORD(((Floats, features), (Integers, class_), (float, prior_log)), (Floats, features),
         (Integers, class_), (Floats, prior_log));
};
void use(Trainer& trainer, const Record& record) { trainer.accumulate(record); }
}  // namespace accumulate_scalar

// EXPECT forward_missing: forward: the record has no member for the input 'prior_log' of model
// 'mixture'; add it
namespace forward_missing {
struct Record {
  RECORD(((Floats, features)), (Floats, features), (Floats, prior_log));
};
void use(Trainer& trainer, const Record& record) { trainer.forward(record); }
}  // namespace forward_missing

// EXPECT forward_with_labels_missing: forward: the record has no member for the input 'features'
// of model 'mixture'; add it
namespace forward_with_labels_missing {
struct Record {
  RECORD(((Integers, class_), (Floats, prior_log)), (Floats, features), (Integers, class_),
         (Floats, prior_log));
};
void use(Trainer& trainer, const Record& record) { trainer.forward(record); }
}  // namespace forward_with_labels_missing

// EXPECT predict_missing: predict: the record has no member for the input 'prior_log' of model
// 'mixture'; add it
namespace predict_missing {
struct Record {
  RECORD(((Floats, features), (Integers, class_)), (Floats, features), (Floats, prior_log));
};
void use(Predictor& predictor, const Record& record) {
  auto outputs = predictor.predict(record);
  (void)outputs;
}
}  // namespace predict_missing

// EXPECT predict_extra: predict: the record's member 'prior' is no input of model 'mixture'
// ('features', 'class_', 'prior_log'); rename or remove it
namespace predict_extra {
struct Record {
  RECORD(((Floats, features), (Floats, prior_log), (Floats, prior)), (Floats, features),
         (Integers, class_), (Floats, prior_log));
};
void use(Predictor& predictor, const Record& record, Results& results) {
  predictor.predict(record, results);
}
}  // namespace predict_extra

// EXPECT predict_into_missing: predict: the record has no member for the output 'evidence_alone'
// of model 'mixture'; add it
namespace predict_into_missing {
struct Record {
  RECORD(((Floats, scores)), (Floats, scores), (Floats, evidence_alone));
};
void use(Predictor& predictor, const Batch& batch, Record& record) {
  predictor.predict(batch, record);
}
}  // namespace predict_into_missing

// EXPECT predict_into_extra: predict: the record's member 'error' is no output of model 'mixture'
// ('scores', 'evidence_alone'); rename or remove it
namespace predict_into_extra {
struct Record {
  RECORD(((Floats, scores), (Floats, evidence_alone), (float, error)), (Floats, scores),
         (Floats, evidence_alone));
};
void use(Predictor& predictor, const Batch& batch, Record& record) {
  predictor.predict(batch, record);
}
}  // namespace predict_into_extra

// EXPECT predict_into_doubles: predict: the record's member 'scores' has the wrong type for that
// output of model 'mixture'; make it a std::span<const float>, which shows the output, or a
// std::vector<float>, a std::array of floats or a std::span<float>, into which it is copied
namespace predict_into_doubles {
struct Record {
  RECORD(((std::vector<double>, scores), (Floats, evidence_alone)), (Floats, scores),
         (Floats, evidence_alone));
};
void use(Predictor& predictor, const Batch& batch, Record& record) {
  predictor.predict(batch, record);
}
}  // namespace predict_into_doubles

// EXPECT predictor_reads_extra: read_outputs: the record's member 'probabilities' is no output of
// model 'mixture' ('scores', 'evidence_alone'); rename or remove it
namespace predictor_reads_extra {
struct Record {
  RECORD(((Floats, probabilities), (Floats, evidence_alone)), (Floats, scores),
         (Floats, evidence_alone));
};
void use(const Predictor& predictor, Record& record) { predictor.read_outputs(record); }
}  // namespace predictor_reads_extra

// EXPECT trainer_reads_missing: read_outputs: the record has no member for the output 'scores' of
// model 'mixture'; add it
namespace trainer_reads_missing {
struct Record {
  RECORD(((Floats, evidence_alone)), (Floats, scores), (Floats, evidence_alone));
};
void use(const Trainer& trainer, Record& record) { trainer.read_outputs(record); }
}  // namespace trainer_reads_missing

// EXPECT hyperparameter_missing: set_hyperparameters: the record has no member for the
// hyperparameter 'learning_rate' of model 'mixture'; add it
namespace hyperparameter_missing {
#ifdef BROKEN
constexpr auto settings = boost::hana::make_map();
#else
constexpr auto settings =
    boost::hana::make_map(boost::hana::make_pair(BOOST_HANA_STRING("learning_rate"), 0.5f));
#endif
void use(Trainer& trainer) { trainer.set_hyperparameters(settings); }
}  // namespace hyperparameter_missing

// EXPECT hyperparameter_extra: set_hyperparameters: the record's member 'momentum' is no
// hyperparameter of model 'mixture' ('learning_rate', 'weight_decay'); rename or remove it
namespace hyperparameter_extra {
struct Record {
  RECORD(((float, learning_rate), (float, momentum)), (float, learning_rate));
};
void use(Trainer& trainer, const Record& record) { trainer.set_hyperparameters(record); }
}  // namespace hyperparameter_extra

// EXPECT hyperparameter_integer: set_hyperparameters: the record's member 'weight_decay' has the
// wrong type for that hyperparameter of model 'mixture'; make it a float
namespace hyperparameter_integer {
struct Record {
  RECORD(((float, learning_rate), (int, weight_decay)), (float, learning_rate),
         (float, weight_decay));
};
void use(Trainer& trainer, const Record& record) { trainer.set_hyperparameters(record); }
}  // namespace hyperparameter_integer

// EXPECT hyperparameter_double: read_hyperparameters: the record's member 'learning_rate' has the
// wrong type for that hyperparameter of model 'mixture'; make it a float
namespace hyperparameter_double {
struct Record {
  RECORD(((double, learning_rate)), (float, learning_rate));
};
void use(const Trainer& trainer, Record& record) { trainer.read_hyperparameters(record); }
}  // namespace hyperparameter_double

// EXPECT input_map_missing: input_map: the record has no member for the input 'features' of model
// 'mixture'; add it
namespace input_map_missing {
struct Record {
  RECORD(((Integers, class_), (Floats, prior_log)), (Floats, features), (Integers, class_),
         (Floats, prior_log));
};
void use(const Record& record) {
  auto map = halftone::input_map<Signature>(record);
  (void)map;
}
}  // namespace input_map_missing

// EXPECT into_constant: predict: the record's member 'scores' has the wrong type for that output of
// model 'mixture'; make it a std::span<const float>, which shows the output, or a
// std::vector<float>, a std::array of floats or a std::span<float>, into which it is copied
#ifdef BROKEN
void use(Predictor& predictor, const Batch& batch, const Results& results) {
#else
void use(Predictor& predictor, const Batch& batch, Results& results) {
#endif
  predictor.predict(batch, results);
}

// EXPECT map_with_an_extra_key: step: the record's member 'label' is no input of model 'mixture'
// ('features', 'class_', 'prior_log'); rename or remove it
#ifdef BROKEN
#define KEY BOOST_HANA_STRING("label")
#else
#define KEY BOOST_HANA_STRING("class_")
#endif
void use_map(Trainer& trainer, const Batch& batch) {
  using boost::hana::make_pair;
  trainer.step(boost::hana::make_map(make_pair(BOOST_HANA_STRING("features"), batch.features),
                                     make_pair(KEY, batch.class_),
                                     make_pair(BOOST_HANA_STRING("prior_log"), batch.prior_log)));
}

// EXPECT map_of_a_temporary: input_map: the record's member 'features' has the wrong type for that
// input of model 'mixture'; make it contiguous floats, such as std::vector<float> or
// std::span<const float>
struct Sheet {
  Batch batch;
#ifdef BROKEN
  Floats features() const { return batch.features; }
#else
  const Floats& features() const { return batch.features; }
#endif
};
BOOST_HANA_ADAPT_ADT(Sheet,
                     (features, [](const Sheet& s) -> decltype(auto) { return s.features(); }),
                     (class_, [](const Sheet& s) -> const auto& { return s.batch.class_; }),
                     (prior_log, [](const Sheet& s) -> const auto& { return s.batch.prior_log; }));
void use_sheet(const Sheet& sheet) {
  auto map = halftone::input_map<Signature>(sheet);
  (void)map;
}
