// SPDX-License-Identifier: Apache-2.0
// Precision rules: how the text form spells and reads them.
#include "halftone/description/text.hpp"
#include "parts.hpp"
#include "spelling.hpp"

namespace halftone::description {

std::string rule_text(const Rule& rule) { return detail::spelled(rule); }

std::string_view kind_text(Kind kind) { return detail::spelled(kind); }

std::optional<Kind> kind_of(std::string_view word) { return detail::enum_of<Kind>(word); }

std::variant<Rule, ParseError> parse_rule(std::string_view text) {
  detail::Scanner scan(text);
  Rule rule;
  if (detail::read_rule(scan, rule)) return rule;
  return *scan.error();
}

namespace detail {
namespace {

std::string text_of(const TargetRange& range) {
  if (range.relation == TargetRange::Relation::is) return range.chip;
  return std::string(spelled(range.relation)) + "(" + range.chip + ")";
}

template <typename Enum>
std::string_view text_of(Enum choice) {
  return spelled(choice);
}

template <typename Enum>
void put_choices(std::string& text, std::string_view word, const std::vector<Enum>& choices) {
  for (std::size_t i = 0; i < choices.size(); ++i) {
    text.append(i == 0 ? " " : "|");
    if (i == 0) text.append(word).append(" ");
    text.append(text_of(choices[i]));
  }
}

void put_clause(std::string& text, const Clause& clause) {
  if (clause.layer) text += " layer " + quoted(*clause.layer);
  put_choices(text, "class", clause.classes);
  put_choices(text, "op", clause.ops);
  put_choices(text, "role", clause.roles);
  put_choices(text, "pass", clause.passes);
  put_choices(text, "target", clause.targets);
  for (const std::string& stage : clause.stages) {
    text += (&stage == clause.stages.data() ? " during " : "|") + quoted(stage);
  }
  const Bounds& bounds = clause.bounds;
  const auto put = [&](const char* word, std::int64_t number) {
    if (number != 0) text.append(word).append(std::to_string(number));
  };
  put(" first ", bounds.first);
  put(" last ", bounds.last);
  if (bounds.depth_end != 0) {
    text += " depth " + std::to_string(bounds.depth_from) + " " + std::to_string(bounds.depth_end);
  }
  put(" at_least ", bounds.at_least);
  put(" smaller_than ", bounds.smaller_than);
}

void put_clauses(std::string& text, const std::vector<Clause>& clauses) {
  for (std::size_t i = 0; i < clauses.size(); ++i) {
    if (i > 0) text += " or";
    put_clause(text, clauses[i]);
  }
}

std::string text_of(const EncodingChoice& choice) {
  return choice.follow ? "follow" : encoding::spelled(choice.encoding);
}

std::string text_of(const LossScale& scale) {
  std::string text(spelled(scale.kind));
  if (scale.kind == LossScale::Kind::none) return text;
  if (scale.kind == LossScale::Kind::fixed) return text + " " + spelled(scale.initial);
  return text + " initial " + spelled(scale.initial) + " growth " + spelled(scale.growth) +
         " backoff " + spelled(scale.backoff) + " interval " + std::to_string(scale.interval) +
         " floor " + spelled(scale.floor) + " ceiling " + spelled(scale.ceiling) + " hysteresis " +
         std::to_string(scale.hysteresis) + " patience " + std::to_string(scale.patience);
}

std::string text_of(const MemoryBudget& budget) {
  const bool of_bytes = budget.kind == MemoryBudget::Kind::bytes;
  return std::string(spelled(budget.kind)) + " " +
         (of_bytes ? std::to_string(budget.bytes) : spelled(budget.share));
}

template <typename Enum>
bool read_choices(Scanner& scan, std::string_view word, std::vector<Enum>& choices,
                  bool (*fits)(Enum) = nullptr) {
  if (!scan.take_word(word)) return true;
  do {
    if (!scan.read_enum(choices.emplace_back(), word, fits)) return false;
  } while (scan.take('|'));
  return true;
}

bool read_targets(Scanner& scan, std::vector<TargetRange>& targets) {
  if (!scan.take_word("target")) return true;
  do {
    std::string_view word;
    TargetRange& target = targets.emplace_back();
    if (!scan.read_word(word, "a chip, before(chip) or from(chip)")) return false;
    const auto relation = enum_of<TargetRange::Relation>(word);
    target.chip = word;
    if (!relation || !scan.take('(')) continue;
    target.relation = *relation;
    if (!scan.read_word(word, "a chip") || !scan.expect(')')) return false;
    target.chip = word;
  } while (scan.take('|'));
  return true;
}

bool read_stages(Scanner& scan, std::vector<std::string>& stages) {
  if (!scan.take_word("during")) return true;
  do {
    if (!scan.read_string(stages.emplace_back(), "the name of a stage in quotes")) return false;
  } while (scan.take('|'));
  return true;
}

bool read_bounds(Scanner& scan, Bounds& bounds) {
  const auto read = [&](std::string_view word, std::int64_t& number) {
    if (!scan.take_word(word)) return true;
    const Position start = scan.position();
    if (!scan.read_integer(number, "a whole number")) return false;
    return number > 0 || scan.fail(start, "expected a number above 0 behind " + std::string(word));
  };
  if (!read("first", bounds.first) || !read("last", bounds.last)) return false;
  if (scan.take_word("depth")) {
    const Position start = scan.position();
    if (!scan.read_integer(bounds.depth_from, "the number of the first copy") ||
        !scan.read_integer(bounds.depth_end, "the number of the copy behind the last")) {
      return false;
    }
    if (bounds.depth_from < 0 || bounds.depth_end <= bounds.depth_from) {
      return scan.fail(start, "expected two numbers behind depth, from 0 on and the second larger");
    }
  }
  return read("at_least", bounds.at_least) && read("smaller_than", bounds.smaller_than);
}

bool read_clause(Scanner& scan, Clause& clause) {
  if (scan.take_word("layer") &&
      !scan.read_string(clause.layer.emplace(), "a glob of layer names in quotes")) {
    return false;
  }
  if (!read_choices(scan, "class", clause.classes) ||
      !read_choices(scan, "op", clause.ops, is_computed) ||
      !read_choices(scan, "role", clause.roles) || !read_choices(scan, "pass", clause.passes) ||
      !read_targets(scan, clause.targets) || !read_stages(scan, clause.stages) ||
      !read_bounds(scan, clause.bounds)) {
    return false;
  }
  return clause != Clause{} ||
         scan.unexpected(
             "layer, class, op, role, pass, target, during, first, last, depth, at_least or "
             "smaller_than, in this order");
}

// What rules may state (P10 to P14).
bool is_computed_in(Element element) { return encoding::traits(element).computed; }
bool is_stored(Element element) {
  return is_computed_in(element) && encoding::traits(element).stored;
}
bool is_quantize(Element element) { return is_quantized(element) || element == Element::f32; }
bool is_master(Element element) { return element == Element::f32 || element == Element::bf16; }

// P51
bool read_scaling(Scanner& scan, encoding::Scaling& scaling) {
  using Kind = encoding::Scaling::Kind;
  if (!scan.take_word("scaled")) return true;
  scaling.kind = scan.take_word("block")     ? Kind::block
                 : scan.take_word("delayed") ? Kind::delayed
                 : scan.take_word("row")     ? Kind::row
                 : scan.take_word("column")  ? Kind::column
                                             : Kind::tensor;
  const auto read_number = [&](std::int32_t& to, std::string_view what) {
    const Position start = scan.position();
    std::int64_t number = 0;
    if (!scan.read_integer(number, what)) return false;
    to = static_cast<std::int32_t>(number);
    return to == number || scan.fail(start, quoted(std::to_string(number)) +
                                                " does not fit 32 bits; write an integer nearer "
                                                "to 0");
  };
  if (scaling.kind == Kind::delayed) {
    if (!read_number(scaling.history, "a number of steps")) return false;
    if (scan.take_word("margin") && !read_number(scaling.margin, "a margin")) return false;
  } else if (scaling.kind == Kind::block) {
    constexpr std::string_view kSize = "the size of a block";
    if (!read_number(scaling.size, kSize)) return false;
    if (scan.take_word("by")) {
      scaling.rows = scaling.size;
      if (!read_number(scaling.size, kSize)) return false;
    }
  } else if (!encoding::is_of_vectors(scaling) && !scan.take_word("tensor")) {
    return scan.unexpected("'tensor', 'row', 'column', 'block' or 'delayed'");
  }
  const bool has_scale = scan.read_enum(
      scaling.scale, "a format of scales", +[](Element element) {
        return element == Element::f8e8m0 || element == Element::f8e4m3 || element == Element::f32;
      });
  if (!has_scale) return false;
  if (scan.take_word("under")) {
    scaling.of_all = Element::f32;  // P97
    if (!scan.take_word("f32")) {
      return scan.unexpected("'f32'; a tensor's scale is a power of two where no under is said");
    }
  }
  scaling.rotated = scan.take_word("rotated");
  return true;
}

bool read_format(Scanner& scan, Encoding& encoding, std::string_view what, bool (*fits)(Element)) {
  if (!scan.read_enum(encoding.element, what, fits)) return false;
  if (!read_scaling(scan, encoding.scaling)) return false;
  encoding.saturate = scan.take_word("saturate");
  return true;
}

bool read_choice(Scanner& scan, std::optional<EncodingChoice>& choice, bool (*fits)(Element)) {
  choice.emplace().follow = scan.take_word("follow");
  return choice->follow || read_format(scan, choice->encoding, "a format or follow", fits);
}

bool read_encoding(Scanner& scan, std::optional<Encoding>& encoding, bool (*fits)(Element)) {
  return read_format(scan, encoding.emplace(), "a format", fits);
}

bool read_count(Scanner& scan, std::string_view name, std::int64_t& value) {
  return scan.expect_word(name) && scan.read_integer(value, "a whole number");
}

bool read_loss_scale(Scanner& scan, LossScale& scale) {
  if (!scan.read_enum(scale.kind, "a loss scale")) return false;
  if (scale.kind == LossScale::Kind::none) return true;
  if (scale.kind == LossScale::Kind::fixed) return scan.read_number(scale.initial, "the scale");
  return read_setting(scan, "initial", scale.initial) &&
         read_setting(scan, "growth", scale.growth) &&
         read_setting(scan, "backoff", scale.backoff) &&
         read_count(scan, "interval", scale.interval) && read_setting(scan, "floor", scale.floor) &&
         read_setting(scan, "ceiling", scale.ceiling) &&
         read_count(scan, "hysteresis", scale.hysteresis) &&
         read_count(scan, "patience", scale.patience);
}

bool read_memory_budget(Scanner& scan, MemoryBudget& budget) {
  if (!scan.read_enum(budget.kind, "share or bytes")) return false;
  return budget.kind == MemoryBudget::Kind::share
             ? scan.read_number(budget.share, "a share")
             : scan.read_integer(budget.bytes, "a number of bytes");
}

bool read_fields(Scanner& scan, Rule& rule) {
  if (scan.take_word("store") && !read_choice(scan, rule.store, is_stored)) return false;
  if (scan.take_word("compute") && !read_choice(scan, rule.compute, is_computed_in)) return false;
  if (scan.take_word("result") && !read_encoding(scan, rule.result, is_computed_in)) return false;
  if (scan.take_word("accumulate") &&
      !scan.read_enum(rule.accumulate.emplace(), "an accumulation")) {
    return false;
  }
  if (scan.take_word("master")) {
    if (!read_encoding(scan, rule.master, is_master)) return false;
    rule.remainder = scan.take_word("remainder");
  }
  if (scan.take_word("rounding") && !scan.read_enum(rule.rounding.emplace(), "a rounding")) {
    return false;
  }
  if (scan.take_word("recompute")) {
    rule.recompute = scan.take_word("always");
    if (!*rule.recompute && !scan.take_word("never")) {
      return scan.unexpected("'always' or 'never'");
    }
  }
  if (scan.take_word("loss_scale") && !read_loss_scale(scan, rule.loss_scale.emplace())) {
    return false;
  }
  if (scan.take_word("memory_budget") && !read_memory_budget(scan, rule.memory_budget.emplace())) {
    return false;
  }
  if (scan.take_word("quantize")) {
    Quantization& quantize = rule.quantize.emplace();
    if (!scan.read_enum(quantize.element, "a format of codes", is_quantize)) return false;
    if (scan.take_word("least_error")) quantize.scale = Quantization::Scale::least_error;
  }
  if (scan.take_word("place") && !scan.read_enum(rule.place.emplace(), "device or host")) {
    return false;
  }
  return !scan.take_word("because") || scan.read_string(rule.because, "a reason in quotes");
}

}  // namespace

std::string spelled(const Rule& rule) {
  std::string text = rule.clauses.empty() ? "everywhere" : "where";
  put_clauses(text, rule.clauses);
  if (!rule.exceptions.empty()) text += " except";
  put_clauses(text, rule.exceptions);
  if (rule.if_any) text += " if_any";
  text += " :";
  if (rule.store) text += " store " + text_of(*rule.store);
  if (rule.compute) text += " compute " + text_of(*rule.compute);
  if (rule.result) text.append(" result ").append(encoding::spelled(*rule.result));
  if (rule.accumulate) text.append(" accumulate ").append(spelled(*rule.accumulate));
  if (rule.master) text.append(" master ").append(encoding::spelled(*rule.master));
  if (rule.remainder) text += " remainder";
  if (rule.rounding) text.append(" rounding ").append(spelled(*rule.rounding));
  if (rule.recompute) text.append(*rule.recompute ? " recompute always" : " recompute never");
  if (rule.loss_scale) text += " loss_scale " + text_of(*rule.loss_scale);
  if (rule.memory_budget) text += " memory_budget " + text_of(*rule.memory_budget);
  if (rule.quantize) {
    text.append(" quantize ").append(encoding::word(rule.quantize->element));
    if (rule.quantize->scale == Quantization::Scale::least_error) text += " least_error";
  }
  if (rule.place) text.append(" place ").append(spelled(*rule.place));
  if (!rule.because.empty()) text += " because " + quoted(rule.because);
  return text;
}

bool read_rule(Scanner& scan, Rule& rule) {
  const auto read_clauses = [&](std::vector<Clause>& clauses) {
    do {
      if (!read_clause(scan, clauses.emplace_back())) return false;
    } while (scan.take_word("or"));
    return true;
  };
  if (scan.take_word("where")) {
    if (!read_clauses(rule.clauses)) return false;
  } else if (!scan.expect_word("everywhere")) {
    return false;
  }
  if (scan.take_word("except") && !read_clauses(rule.exceptions)) return false;
  rule.if_any = scan.take_word("if_any");
  if (!scan.expect(':') || !read_fields(scan, rule)) return false;
  return scan.at_end_of_line() ||
         scan.unexpected(
             "store, compute, result, accumulate, master, rounding, recompute, loss_scale, "
             "memory_budget, quantize, place or because, at most once each and in this order");
}

}  // namespace detail
}  // namespace halftone::description
