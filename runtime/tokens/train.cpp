// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <queue>
#include <string>
#include <utility>

#include "byte_characters.hpp"
#include "text.hpp"
#include "vocabulary.hpp"
#include "word_end.hpp"
#include "word_table.hpp"

namespace halftone {
namespace tokens {
namespace {

constexpr std::uint32_t kEnd = ~std::uint32_t{0};

/// Says how far training is, some times a second.
class Reporter {
 public:
  explicit Reporter(const TokenizerTraining& options) : progress_(options.progress) {}

  void read(std::size_t bytes) {
    bytes_ += static_cast<std::int64_t>(bytes);
    if (++words_ % 1024 == 0) made(kBytes);
  }
  void made(std::size_t tokens) {
    if (progress_ && std::chrono::steady_clock::now() - last_ >= std::chrono::milliseconds(200))
      say(tokens);
  }
  void say(std::size_t tokens) {
    last_ = std::chrono::steady_clock::now();
    if (progress_) progress_({bytes_, static_cast<std::int64_t>(tokens)});
  }

 private:
  const std::function<void(const TokenizerProgress&)>& progress_;
  std::int64_t bytes_ = 0;
  std::size_t words_ = 0;
  std::chrono::steady_clock::time_point last_{};
};

using Words = WordTable<std::int64_t>;

Words counted_words(std::span<const std::string_view> texts, Reporter& report) {
  Words words;
  for (const std::string_view text : texts) {
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = word_end(text, begin);
      ++words.insert(text.substr(begin, end - begin)).first;
      report.read(end - begin);
      begin = end;
    }
  }
  return words;
}

/// All different words, as tokens in one array, and how often each pair stands in the texts. Both
/// follow every merge by what it changes alone.
class Corpus {
 public:
  Corpus(const Words& words, const Tokenizer::Vocabulary& vocabulary) {
    std::uint64_t bytes = 0;
    words.visit([&](std::string_view word, std::int64_t) { bytes += word.size(); });
    if (bytes >= kEnd)
      refuse("the texts", "have different words of " + std::to_string(bytes) + " bytes",
             "train on less than 4 GiB of different words");
    symbols_.reserve(bytes);
    words.visit([&](std::string_view word, std::int64_t count) { add(word, count, vocabulary); });
  }

  [[nodiscard]] std::int64_t count(std::uint64_t pair) { return pairs_[number_of(pair)].count; }

  /// Calls `grown(pair, count)` for each pair.
  template <class Grown>
  void visit(Grown grown) const {
    for (const Pair& pair : pairs_) grown(pair.pair, pair.count);
  }

  /// Makes `made` of every such pair, in each word from left to right; then calls
  /// `grown(pair, count)` for the pairs that there are more of.
  template <class Grown>
  void merge(std::uint64_t pair, Token made, Grown grown) {
    const std::vector<std::uint32_t> places = std::move(pairs_[number_of(pair)].places);
    grown_.clear();
    for (const std::uint32_t at : places) merge_at(at, pair, made);
    std::ranges::sort(grown_);
    const auto rest = std::ranges::unique(grown_);
    grown_.erase(rest.begin(), rest.end());
    for (const std::uint32_t number : grown_) grown(pairs_[number].pair, pairs_[number].count);
  }

 private:
  struct Symbol {
    Token token;  ///< -1: it became part of the one before
    std::uint32_t previous, next;
    std::uint32_t word;
  };
  struct Pair {
    std::uint64_t pair = 0;
    std::int64_t count = 0;  ///< in the texts
    /// Of the left ones, ascending, since one merge adds them all; some are out of date.
    std::vector<std::uint32_t> places = {};
  };

  void add(std::string_view word, std::int64_t count, const Tokenizer::Vocabulary& vocabulary) {
    const auto first = static_cast<std::uint32_t>(symbols_.size());
    const auto end = first + static_cast<std::uint32_t>(word.size());
    const auto number = static_cast<std::uint32_t>(counts_.size());
    counts_.push_back(count);
    for (std::uint32_t at = first; at < end; ++at) {
      symbols_.push_back({vocabulary.of_byte[static_cast<unsigned char>(word[at - first])],
                          at == first ? kEnd : at - 1, at + 1 == end ? kEnd : at + 1, number});
      if (at != first) change(at - 1, symbols_[at - 1].token, symbols_[at].token, count);
    }
  }

  std::uint32_t number_of(std::uint64_t pair) {
    const std::uint32_t number = numbers_.insert(pair, static_cast<std::uint32_t>(pairs_.size()));
    if (number == pairs_.size()) pairs_.push_back({.pair = pair});
    return number;
  }

  /// By as many as the text has of the word; more of them begin at `at`.
  void change(std::uint32_t at, Token left, Token right, std::int64_t by) {
    const std::uint32_t number = number_of(pair_of(left, right));
    pairs_[number].count += by;
    if (by < 0) return;
    pairs_[number].places.push_back(at);
    grown_.push_back(number);
  }

  void merge_at(std::uint32_t at, std::uint64_t pair, Token made) {
    Symbol& left = symbols_[at];
    if (left.token != left_of(pair) || left.next == kEnd) return;
    Symbol& right = symbols_[left.next];
    if (right.token != right_of(pair)) return;
    const std::int64_t count = counts_[left.word];
    const std::uint32_t before = left.previous, behind = right.next;
    if (before != kEnd) {
      change(before, symbols_[before].token, left.token, -count);
      change(before, symbols_[before].token, made, count);
    }
    if (behind != kEnd) {
      change(at, right.token, symbols_[behind].token, -count);
      change(at, made, symbols_[behind].token, count);
      symbols_[behind].previous = at;
    }
    pairs_[number_of(pair)].count -= count;
    left.token = made;
    left.next = behind;
    right.token = -1;
  }

  std::vector<Symbol> symbols_;
  std::vector<std::int64_t> counts_;  ///< by word
  std::vector<Pair> pairs_;
  PairTable numbers_;  ///< where in `pairs_` a pair is
  std::vector<std::uint32_t> grown_;
};

struct Candidate {
  std::int64_t count;  ///< when it was queued; it may have become less
  std::uint64_t pair;

  /// Later in the queue.
  bool operator<(const Candidate& other) const {
    return count != other.count ? count < other.count : pair > other.pair;
  }
};

/// The next token. No other has its text: until a pair becomes one, a text that begins and ends
/// where tokens do is cut in the same way wherever it stands, and later it is that token
/// everywhere.
Token add_token(Tokenizer::Vocabulary& vocabulary, std::uint64_t pair) {
  const auto text_of = [&](Token token) -> const std::string& {
    return vocabulary.texts[static_cast<std::size_t>(token)];
  };
  const auto token = static_cast<Token>(vocabulary.texts.size());
  vocabulary.texts.push_back(text_of(left_of(pair)) + text_of(right_of(pair)));
  vocabulary.add_merge({left_of(pair), right_of(pair), token});
  return token;
}

void learn(Tokenizer::Vocabulary& vocabulary, Corpus corpus, std::size_t size, std::int64_t least,
           Reporter& report) {
  report.say(vocabulary.texts.size());
  std::priority_queue<Candidate> queue;
  const auto add = [&](std::uint64_t pair, std::int64_t count) {
    if (count >= least) queue.push({count, pair});
  };
  corpus.visit(add);
  while (vocabulary.texts.size() < size && !queue.empty()) {
    const Candidate best = queue.top();
    queue.pop();
    const std::int64_t count = corpus.count(best.pair);
    if (count != best.count) {
      add(best.pair, count);
      continue;
    }
    const Token made = add_token(vocabulary, best.pair);
    corpus.merge(best.pair, made, add);
    report.made(vocabulary.texts.size());
  }
  report.say(vocabulary.texts.size());
}

}  // namespace
}  // namespace tokens

Tokenizer Tokenizer::train(std::span<const std::string_view> texts,
                           const TokenizerTraining& options) {
  using namespace tokens;
  const std::int64_t least = kBytes + static_cast<std::int64_t>(options.special.size());
  constexpr std::int64_t kMost = std::int64_t{1} << 31;
  if (options.size < least || options.size >= kMost)
    refuse("the size", "is " + std::to_string(options.size),
           "give " + std::to_string(least) +
               " or more, as the bytes and the special tokens are, "
               "and less than 2^31");
  if (options.least_count < 1)
    refuse("the least count", "is " + std::to_string(options.least_count), "give 1 or more");
  auto vocabulary = std::make_shared<Vocabulary>();
  for (const std::uint8_t byte : bytes_in_order()) {
    vocabulary->of_byte[byte] = static_cast<Token>(vocabulary->texts.size());
    vocabulary->texts.emplace_back(1, static_cast<char>(byte));
  }
  Reporter report(options);
  learn(*vocabulary, Corpus(counted_words(texts, report), *vocabulary),
        static_cast<std::size_t>(options.size) - options.special.size(), options.least_count,
        report);
  add_special(*vocabulary, options.special);
  return Tokenizer(std::move(vocabulary));
}

}  // namespace halftone
