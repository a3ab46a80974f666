// SPDX-License-Identifier: Apache-2.0
// How much sentences mean the same, by all-MiniLM-L6-v2 of fetch_weights:
//   minilm FOLDER [--rules bf16] SENTENCE SENTENCE...    prints the cosine of every two
//   minilm FOLDER [--rules bf16] --npy FILE              writes a vector for every line of the
//   input
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <halftone/npy.hpp>
#include <iostream>
#include <minilm_bf16_model.hpp>
#include <minilm_f16_model.hpp>
#include <minilm_f32_model.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "word_pieces.hpp"

namespace {

constexpr std::size_t kColumns = 384, kMostPieces = 256;

/// Hugging Face's names of a BERT's parameters, and those of minilm.hpp.
const halftone::LoadOptions kNames{
    .names = {{"embeddings.word_embeddings.*", "word.*"},
              {"embeddings.token_type_embeddings.*", "type.*"},
              {"embeddings.position_embeddings.*", "place.*"},
              {"embeddings.LayerNorm.*", "norm.*"},
              {"encoder.layer.*.attention.self.*", "block/*/*"},
              {"encoder.layer.*.attention.output.dense.*", "block/*/join.*"},
              {"encoder.layer.*.attention.output.LayerNorm.*", "block/*/norm1.*"},
              {"encoder.layer.*.intermediate.dense.*", "block/*/fc1.*"},
              {"encoder.layer.*.output.dense.*", "block/*/fc2.*"},
              {"encoder.layer.*.output.LayerNorm.*", "block/*/norm2.*"},
              {"embeddings.position_ids", ""},
              {"pooler.*", ""}}};

/// Sentences in rows as long as the longest one.
struct Batch {
  std::size_t times = 0;
  std::vector<std::int32_t> pieces, types, length;
  std::vector<float> share;
};

Batch batch_of(const WordPieces& vocabulary, const std::vector<std::string>& sentences) {
  std::vector<std::vector<std::int32_t>> rows;
  Batch batch;
  for (const std::string& sentence : sentences) {
    rows.push_back(vocabulary.encode(sentence, kMostPieces));
    batch.times = std::max(batch.times, rows.back().size());
  }
  for (std::vector<std::int32_t>& row : rows) {
    const std::size_t length = row.size();
    batch.length.push_back(static_cast<std::int32_t>(length));
    row.resize(batch.times);
    batch.pieces.insert(batch.pieces.end(), row.begin(), row.end());
    for (std::size_t i = 0; i < batch.times; ++i)
      batch.share.push_back(i < length ? 1.0f / static_cast<float>(length) : 0.0f);
  }
  batch.types.resize(batch.pieces.size());
  return batch;
}

/// A vector of length 1 for every sentence, one behind the other.
template <class Predictor>
std::vector<float> vectors_of(const halftone::Artifact& artifact, const std::string& folder,
                              const Batch& batch) {
  Predictor model(artifact, halftone::Device::best(artifact),
                  {.batch = batch.length.size(), .times = batch.times});
  model.load_weights(folder + "/model.safetensors", kNames);
  const auto found = model.predict(batch.pieces, batch.types, batch.length, batch.share).vector;
  std::vector<float> vectors(found.begin(), found.end());
  for (std::size_t at = 0; at < vectors.size(); at += kColumns) {
    const std::span row = std::span(vectors).subspan(at, kColumns);
    double squares = 0;
    for (const float value : row) squares += double{value} * double{value};
    for (float& value : row) value = static_cast<float>(double{value} / std::sqrt(squares));
  }
  return vectors;
}

std::vector<float> vectors_of(const std::string& rules, const std::string& folder,
                              const Batch& batch) {
  namespace m = models;
  if (rules == "f32")
    return vectors_of<m::minilm_f32::Predictor>(m::minilm_f32::artifact(), folder, batch);
  if (rules == "bf16")
    return vectors_of<m::minilm_bf16::Predictor>(m::minilm_bf16::artifact(), folder, batch);
  if (rules == "f16")
    return vectors_of<m::minilm_f16::Predictor>(m::minilm_f16::artifact(), folder, batch);
  throw std::runtime_error("there are no rules '" + rules + "': give f32, bf16 or f16");
}

void print_cosines(const std::vector<std::string>& sentences, const std::vector<float>& vectors) {
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    for (std::size_t j = 0; j < sentences.size(); ++j) {
      double cosine = 0;
      for (std::size_t k = 0; k < kColumns; ++k)
        cosine += double{vectors[i * kColumns + k]} * double{vectors[j * kColumns + k]};
      std::printf("%6.3f ", cosine);
    }
    std::printf(" %s\n", sentences[i].c_str());
  }
}

void run(int count, char** values) {
  std::string rules = "f32", file;
  std::vector<std::string> words;
  for (int i = 1; i < count; ++i) {
    const std::string word = values[i];
    const bool is_option = (word == "--rules" || word == "--npy") && i + 1 < count;
    if (is_option)
      (word == "--npy" ? file : rules) = values[++i];
    else
      words.push_back(word);
  }
  std::vector<std::string> sentences(words.begin() + !words.empty(), words.end());
  if (!file.empty())
    for (std::string line; std::getline(std::cin, line);) sentences.push_back(line);
  if (sentences.empty())
    throw std::runtime_error(
        "usage: minilm FOLDER [--rules f32|bf16|f16] SENTENCE..., or --npy "
        "FILE and lines to read");
  const Batch batch = batch_of(WordPieces(words[0] + "/vocab.txt"), sentences);
  const std::vector<float> vectors = vectors_of(rules, words[0], batch);
  if (file.empty())
    print_cosines(sentences, vectors);
  else
    halftone::save_npy(file, vectors,
                       std::vector{static_cast<std::int64_t>(sentences.size()),
                                   static_cast<std::int64_t>(kColumns)});
}

}  // namespace

int main(int count, char** values) {
  try {
    run(count, values);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "minilm: %s\n", error.what());
    return 1;
  }
}
