// SPDX-License-Identifier: Apache-2.0
// Matching of clauses.
#include "codegen/ir/Rules.h"

#include "halftone/description/glob.hpp"
#include "halftone/description/text.hpp"

using namespace mlir;
namespace hd = halftone::description;

namespace halftone::ir {

namespace {

/// 80 of "sm_80" and of "sm_80a"; 0 of "cpu".
int chipNumber(StringRef chip) {
  int number = 0;
  chip.consume_front("sm_");
  chip.consumeInteger(10, number);
  return number;
}

bool fits(const hd::TargetRange &range, StringRef target) { // P3
  int wanted = chipNumber(range.chip), have = chipNumber(target);
  switch (range.relation) {
  case hd::TargetRange::Relation::is:
    return range.chip == target;
  case hd::TargetRange::Relation::before:
    return have != 0 && have < wanted;
  case hd::TargetRange::Relation::from:
    return have >= wanted;
  }
  llvm_unreachable("all relations are listed");
}

bool belongsTo(hd::Kind kind, hd::LayerClass layerClass) { // P3
  return (hd::form_of(kind).classes >> static_cast<unsigned>(layerClass) & 1) != 0;
}

template <typename Part, typename Fits> bool anyFits(const std::vector<Part> &parts, Fits fits) {
  return parts.empty() || llvm::any_of(parts, fits);
}

bool situationFits(const hd::Clause &clause, Situation is) { // P3, P66
  return anyFits(clause.targets,
                 [&](const hd::TargetRange &range) { return fits(range, is.target); }) &&
         anyFits(clause.stages, [&](const std::string &stage) { return is.stage == stage; });
}

/// The site's name without its last part, empty where it has none.
StringRef withoutPart(const Site &site) {
  StringRef name(site.name);
  size_t dot = name.find_last_of("./");
  bool hasPart = site.hasPart && dot != StringRef::npos && name[dot] == '.';
  return hasPart ? name.take_front(dot) : StringRef();
}

bool nameFits(StringRef glob, const Site &site) { // P5
  StringRef shorter = withoutPart(site);
  return hd::glob_matches(glob, site.name) || (!shorter.empty() && hd::glob_matches(glob, shorter));
}

} // namespace

llvm::hash_code hash_value(const RuleList &list) {
  return llvm::hash_combine_range(llvm::map_range(list.rules, hd::rule_text));
}

Attribute RulesAttr::parse(AsmParser &parser, Type) {
  RuleList list;
  auto parseRule = [&]() -> ParseResult {
    std::string text;
    llvm::SMLoc at = parser.getCurrentLocation();
    if (parser.parseString(&text))
      return failure();
    auto parsed = hd::parse_rule(text);
    if (const auto *error = std::get_if<hd::ParseError>(&parsed))
      return parser.emitError(at) << "rule '" << text << "' cannot be read: " << error->message;
    list.rules.push_back(std::move(std::get<hd::Rule>(parsed)));
    return success();
  };
  if (parser.parseLess() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseRule) ||
      parser.parseGreater())
    return {};
  return get(parser.getContext(), std::move(list));
}

void RulesAttr::print(AsmPrinter &printer) const {
  printer << "<[";
  llvm::interleaveComma(getList().rules, printer,
                        [&](const hd::Rule &rule) { printer.printString(hd::rule_text(rule)); });
  printer << "]>";
}

Rules::Rules(ModuleOp module) : target("cpu") {
  if (auto attribute = module->getAttrOfType<RulesAttr>(kRulesAttr))
    rules = attribute.getList().rules;
  if (auto attribute = module->getAttrOfType<StringAttr>(kTargetAttr))
    target = attribute.getValue().str();
  if (auto attribute = module->getAttrOfType<StringAttr>(kStageAttr))
    stage = attribute.getValue().str();
  auto known = module->getAttrOfType<DictionaryAttr>(kRulePlacesAttr);
  for (NamedAttribute entry : known ? known.getValue() : ArrayRef<NamedAttribute>()) {
    ArrayRef<int64_t> numbers = cast<DenseI64ArrayAttr>(entry.getValue());
    places[entry.getName()] = {numbers[0], numbers[1], numbers[2], numbers[3]};
  }
}

DictionaryAttr rulePlacesOf(MLIRContext *context, const hd::Description &description) {
  auto isBounded = [](const hd::Clause &clause) { return clause.bounds.stated(); };
  if (llvm::none_of(description.rules, [&](const hd::Rule &rule) {
        return llvm::any_of(rule.clauses, isBounded) || llvm::any_of(rule.exceptions, isBounded);
      }))
    return {};
  Builder builder(context);
  NamedAttrList places;
  for (auto [node, place] : llvm::zip_equal(description.nodes, hd::places_of(description)))
    if (hd::is_computed(node.kind) || hd::is_parameter(node.kind))
      places.append(node.name, builder.getDenseI64ArrayAttr(
                                   {place.before, place.behind, place.depth, place.elements}));
  return places.getDictionary(context);
}

/// P60: an internal value stands where its layer does.
bool Rules::lies(const hd::Bounds &bounds, const Site &site) const {
  if (!bounds.stated())
    return true;
  auto known = places.find(site.name);
  if (known == places.end())
    known = places.find(withoutPart(site));
  return known != places.end() && hd::fits(bounds, known->second);
}

bool Rules::matches(const hd::Rule &rule, const Site &site) const {
  auto any = [&](const std::vector<hd::Clause> &clauses, bool areExceptions) {
    return llvm::any_of(
        clauses, [&](const hd::Clause &clause) { return matches(clause, site, areExceptions); });
  };
  bool isMeant = rule.clauses.empty() ? !site.named : any(rule.clauses, false);
  return isMeant && !any(rule.exceptions, true); // P61
}

bool Rules::matches(const hd::Clause &clause, const Site &site, bool isException) const {
  auto anyKind = [&](auto fits) { return llvm::any_of(site.kinds, fits); };
  if (clause.roles.empty()
          ? site.named && !isException
          : !site.role || !llvm::is_contained(clause.roles, *site.role)) // P18, P19
    return false;
  return situationFits(clause, {target, stage}) && lies(clause.bounds, site) &&
         (!clause.layer || nameFits(*clause.layer, site)) &&
         anyFits(clause.classes,
                 [&](hd::LayerClass c) {
                   return anyKind([&](hd::Kind kind) { return belongsTo(kind, c); });
                 }) &&
         anyFits(clause.ops,
                 [&](hd::Kind op) { return anyKind([&](hd::Kind kind) { return kind == op; }); }) &&
         (clause.passes.empty() ||
          (site.pass && llvm::is_contained(clause.passes, *site.pass))); // P6
}

DictionaryAttr decisionAttr(MLIRContext *context, StringRef field, StringRef setting, int64_t rule,
                            ArrayRef<int64_t> beaten, const Site &where) {
  Builder builder(context);
  StringRef role = where.role ? hd::kRoleWords[static_cast<size_t>(*where.role)] : "";
  StringRef pass = where.pass ? hd::kPassWords[static_cast<size_t>(*where.pass)] : "";
  return builder.getDictionaryAttr(
      {builder.getNamedAttr("field", builder.getStringAttr(field)),
       builder.getNamedAttr("layer", builder.getStringAttr(where.name)),
       builder.getNamedAttr("role", builder.getStringAttr(role)),
       builder.getNamedAttr("pass", builder.getStringAttr(pass)),
       builder.getNamedAttr("setting", builder.getStringAttr(setting)),
       builder.getNamedAttr("rule", builder.getI64IntegerAttr(rule)),
       builder.getNamedAttr("beaten", builder.getDenseI64ArrayAttr(beaten))});
}

bool mayMatch(const hd::Rule &rule, Situation situation) {
  auto excepts = [&](const hd::Clause &c) {
    hd::Clause elsewhere = c;
    elsewhere.targets.clear();
    elsewhere.stages.clear();
    return elsewhere == hd::Clause() && situationFits(c, situation);
  };
  return anyFits(rule.clauses, [&](const hd::Clause &c) { return situationFits(c, situation); }) &&
         llvm::none_of(rule.exceptions, excepts);
}

std::string resolutionOf(const std::vector<hd::Rule> &rules, Situation situation) {
  std::string bits;
  for (const hd::Rule &rule : rules)
    for (const std::vector<hd::Clause> *clauses : {&rule.clauses, &rule.exceptions})
      for (const hd::Clause &clause : *clauses)
        bits += situationFits(clause, situation) ? '1' : '0';
  return bits;
}

/// A field of the whole model.
template <typename Field>
static Decision<Field> decideOfModel(const std::vector<hd::Rule> &rules,
                                     std::optional<Field> hd::Rule::*field, Situation situation) {
  Decision<Field> decision;
  for (auto [index, rule] : llvm::enumerate(rules))
    if (rule.*field && mayMatch(rule, situation))
      decision.take(*(rule.*field), index);
  return decision;
}

Decision<hd::LossScale> lossScaleOf(const std::vector<hd::Rule> &rules, Situation situation) {
  return decideOfModel(rules, &hd::Rule::loss_scale, situation);
}

Decision<hd::MemoryBudget> memoryBudgetOf(const std::vector<hd::Rule> &rules, Situation situation) {
  return decideOfModel(rules, &hd::Rule::memory_budget, situation);
}

} // namespace halftone::ir
