// SPDX-License-Identifier: Apache-2.0
// Which precision rule wins where: P3 to P6, P18 and P19 of docs/spec/precision.md.
#ifndef HALFTONE_IR_RULES_H
#define HALFTONE_IR_RULES_H

#include "codegen/ir/Dialect.h"
#include "halftone/description/description.hpp"
#include "llvm/ADT/StringMap.h"

namespace halftone::ir {

/// A part of the model that rules may speak of: an operand, a value or an operation.
struct Site {
  std::string name;     ///< of the layer, the parameter or the internal value
  bool hasPart = false; ///< whether a glob may leave out what follows the name's last dot (P5)
  llvm::SmallVector<description::Kind> kinds; ///< of the layer, or of all that read the parameter
  std::optional<description::Role> role;      ///< none for an operation
  std::optional<description::Pass> pass;
  bool named = false; ///< whether a clause must name the role (P19)
};

/// What the rules say about one field of one site.
template <typename Field> struct Decision {
  std::optional<Field> field;
  int64_t rule = -1;
  llvm::SmallVector<int64_t> beaten; ///< rules that stated the field and lost

  /// A later rule states the field too.
  void take(const Field &stated, size_t by) {
    if (field)
      beaten.push_back(rule);
    field = stated;
    rule = static_cast<int64_t>(by);
  }
};

class Rules {
public:
  /// From the module's kRulesAttr, kTargetAttr and kStageAttr.
  explicit Rules(mlir::ModuleOp module);

  /// The last rule that matches and states the field wins (P4).
  template <typename Field>
  Decision<Field> find(std::optional<Field> description::Rule::*field, const Site &site) const {
    Decision<Field> decision;
    for (size_t index = 0; index < rules.size(); ++index) {
      const std::optional<Field> &stated = rules[index].*field;
      if (stated && matches(rules[index], site))
        decision.take(*stated, index);
    }
    return decision;
  }

private:
  bool matches(const description::Rule &rule, const Site &site) const;
  bool matches(const description::Clause &clause, const Site &site, bool isException) const;
  bool lies(const description::Bounds &bounds, const Site &site) const;

  std::vector<description::Rule> rules;
  llvm::StringMap<description::Place> places; ///< by layer and by parameter (P60)
  std::string target, stage;
};

/// Where rules are asked what they say: a target, and a stage of the run (P66), which is empty
/// where the model declares none.
struct Situation {
  Situation(llvm::StringRef target, llvm::StringRef stage = "") : target(target), stage(stage) {}

  llvm::StringRef target, stage;
};

/// For kRulePlacesAttr, null where no rule has bounds.
mlir::DictionaryAttr rulePlacesOf(mlir::MLIRContext *context,
                                  const description::Description &description);

/// Who won a field that is no format, for people: an entry of kDecisionsAttr.
mlir::DictionaryAttr decisionAttr(mlir::MLIRContext *context, llvm::StringRef field,
                                  llvm::StringRef setting, int64_t rule,
                                  llvm::ArrayRef<int64_t> beaten, const Site &where);

/// L1: what the last rule that fits there says; no field when none does.
Decision<description::LossScale> lossScaleOf(const std::vector<description::Rule> &rules,
                                             Situation situation);

/// P67: likewise.
Decision<description::MemoryBudget> memoryBudgetOf(const std::vector<description::Rule> &rules,
                                                   Situation situation);

/// Whether some clause of the rule may match there.
bool mayMatch(const description::Rule &rule, Situation situation);

/// Equal for two situations exactly when no clause tells them apart.
std::string resolutionOf(const std::vector<description::Rule> &rules, Situation situation);

} // namespace halftone::ir

#endif
