// SPDX-License-Identifier: Apache-2.0
#include "codegen/skeletons/Transform.h"

#include <array>

#include "codegen/emit/cpu/Body.h"
#include "codegen/emit/cuda/BodyPrinter.h"
#include "codegen/ir/Transforms.h"
#include "codegen/skeletons/KernelGroup.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace halftone::ir;
using namespace halftone::cpu;

namespace halftone::skeletons {

using ir::TensorType;

namespace {

/// The tensors of a kernel, by what they are.
struct TransformShapes {
  TensorType sequence, spectrum;
  int64_t length, channels, blocks, places; ///< of a sequence, and of its spectrum
  unsigned stages;

  explicit TransformShapes(KernelOp kernel) {
    auto stored = cast<TensorType>(kernel.getStored()[0].getType());
    bool isInverse = kernel.getSkeleton() == ir::Skeleton::InverseTransform;
    sequence = isInverse ? stored : kernel.getDomainType();
    spectrum = isInverse ? kernel.getDomainType() : stored;
    auto extent = [](TensorType type, size_t fromLast) {
      return cast<IntegerAttr>(type.getDims()[type.getRank() - fromLast]).getInt();
    };
    length = extent(sequence, 2);
    channels = extent(sequence, 1);
    blocks = extent(spectrum, 4);
    places = extent(spectrum, 3);
    stages = llvm::Log2_64(static_cast<uint64_t>(places));
  }

  /// A task for each.
  Dims tasks() const { return Dims(spectrum.getDims().drop_back(3)); }
};

} // namespace

Transform::Transform()
    : TransformOfBlocks({.word = ir::Skeleton::Transform, .stores = {AccessKind::Transformed}}) {}

InverseTransform::InverseTransform()
    : TransformOfBlocks({.word = ir::Skeleton::InverseTransform,
                         .readsByAnyMap = true,
                         .stores = {AccessKind::Transformed, AccessKind::Full}}) {}

bool joinsProductOfSpectra(KernelForm op, const KernelGroup &group) {
  auto readsAlone = [&](Operation *member) {
    return llvm::all_of(member->getUsers(), [&](Operation *user) {
      return user == op.getOperation() || group.contains(user);
    });
  };
  return hasSameDomain(op, group) && accessesAgree(op, group) &&
         group.skeleton->traits().elementwise && llvm::all_of(group.ops, readsAlone);
}

bool InverseTransform::joinsProducer(KernelForm op, const KernelGroup &group) const {
  return joinsProductOfSpectra(op, group);
}

SmallVector<Axis> TransformOfBlocks::getTaskAxes(KernelOp kernel) const {
  return {{TransformShapes(kernel).tasks(), (*kernel.getCpuTile())[0]}};
}

//===--- CPU ---===//

namespace {

struct Complex {
  Value real, imaginary;
};

/// The butterflies of one task, whose spectrum lies at `memory`: vectors of neighbouring channels,
/// of which `v` counts those of a place.
class Butterflies {
public:
  Butterflies(Code &code, Frame &frame, const TransformShapes &shapes)
      : lanes(frame.variant.vectorLanes), vectors(kBlockChannels / lanes), shapes(shapes),
        code(code) {
    for (unsigned i = 0; i < frame.kernel.getInputs().size(); ++i)
      if (frame.kernel.getInputAccess(i).getKind() == AccessKind::Turns)
        turns = frame.input(i);
  }

  Complex load(Value place, unsigned v) {
    VectorType type = code.vector(code.f32(), lanes);
    return {code.load(type, addressOf(place, v, 0)), code.load(type, addressOf(place, v, 1))};
  }
  void store(const Complex &element, Value place, unsigned v) {
    code.store(element.real, addressOf(place, v, 0));
    code.store(element.imaginary, addressOf(place, v, 1));
  }

  /// Turn `number`, in all lanes.
  Complex turn(Value number) {
    auto part = [&](int64_t row) {
      Value index = code.add(number, code.integer(row * shapes.places));
      return code.splat(code.load(code.f32(), code.address(turns, code.f32(), index)), lanes);
    };
    return {part(0), part(1)};
  }

  //===--- Z2 and Z3, a butterfly of two places: `upper` lies behind `lower` ---===//

  void spread(Complex &lower, Complex &upper, const Complex &turn) {
    Complex u = lower, z = upper;
    Complex t{fma(negate(turn.imaginary), z.imaginary, multiply(turn.real, z.real)),
              fma(turn.real, z.imaginary, multiply(turn.imaginary, z.real))};
    lower = {add(u.real, t.real), add(u.imaginary, t.imaginary)};
    upper = {subtract(u.real, t.real), subtract(u.imaginary, t.imaginary)};
  }
  /// Of the first stage, whose imaginary parts are null.
  void spreadReal(Complex &lower, Complex &upper, const Complex &turn) {
    Value u = lower.real;
    Complex t{multiply(turn.real, upper.real), multiply(turn.imaginary, upper.real)};
    lower = {add(u, t.real), t.imaginary};
    upper = {subtract(u, t.real), negate(t.imaginary)};
  }
  void gather(Complex &lower, Complex &upper, const Complex &turn) {
    Complex p = lower, q = upper;
    Complex d{subtract(p.real, q.real), subtract(p.imaginary, q.imaginary)};
    lower = {add(p.real, q.real), add(p.imaginary, q.imaginary)};
    upper = {fma(turn.imaginary, d.imaginary, multiply(turn.real, d.real)),
             fma(negate(turn.imaginary), d.real, multiply(turn.real, d.imaginary))};
  }
  Value multiply(Value a, Value b) { return arith::MulFOp::create(code.builder, code.loc, a, b); }

  unsigned lanes, vectors;
  Value memory;

private:
  Value add(Value a, Value b) { return arith::AddFOp::create(code.builder, code.loc, a, b); }
  Value subtract(Value a, Value b) { return arith::SubFOp::create(code.builder, code.loc, a, b); }
  Value negate(Value a) { return arith::NegFOp::create(code.builder, code.loc, a); }
  Value fma(Value a, Value b, Value c) {
    return math::FmaOp::create(code.builder, code.loc, a, b, c);
  }
  Value addressOf(Value place, int64_t v, int64_t part) {
    Value index = code.add(code.multiply(place, code.integer(2 * kBlockChannels)),
                           code.integer(part * kBlockChannels + v * lanes));
    return code.address(memory, code.f32(), index);
  }

  const TransformShapes &shapes;
  Code &code;
  Value turns;
};

/// What both directions do with a task: its number taken apart; the whole spectrum, which goes in
/// two parts or four, so that pairs of stages are left; and the four quarters of a smaller part.
class TaskOfBlock {
public:
  TaskOfBlock(Code &code, Frame &frame)
      : shapes(frame.kernel), code(code), frame(frame), body(code, frame),
        butterflies(code, frame, shapes), parts(4u >> shapes.stages % 2) {
    body.enterKernel();
  }

protected:
  void enter(Value number, Value spectra) {
    task = number;
    int64_t floats = 2 * kBlockChannels * shapes.places;
    butterflies.memory =
        code.address(spectra, code.f32(), code.multiply(task, code.integer(floats)));
    firstRow = code.multiply(code.divide(task, shapes.blocks), code.integer(shapes.length));
    firstColumn = code.multiply(code.remainder(task, code.integer(shapes.blocks)),
                                code.integer(kBlockChannels));
  }

  Value columnOf(unsigned v) { return code.add(firstColumn, code.integer(v * butterflies.lanes)); }
  /// The channels that the sequence has; null for all lanes.
  Value maskOf(unsigned v) {
    if (shapes.channels % kBlockChannels == 0)
      return {};
    return code.firstLanes(code.subtract(code.integer(shapes.channels), columnOf(v)),
                           butterflies.lanes);
  }

  /// The stages that the pass over the whole spectrum does.
  unsigned stagesOfWhole() const { return parts / 2; }
  Value placeInWhole(Value j, unsigned part) {
    return code.add(j, code.integer(part * (shapes.places / parts)));
  }
  /// For every place of the whole's first part, and every vector there. `isInside` says which parts
  /// have that place of the sequence.
  using Visit = llvm::function_ref<void(Value j, unsigned v, ArrayRef<bool> isInside)>;
  void eachOfWhole(Visit visit) {
    int64_t size = shapes.places / parts;
    auto run = [&](int64_t begin, int64_t end) {
      SmallVector<bool> isInside;
      for (int64_t part = 0; part < parts; ++part)
        isInside.push_back(part * size + begin < shapes.length);
      if (begin < end)
        code.loop(code.integer(begin), code.integer(end), 1, [&](Value j) {
          for (unsigned v = 0; v < butterflies.vectors; ++v)
            visit(j, v, isInside);
        });
    };
    int64_t border = shapes.length % size;
    run(0, border);
    run(border, size);
  }
  /// Turn 1, and of four parts turns 2 and 3.
  SmallVector<Complex, 3> turnsOfWhole() {
    SmallVector<Complex, 3> turns;
    for (unsigned number = 1; number < parts; ++number)
      turns.push_back(butterflies.turn(code.integer(number)));
    return turns;
  }

  /// The part of stage `stage` with this number, its first place, and a quarter of its places; the
  /// turns of the stage and of both parts of the next one.
  struct Part {
    unsigned stage;
    Value number, first;
    int64_t quarter;
    std::array<Complex, 3> turns;
  };
  Part partOf(unsigned stage, Value number) {
    int64_t size = shapes.places >> stage;
    Value turn = code.add(number, code.integer(int64_t{1} << stage)), next = code.add(turn, turn);
    return {stage,
            number,
            code.multiply(number, code.integer(size)),
            size / 4,
            {butterflies.turn(turn), butterflies.turn(next),
             butterflies.turn(code.add(next, code.integer(1)))}};
  }
  Value placeOf(const Part &part, Value j, int64_t quarter) {
    return code.add(part.first, code.add(j, code.integer(quarter * part.quarter)));
  }
  void eachOfPart(const Part &part, llvm::function_ref<void(Value j, unsigned v)> visit) {
    code.loop(code.integer(0), code.integer(part.quarter), 1, [&](Value j) {
      for (unsigned v = 0; v < butterflies.vectors; ++v)
        visit(j, v);
    });
  }
  /// Its quarters are parts two stages on.
  void eachQuarter(const Part &part, llvm::function_ref<void(Value number)> visit) {
    if (part.stage + 2 == shapes.stages)
      return;
    Value first = code.multiply(part.number, code.integer(4));
    code.loop(first, code.add(first, code.integer(4)), 1, visit);
  }

  TransformShapes shapes;
  Code &code;
  Frame &frame;
  Body body;
  Butterflies butterflies;
  unsigned parts;
  Value task, firstRow, firstColumn;
};

class Spreading : public TaskOfBlock {
public:
  using TaskOfBlock::TaskOfBlock;

  void build(Value number) {
    enter(number, frame.stored(0));
    SmallVector<Complex, 3> turns = turnsOfWhole();
    eachOfWhole([&](Value j, unsigned v, ArrayRef<bool> isInside) {
      SmallVector<Complex, 4> z;
      for (unsigned part = 0; part < parts; ++part)
        z.push_back({read(placeInWhole(j, part), v, isInside[part]), {}});
      for (unsigned i = 0; i < parts / 2; ++i)
        butterflies.spreadReal(z[i], z[i + parts / 2], turns[0]);
      for (unsigned i = 0; parts == 4 && i < 2; ++i)
        butterflies.spread(z[2 * i], z[2 * i + 1], turns[1 + i]);
      for (unsigned part = 0; part < parts; ++part)
        butterflies.store(z[part], placeInWhole(j, part), v);
    });
    if (stagesOfWhole() < shapes.stages)
      code.loop(code.integer(0), code.integer(parts), 1,
                [&](Value part) { spread(partOf(stagesOfWhole(), part)); });
  }

private:
  /// Channels of one place, +0 behind the sequence.
  Value read(Value place, unsigned v, bool isInside) {
    if (!isInside)
      return code.splat(0.0f, butterflies.lanes);
    body.enterRow(code.add(firstRow, place));
    body.enterElement(columnOf(v), maskOf(v), butterflies.lanes);
    return body.getVector(frame.kernel.getYield().getStores()[0]);
  }

  void spread(const Part &part) {
    eachOfPart(part, [&](Value j, unsigned v) {
      SmallVector<Complex, 4> z;
      for (int64_t i = 0; i < 4; ++i)
        z.push_back(butterflies.load(placeOf(part, j, i), v));
      butterflies.spread(z[0], z[2], part.turns[0]);
      butterflies.spread(z[1], z[3], part.turns[0]);
      butterflies.spread(z[0], z[1], part.turns[1]);
      butterflies.spread(z[2], z[3], part.turns[2]);
      for (int64_t i = 0; i < 4; ++i)
        butterflies.store(z[i], placeOf(part, j, i), v);
    });
    eachQuarter(part, [&](Value quarter) { spread(partOf(part.stage + 2, quarter)); });
  }
};

class Gathering : public TaskOfBlock {
public:
  using TaskOfBlock::TaskOfBlock;

  void build(Value number) {
    enter(number, frame.stored(1));
    bool isFinest = stagesOfWhole() == shapes.stages;
    if (!isFinest)
      code.loop(code.integer(0), code.integer(parts), 1,
                [&](Value part) { gather(partOf(stagesOfWhole(), part)); });
    SmallVector<Complex, 3> turns = turnsOfWhole();
    eachOfWhole([&](Value j, unsigned v, ArrayRef<bool> isInside) {
      SmallVector<Complex, 4> z;
      for (unsigned part = 0; part < parts; ++part)
        z.push_back(read(placeInWhole(j, part), v, isFinest));
      for (unsigned i = 0; parts == 4 && i < 2; ++i)
        butterflies.gather(z[2 * i], z[2 * i + 1], turns[1 + i]);
      for (unsigned i = 0; i < parts / 2; ++i)
        butterflies.gather(z[i], z[i + parts / 2], turns[0]);
      for (unsigned part = 0; part < parts; ++part)
        if (isInside[part])
          write(z[part].real, placeInWhole(j, part), v);
    });
  }

private:
  /// Channels of one place of the spectrum: of the body, or as they are worked on.
  Complex read(Value place, unsigned v, bool ofBody) {
    if (!ofBody)
      return butterflies.load(place, v);
    Value row = code.multiply(code.add(code.multiply(task, code.integer(shapes.places)), place),
                              code.integer(2));
    auto part = [&](int64_t number) {
      body.enterRow(code.add(row, code.integer(number)));
      body.enterElement(code.integer(v * butterflies.lanes), {}, butterflies.lanes);
      return body.getVector(frame.kernel.getYield().getStores()[1]);
    };
    Value real = part(0);
    return {real, part(1)};
  }

  void gather(const Part &part) {
    bool isFinest = part.stage + 2 == shapes.stages;
    eachQuarter(part, [&](Value quarter) { gather(partOf(part.stage + 2, quarter)); });
    eachOfPart(part, [&](Value j, unsigned v) {
      SmallVector<Complex, 4> z;
      for (int64_t i = 0; i < 4; ++i)
        z.push_back(read(placeOf(part, j, i), v, isFinest));
      butterflies.gather(z[0], z[1], part.turns[1]);
      butterflies.gather(z[2], z[3], part.turns[2]);
      butterflies.gather(z[0], z[2], part.turns[0]);
      butterflies.gather(z[1], z[3], part.turns[0]);
      for (int64_t i = 0; i < 4; ++i)
        butterflies.store(z[i], placeOf(part, j, i), v);
    });
  }

  /// Channels of one place of the sequence: real parts, times 1 / places.
  void write(Value real, Value place, unsigned v) {
    Value scale = code.splat(1.0f / static_cast<float>(shapes.places), butterflies.lanes);
    Value line = code.multiply(code.add(firstRow, place), code.integer(shapes.channels));
    code.store(butterflies.multiply(real, scale),
               code.address(frame.stored(0), code.f32(), code.add(line, columnOf(v))), maskOf(v));
  }
};

} // namespace

void Transform::buildTasks(Code &code, Frame &frame, Value first, Value last) const {
  Spreading sequence(code, frame);
  code.loop(first, last, 1, [&](Value task) { sequence.build(task); });
}

void InverseTransform::buildTasks(Code &code, Frame &frame, Value first, Value last) const {
  Gathering sequence(code, frame);
  code.loop(first, last, 1, [&](Value task) { sequence.build(task); });
}

//===--- CUDA ---===//

Tile TransformOfBlocks::getDefaultCudaTile(KernelOp) const { return {256}; }

FailureOr<Launch> TransformOfBlocks::getLaunch(KernelOp kernel, CudaPlanAttr plan) const {
  ArrayRef<int64_t> tile = plan.getTile();
  if (tile.size() != 1 || !isWarps(tile[0]))
    return refuseTile(kernel);
  Launch launch;
  launch.threads = tile[0];
  launch.axes = {{TransformShapes(kernel).tasks(), 1}};
  return launch;
}

BodyForm TransformOfBlocks::getBodyForm(KernelOp kernel, CudaPlanAttr) const {
  TransformShapes shapes(kernel);
  BodyForm form;
  form.constants =
      bodyConstant("kLength", shapes.length) + bodyConstant("kChannels", shapes.channels) +
      bodyConstant("kPlaces", shapes.places) + bodyConstant("kStages", int64_t{shapes.stages});
  form.after = ", float* terms";
  return form;
}

} // namespace halftone::skeletons
