// SPDX-License-Identifier: Apache-2.0
#include "codegen/audit/GraphBounds.h"

#include "codegen/audit/Records.h"
#include "codegen/audit/ScalarFacts.h"
#include "codegen/audit/Sources.h"
#include "codegen/ir/Angles.h"
#include "codegen/ir/Forms.h"
#include "codegen/ir/MatrixTransforms.h"
#include "codegen/passes/Rotation.h"
#include "codegen/passes/ScaledRounding.h"
#include "codegen/plan/Chips.h"
#include "mlir/IR/AffineMap.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace halftone::audit {

using namespace ir; // NOLINT(google-build-using-namespace): operations

namespace {

/// What a step's forward and backward pass run.
bool isOfStep(Operation &op) {
  Phase phase = getPhase(&op);
  return phase == Phase::Forward || phase == Phase::Loss || phase == Phase::LossBackward ||
         phase == Phase::Backward;
}

/// Whether a read can find no element, and has +0 then.
bool mayMiss(AccessAttr access) {
  if (access.getKind() == AccessKind::Window)
    return true;
  if (access.getKind() != AccessKind::General)
    return false;
  AffineMapAttr map = access.getMap();
  return access.getWhere() || !map || map.getValue().getNumSymbols() > 0 ||
         !map.getValue().isProjectedPermutation(/*allowZeroInResults=*/true);
}

/// Whether all numbers are integers that an element has.
bool isExactOf(const Node &node, const encoding::Encoding &to) {
  int digits = encoding::traits(to.element).mantissa_bits + 1;
  return !encoding::is_scaled(to) && node.isWhole && node.bound.error == 0 &&
         node.bound.magnitude() <= std::ldexp(1, digits) && Format(to.element).leastNonzero <= 1;
}

/// Whether it is a float of 8 bits, or numbers that are codes times scales, by which products may
/// multiply.
bool isOfCodes(Value operand) {
  if (encoding::traits(elementOf(tensor(operand).getElementType())).bits == 8)
    return true;
  if (auto cast = operand.getDefiningOp<CastOp>())
    operand = cast.getX();
  auto numbers = operand.getDefiningOp<MapOp>();
  if (!numbers || !leavesNumbers(numbers) || scalesBlocksByF32(numbers))
    return false;
  auto codes = numbers.getInputs()[0].getDefiningOp<CastOp>();
  return !codes || bitsOf(tensor(codes.getX()).getElementType()) <= 8; // P100
}

/// Whether it is numbers of 8 bits or fewer in blocks with scales of f32 (P101).
bool isInBlocksOfF32(Value operand) {
  auto numbers = operand.getDefiningOp<MapOp>();
  return numbers && scalesBlocksByF32(numbers);
}

std::string layerOf(Operation *op) { return getLayer(op).str(); }

class GraphAudit {
public:
  GraphAudit(GraphOp graph, const Ranges &ranges, const AssumedSizes &sizes, double unit,
             LeftOut leftOut)
      : graph(graph), ranges(ranges), unit(unit), leftOut(leftOut), code(sizes) {}

  std::variant<GraphBounds, GraphFailure> run() {
    if (auto values = graph->getAttrOfType<ArrayAttr>(kValuesAttr))
      llvm::append_range(entries, values.getAsRange<DictionaryAttr>());
    for (Operation &op : graph.getBody().front()) {
      if (!isOfStep(op))
        continue;
      visit(op);
      if (failure.empty())
        record(op);
      if (!failure.empty())
        return GraphFailure{failure};
    }
    return std::move(found);
  }

private:
  /// What is known of a tensor: of all its elements a node, read as `written` says.
  struct Cell {
    int id = -1;
    AccessKind written = AccessKind::Full;
    TensorSums sums;
  };

  const Bound &boundOf(Value value) { return code[cells.lookup(value).id].bound; }

  void set(Value value, const Node &node, const TensorSums &sums = {}) {
    cells[value] = {code.add(node), AccessKind::Full, sums};
  }

  void visit(Operation &op) {
    llvm::TypeSwitch<Operation *>(&op)
        .Case<InputOp, ParameterOp, StateOp>([&](auto source) { takeSource(source); })
        .Case([&](MapOp map) { visitMap(map); })
        .Case([&](ReduceOp reduce) { visitReduce(reduce); })
        .Case([&](ContractOp contract) { visitContract(contract); })
        .Case([&](CastOp cast) { visitCast(cast); })
        .Case([&](ViewOp view) { visitView(view); })
        .Case([&](SegmentSumOp sum) { visitSegmentSum(sum); })
        .Case([&](SegmentMaxOp max) { // of no row +0
          set(max.getResult(), Node{hull(boundOf(max.getX()), Bound::of(0.0))});
        })
        .Case([&](TransformOp transform) { visitTransform(transform); })
        .Case([&](InverseTransformOp inverse) { visitInverse(inverse); })
        .Case(
            [&](OutputGradientOp point) { cells[point.getResult()] = cells.lookup(point.getX()); })
        .Case([&](LossOp loss) { recordLoss(loss); })
        .Case([&](GradientOp gradient) { recordGradient(gradient); })
        .Default([&](Operation *other) {
          for (Value result : other->getResults())
            set(result, Node{unknownOf(result)});
        });
  }

  template <typename Op> void takeSource(Op source) {
    std::variant<Source, std::string> given = sourceOf(source, ranges, code);
    if (auto *wrong = std::get_if<std::string>(&given)) {
      failure = *wrong;
      return;
    }
    const Source &known = std::get<Source>(given);
    found.used.insert(source.getName().str());
    Node node{known.bound};
    node.isWhole = known.isWhole;
    set(source.getResult(), node, known.sums);
  }

  /// The node that scalar code has of an element of `value`.
  int read(Value value, AccessAttr access, TensorType domain) {
    Cell cell = cells.lookup(value);
    bool isVector = tensor(value).getRank() == 1;
    auto isColumn = [&](AccessKind kind) {
      return kind == AccessKind::Column || (kind == AccessKind::Full && isVector);
    };
    AccessKind kind = access.getKind();
    bool isSame = kind == AccessKind::Scalar || kind == cell.written ||
                  (isColumn(kind) && isColumn(cell.written));
    if (isSame && !mayMiss(access))
      return cell.id;
    return code.once(cell.id, access.getAsOpaquePointer(), domain.getAsOpaquePointer(), [&] {
      Node node = code[cell.id];
      node.op = nullptr;
      node.operands.clear();
      node.sumOfRow = node.errorOfRow = node.sumOfColumn = kInfinity;
      if (mayMiss(access))
        node.bound = hull(node.bound, Bound::of(0.0));
      return node;
    });
  }

  SmallVector<int> readAll(ValueRange values, ArrayRef<AccessAttr> accesses, TensorType domain) {
    SmallVector<int> ids;
    for (auto [value, access] : llvm::zip(values, accesses))
      ids.push_back(read(value, access, domain));
    return ids;
  }

  Place placeOf(Operation *op, TensorType domain) {
    Place place{domain};
    auto least = ranges.leastDeviations.find(layerOf(op));
    if (least != ranges.leastDeviations.end()) {
      place.leastDeviation = least->second;
      found.used.insert(least->first);
    }
    place.hasWindows = op->hasAttr(kWindowsAttr);
    return place;
  }

  /// Scalar code of `op`, and what it says of normalizations and of internal values.
  SmallVector<int> evaluate(Operation *op, Block &block, ArrayRef<int> arguments,
                            const Place &place) {
    size_t overflows = code.overflows.size();
    SmallVector<int> yields = code.evaluate(block, arguments, place);
    if (code.overflows.size() > overflows)
      found.overflows.push_back({layerOf(op), labelOf(op), true});
    for (int id : yields) {
      if (code[id].bound.declared.magnitude() >= kLargest)
        found.overflows.push_back({layerOf(op), labelOf(op), false});
      if (code[id].fact == Fact::perDeviation && place.leastDeviation == 0)
        found.normalizations.emplace_back(layerOf(op), code[id].bound.declared.high);
    }
    return yields;
  }

  static std::string labelOf(Operation *op) {
    if (auto map = dyn_cast<MapOp>(op))
      return map.getLabel().str();
    auto reduce = dyn_cast<ReduceOp>(op);
    return reduce ? reduce.getLabel().str() : std::string();
  }

  void visitMap(MapOp map) {
    if (isOfScaledRounding(map)) { // which its last operation speaks for
      Bound bound = boundOf(map.getInputs()[0]);
      if (isRotation(map))
        bound = rotatedOf(bound);
      auto point = map->getAttrOfType<DictionaryAttr>(kCastAttr);
      if (point && !isLeftOut(point))
        bound = scaledTo(point.getAs<EncodingAttr>("to").getValue(), bound);
      for (Value result : map.getOutputs())
        set(result, Node{bound});
      return;
    }
    if (map->hasAttr(kFrequenciesAttr))
      return setTurns(map);
    if (std::optional<TransformTable> table = findTransformTable(map))
      return setTable(map, *table);
    TensorType domain = map.getDomain();
    SmallVector<int> ids = readAll(map.getInputs(), map.getOperandAccesses(), domain);
    ids = evaluate(map, map.getBody().front(), ids, placeOf(map, domain));
    for (auto [result, id, access] : llvm::zip(map.getOutputs(), ids, map.getResultAccesses())) {
      Cell cell{id, access.getKind(), {}};
      if (access.getKind() == AccessKind::Full)
        cell.sums.ofLast = code[id].sumOfRow;
      cells[result] = cell;
    }
  }

  void setTurns(MapOp map) {
    double position = map.getInputs().empty() ? code.count(map.getDomain().getRowDims())
                                              : boundOf(map.getInputs()[0]).magnitude();
    for (Value result : map.getOutputs())
      set(result, Node{turnsOf(position)});
  }

  /// Of a polynomial's value intervals say little, of a point of the circle all.
  void setTable(MapOp map, const TransformTable &table) {
    constexpr double kOfPoint = 0x1p-23;
    Bound entry = Bound::of(Interval::within(table.size));
    entry.error = table.size * kOfPoint;
    if (table.to.element != encoding::Element::f32)
      entry = roundedTo(table.to, entry).bound;
    for (Value result : map.getOutputs())
      set(result, Node{tidied(entry)});
  }

  void visitReduce(ReduceOp reduce) {
    TensorType domain = reduce.getDomain();
    SmallVector<AccessAttr> accesses = reduce.getOperandAccesses();
    SmallVector<int> ids = readAll(reduce.getInputs(), accesses, domain), summands;
    int start = -1;
    for (auto [id, access] : llvm::zip(ids, accesses))
      if (access.getKind() == AccessKind::Start)
        start = id;
      else if (access.getKind() != AccessKind::Scalar)
        summands.push_back(id);
    Place place = placeOf(reduce, domain);
    if (!reduce.getEach().empty())
      summands = evaluate(reduce, reduce.getEach().front(), ids, place);
    ScalarFacts facts{code, place};
    double all = code.count(domain.getDims());
    SmallVector<int> sums;
    for (int id : summands) {
      bool isFlat = reduce.hasFinish();
      double count = isFlat ? all : all / code.count(tensor(reduce.getOutputs()[0]).getDims());
      Node sum = facts.sumOfColumn(id, count);
      if (isFlat && !sum.isWhole)
        sum = Node{sumOf(code[id].bound, count, depthOfRow(count))};
      if (start >= 0)
        sum = Node{audit::sum(sum.bound, code[start].bound)};
      sums.push_back(code.add(sum));
    }
    if (reduce.hasFinish()) {
      for (auto [id, access] : llvm::zip(ids, accesses))
        if (access.getKind() == AccessKind::Scalar)
          sums.push_back(id);
      sums = evaluate(reduce, reduce.getFinish().front(), sums, place);
    }
    for (auto [result, id] : llvm::zip(reduce.getOutputs(), sums)) {
      bool isRow = tensor(result).getRank() <= 1;
      cells[result] = {id, isRow ? AccessKind::Column : AccessKind::General, {}};
    }
  }

  void visitContract(ContractOp contract) {
    const Cell lhs = cells.lookup(contract.getLhs()), rhs = cells.lookup(contract.getRhs());
    double count = code.count(contract.getReduction());
    double sumOfLhs = contract.getTransposeLhs() ? lhs.sums.beforeLast : lhs.sums.ofLast;
    double sumOfRhs = contract.getTransposeRhs() ? rhs.sums.ofLast : rhs.sums.beforeLast;
    Bound sum =
        sumOfProducts({code[lhs.id].bound, sumOfLhs, errorOfLast(contract, lhs)},
                      {code[rhs.id].bound, sumOfRhs, kInfinity}, count, shareOf(contract, count));
    if (contract.getStart())
      sum = audit::sum(sum, boundOf(contract.getStart()));
    if (sum.declared.magnitude() >= kLargest)
      found.overflows.push_back({layerOf(contract), labelOf(contract), false});
    set(contract.getResult(), Node{sum});
  }

  /// What the sum of so many products may be off by, as a share of their sizes: N8, or N13, N14 or
  /// N17 where a chip may multiply 8 bits.
  double shareOf(ContractOp contract, double count) {
    auto precision = contract->getAttrOfType<PrecisionAttr>(kPrecisionAttr);
    Accumulation sums = precision ? precision.getAccumulate() : Accumulation::F32;
    if (sums == Accumulation::Ordered)
      return accumulated(count);
    bool leavesDigits = sums == Accumulation::Hardware || sums == Accumulation::Promoted;
    auto target = graph->getParentOfType<ModuleOp>()->getAttrOfType<StringAttr>(kTargetAttr);
    const Chip *chip = target ? findChip(target.getValue()) : nullptr;
    auto both = [&](bool (*is)(Value)) { return is(contract.getLhs()) && is(contract.getRhs()); };
    if (leavesDigits && chip && chip->float8Operations > 0) {
      if (both(isOfCodes))
        return shareOfFloat8(count, sums == Accumulation::Promoted);
      if (sums == Accumulation::Promoted && both(isInBlocksOfF32))
        return shareOfFactored(count);
    }
    return accumulated(count, unit);
  }

  double errorOfLast(ContractOp contract, const Cell &lhs) {
    return contract.getTransposeLhs() || lhs.written != AccessKind::Full ? kInfinity
                                                                         : code[lhs.id].errorOfRow;
  }

  bool isLeftOut(DictionaryAttr point) const {
    return leftOut && point.getAs<IntegerAttr>("rule").getInt() == *leftOut;
  }

  void visitCast(CastOp cast) {
    Cell from = cells.lookup(cast.getX());
    auto point = cast->getAttrOfType<DictionaryAttr>(kCastAttr);
    encoding::Encoding to = point ? point.getAs<EncodingAttr>("to").getValue() : cast.getEncoding();
    Operation *before = cast.getX().getDefiningOp();
    if (!encoding::is_scaled(to) && before && isOfScaledRounding(before)) {
      cells[cast.getResult()] = from; // codes
      return;
    }
    if (isDelivered(cast.getX())) {
      Node value{deliveredOf(cast, code[from.id].bound)};
      value.isWhole = value.bound == code[from.id].bound;
      return set(cast.getResult(), value);
    }
    if (cast.isExact() && !encoding::is_scaled(to)) {
      cells[cast.getResult()] = from; // of the same numbers
      return;
    }
    const void *how = EncodingAttr::get(cast.getContext(), to).getAsOpaquePointer();
    const void *where = cast.getStochastic() ? cast.getOperation() : nullptr; // drawn by itself
    Place place{tensor(cast.getX())};
    ScalarFacts facts{code, place};
    Cell left = from;
    left.id = code.once(from.id, how, where, [&] {
      Node node = code[from.id];
      node.op = nullptr;
      node.operands.clear();
      node.fact = Fact::none;
      if (!(point && isLeftOut(point)) && !isExactOf(node, to))
        node.bound =
            encoding::is_scaled(to) ? scaledTo(to, node.bound) : roundedTo(to, node.bound).bound;
      node.sumOfColumn = kInfinity;
      if (encoding::is_scaled(to))
        node.sumOfRow = node.errorOfRow = kInfinity;
      else
        facts.roundSums(node, from.id, to);
      return node;
    });
    if (encoding::is_scaled(to))
      left.sums = {};
    else
      left.sums = from.sums.rounded(std::ldexp(1, -encoding::traits(to.element).mantissa_bits),
                                    Format(to.element).leastNonzero, place.domain, code);
    cells[cast.getResult()] = left;
  }

  void visitView(ViewOp view) {
    Cell from = cells.lookup(view.getX());
    TensorType shown = tensor(view.getX()), as = tensor(view.getResult());
    Cell left{0, AccessKind::Full, from.sums.viewed(shown, as)};
    left.id = code.once(from.id, as.getAsOpaquePointer(), nullptr, [&] {
      Node node = code[from.id];
      node.op = nullptr;
      node.operands.clear();
      if (shown.getDims().take_back() != as.getDims().take_back())
        node.sumOfRow = node.errorOfRow = kInfinity;
      node.sumOfColumn = kInfinity;
      return node;
    });
    cells[view.getResult()] = left;
  }

  void visitSegmentSum(SegmentSumOp sum) { // of no row up to all of them
    TensorType x = tensor(sum.getX());
    double rows = code.count(x.getRowDims());
    const Node &each = code[cells.lookup(sum.getX()).id];
    std::optional<Node> whole = ScalarFacts::wholeSum(each, rows);
    Node all = whole ? *whole : Node{sumOf(each.bound, rows, rows)};
    all.bound = hull(all.bound, Bound::of(0.0));
    set(sum.getResult(), all);
  }

  void visitTransform(TransformOp transform) {
    ArrayRef<Attribute> dims = tensor(transform.getX()).getDims();
    double places = code.count(dims.take_back(2).take_front());
    double spectrum = code.count(tensor(transform.getResult()).getDims().take_back(3).take_front());
    set(transform.getResult(), Node{spectrumOf(boundOf(transform.getX()), places, spectrum)});
  }

  void visitInverse(InverseTransformOp inverse) {
    TensorType spectra = tensor(inverse.getSpectrum());
    double spectrum = code.count(spectra.getDims().take_back(3).take_front());
    Bound sequence = sequenceOf(boundOf(inverse.getSpectrum()), spectrum);
    for (Value result : inverse->getResults())
      set(result, Node{sequence});
  }

  static Bound unknownOf(Value value) {
    return isFloat(value) ? Bound::unknown() : Bound::of(Interval::within(0x1p63));
  }

  void recordLoss(LossOp loss) {
    Audited entry;
    entry.name = entry.layer = loss.getName().str();
    entry.isLoss = true;
    entry.before = entry.after = boundOf(loss.getX());
    found.values.push_back(entry);
  }

  /// Of a parameter, where no rule speaks of it.
  void recordGradient(GradientOp gradient) {
    Audited entry;
    entry.name = entry.layer = gradient.getParameter().getDefiningOp<ParameterOp>().getName().str();
    entry.role = ValueRole::WeightGradient;
    entry.before = entry.after = boundOf(gradient.getX());
    bool isKnown = llvm::any_of(found.values, [&](const Audited &other) {
      return other.role == entry.role && other.name == entry.name;
    });
    if (!isKnown)
      found.values.push_back(entry);
  }

  /// What rules and explain know results of `op` as.
  void record(Operation &op) {
    auto indices = op.getAttrOfType<DenseI64ArrayAttr>(kValuesAttr);
    if (!indices)
      return;
    for (auto [result, index] : llvm::zip(op.getResults(), indices.asArrayRef())) {
      if (index < 0)
        continue;
      Audited entry = recordOf(entries[index]);
      assume(entry, result);
      entry.before = entry.after = boundOf(result);
      if (isa<CastOp>(op) || isOfScaledRounding(&op))
        recordRounding(&op, boundOf(op.getOperand(0)), entry);
      found.values.push_back(entry);
    }
  }

  /// The user's own range of an activation.
  void assume(const Audited &entry, Value value) {
    auto given = ranges.assumed.find(entry.name);
    if (given == ranges.assumed.end() || entry.role != ValueRole::Activation)
      return;
    found.used.insert(given->first);
    Node node = code[cells.lookup(value).id];
    node.op = nullptr;
    node.operands.clear();
    node.bound.exact = intersect(node.bound.exact, given->second);
    node.bound.declared = intersect(node.bound.declared, given->second);
    if (node.bound.exact.isEmpty() || node.bound.declared.isEmpty())
      failure = "'" + entry.name +
                "' is never within what is assumed of it; mend its line `assume " + entry.name +
                "`, or the ranges before it";
    node.bound = tidied(node.bound);
    cells[value].id = code.add(node);
  }

  GraphOp graph;
  const Ranges &ranges;
  double unit;
  LeftOut leftOut;
  ScalarCode code;
  llvm::DenseMap<Value, Cell> cells;
  SmallVector<DictionaryAttr> entries;
  GraphBounds found;
  std::string failure;
};

} // namespace

std::variant<GraphBounds, GraphFailure> boundGraph(GraphOp graph, const Ranges &ranges,
                                                   const AssumedSizes &sizes, double unit,
                                                   LeftOut leftOut) {
  return GraphAudit(graph, ranges, sizes, unit, leftOut).run();
}

} // namespace halftone::audit
