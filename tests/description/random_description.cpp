// SPDX-License-Identifier: Apache-2.0
#include "random_description.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>

#include "asked_shape.hpp"
#include "builder.hpp"
#include "halftone/description/validate.hpp"
#include "halftone/encoding/traits.hpp"

namespace halftone::tests {
namespace {

constexpr Element kIntegers[] = {Element::i32, Element::u8,  Element::i8,
                                 Element::u16, Element::i16, Element::i64};

class Generator {
 public:
  explicit Generator(const std::vector<std::uint32_t>& choices) : choices_(choices) {}

  Description description() {
    built().name = text();
    add_input();
    // What is left is for outputs, settings and rules.
    while (at_ < choices_.size() / 2 && built().nodes.size() < 60) add_something();
    if (!built().losses.empty() && !trains_) train_something();
    name_unused();
    if (!built().losses.empty()) want_gradients();
    optimizer();
    if (below(2) == 1) clips();
    if (below(4) == 1) built().clip_value = positive();
    if (below(3) == 1) built().schedule = random_function(1).expression;
    if (below(3) == 1) built().average = 0.5;
    static constexpr const char* kStages[] = {"a-B", "_9", "predict"};
    for (std::size_t i = below(4) == 1 ? 1 + below(3) : 0; i > 0; --i) {
      built().stages.emplace_back(kStages[i - 1]);
    }
    add_rules();
    return std::move(built());
  }

 private:
  Description& built() { return builder_.description; }
  const Node& node(NodeId id) { return built().nodes[static_cast<std::size_t>(id)]; }
  const Shape& shape(NodeId id) { return node(id).shape; }

  std::uint32_t next() { return at_ < choices_.size() ? choices_[at_++] : 0; }
  std::uint32_t below(std::size_t bound) { return next() % static_cast<std::uint32_t>(bound); }
  NodeId any_value() { return values_[below(values_.size())]; }

  std::string name() {
    static constexpr const char* kStems[] = {"x", "h/0/fc.weight", "0", "-", "..", "_A-z/9"};
    return kStems[below(6)] + std::to_string(built().nodes.size());
  }

  std::string text() {
    std::string result;
    for (std::size_t length = below(6); length > 0; --length) result += static_cast<char>(next());
    return result;
  }

  /// In f32, too.
  double finite() {
    static constexpr double kSpecial[] = {0, 1, -1, 0.1, -0.0, 5e-324, 1e-5, 3.4028235e38};
    const std::uint32_t choice = below(16);
    if (choice < 8) return kSpecial[choice];
    const auto bits = static_cast<std::uint64_t>(next()) << 32;
    const double value = std::bit_cast<double>(bits | next());
    return std::abs(value) < 0x1p127 ? value : 0.5;
  }

  double positive() {
    const double value = std::abs(finite());
    return value > 0x1p-149 ? value : 0.25;
  }

  /// In f32, too.
  double below_one() { return next() / 4294967296.0 * (1 - 0x1p-24); }

  Dimension dimension() {
    static constexpr const char* kSymbols[] = {"batch", "time", "_n2"};
    const std::uint32_t choice = below(8);
    if (choice >= 3) return fixed(1 + below(9));
    Dimension of_symbol = symbol(kSymbols[choice]);
    if (below(4) == 0) of_symbol.factor = 1 + below(6);
    return of_symbol;
  }

  static bool ends_in_symbol(const Shape& shape) {
    return !shape.empty() && !shape.back().symbol.empty();
  }

  /// A shape with fixed last dimension, so that every kind of layer can follow.
  Shape new_shape() {
    Shape result;
    for (std::size_t rank = below(3); rank > 0; --rank) result.push_back(dimension());
    result.push_back(fixed(1 + below(40)));
    return result;
  }

  void add_input() {
    static constexpr Element kFormats[] = {Element::f32, Element::f16, Element::bf16, Element::u8,
                                           Element::i8,  Element::u16, Element::i16};
    Shape shape = new_shape();
    values_.push_back(builder_.input(name(), std::move(shape), kFormats[below(7)]));
    Node& input = built().nodes.back();
    if (!holds_integers(input) || below(2) == 0) return;
    const InputAttributes converted{.scale = finite(), .offset = finite()};
    if (converted != InputAttributes{}) input.attributes = converted;
  }

  void want_gradients() {
    for (Node& node : built().nodes) {
      const bool may = is_input(node.kind) && !encoding::traits(node.format).integer;
      if (may && below(4) == 1) node.attributes = InputAttributes{.gradient = true};
    }
  }

  void train_something() {
    must_train_ = true;
    for (int i = 0; !trains_ && i < kKinds; ++i) {
      const auto kind = static_cast<Kind>(i);
      for (const OperandForm& form : form_of(kind).operands) {
        if (!trains_ && form.is_parameter()) add_computed(kind, values_.front());
      }
    }
  }

  NodeId parameter(Shape shape) {
    ParameterAttributes attributes;
    attributes.initializer.kind = static_cast<Initializer::Kind>(below(shape.size() > 1 ? 5 : 4));
    attributes.initializer.first = finite();
    if (attributes.initializer.kind == Initializer::Kind::uniform) {
      attributes.initializer.first = -positive();
      attributes.initializer.second = positive();
    } else if (attributes.initializer.kind == Initializer::Kind::normal) {
      attributes.initializer.second = std::abs(finite());
    } else if (attributes.initializer.kind == Initializer::Kind::truncated_normal) {
      attributes.initializer.second = std::abs(finite());
      attributes.initializer.low = -positive();
      attributes.initializer.high = positive();
    }
    attributes.decay = below(3) != 1;
    attributes.frozen = !must_train_ && below(4) == 1;
    attributes.learning_rate_scale = below(2) == 0 ? 1.0 : std::abs(finite());
    trains_ = trains_ || !attributes.frozen;
    return builder_.parameter(name(), std::move(shape), attributes);
  }

  /// Values of one shape, repeats allowed.
  std::vector<NodeId> alike(NodeId first) {
    std::vector<NodeId> values = {first};
    for (const NodeId id : values_) {
      if (values.size() < 4 && shape(id) == shape(first) && below(2) != 0) values.push_back(id);
    }
    return values;
  }

  Function random_function(std::size_t arity) {
    Expression expression{static_cast<std::int32_t>(arity), {{ScalarOp::operand, 0}}};
    std::vector<std::int32_t> numbers = {0};
    auto& instructions = expression.instructions;
    const auto number = [&] { return numbers[below(numbers.size())]; };
    for (std::size_t count = below(12); count > 0; --count) {
      const auto op = static_cast<ScalarOp>(below(27));
      ScalarInstruction instruction{op};
      if (op == ScalarOp::operand) {
        instruction.a = static_cast<std::int32_t>(below(arity));
      } else if (op == ScalarOp::constant) {
        instruction.constant = below(9) == 1 ? -HUGE_VAL : finite();
      } else if (op == ScalarOp::select) {
        const auto condition = static_cast<std::int32_t>(instructions.size());
        instructions.push_back({ScalarOp::less_equal, number(), number()});
        instruction = {op, condition, number(), number()};
      } else {
        instruction.a = number();
        const bool unary = op >= ScalarOp::negate && op <= ScalarOp::sigmoid;
        if (!unary) instruction.b = number();
      }
      const bool condition = op >= ScalarOp::less && op <= ScalarOp::equal;
      if (!condition) numbers.push_back(static_cast<std::int32_t>(instructions.size()));
      instructions.push_back(instruction);
    }
    instructions.push_back({ScalarOp::tanh, number()});
    return {text(), std::move(expression)};
  }

  void add_something() {
    const NodeId x = any_value();
    const auto kind = static_cast<Kind>(below(kKinds));
    if (is_input(kind)) return add_input();
    if (is_state(kind) && !adds_to_symbols(x)) return state(x);
    if (is_computed(kind)) add_computed(kind, x);  // parameters come with their layers
  }

  /// Whether x has a dimension that no input and no state can have (D116).
  bool adds_to_symbols(NodeId x) {
    return std::ranges::any_of(shape(x), [](const Dimension& dimension) {
      return !dimension.symbol.empty() && dimension.extent != 0;
    });
  }

  /// A layer or loss that reads x, by its form; nothing where x does not fit it.
  void add_computed(Kind kind, NodeId x) {
    std::vector<Operand> operands = operands_for(kind, x);
    const bool weighs = operands.back().role == kSampleWeight.role;
    const Shape weights = weighs ? shape_of_weights(kind, x) : Shape{};
    std::vector<Shape> shapes;
    for (const Operand& operand : operands) {
      const bool integers = operand_form(form_of(kind), operand.role).integers;
      shapes.push_back(integers || is_of_rows(kind, operand.role) ? rows_of(x)
                       : operand.node < 0                         ? Shape{}
                                                                  : shape(operand.node));
    }
    if (weighs) shapes.back() = weights;
    const auto is_made = [&](const Operand& operand) {  // as an input like x
      return operand.node < 0 &&
             (operand_form(form_of(kind), operand.role).integers || is_of_rows(kind, operand.role));
    };
    if ((weighs || std::ranges::any_of(operands, is_made)) && adds_to_symbols(x)) return;
    const Attributes attributes = attributes_of(kind, operands.size() - (weighs ? 1 : 0), shape(x));
    const auto choose = [&](int operand, std::size_t dimension) {
      const auto& role = operands[static_cast<std::size_t>(operand)].role;
      return chosen(operand_form(form_of(kind), role), dimension);
    };
    AskedShape asked(kind, operands, std::move(shapes), weighs, attributes, choose);
    AllKinds::infer_shape(kind, asked);
    if (!asked.result() || ends_in_symbol(*asked.result())) return;
    for (int i = 0; i < static_cast<int>(operands.size()); ++i) {
      auto& [role, read] = operands[static_cast<std::size_t>(i)];
      const OperandForm& form = operand_form(form_of(kind), role);
      if (form.weighs) {
        read = builder_.input(name(), weights);
      } else if (read < 0) {
        read = form.integers            ? builder_.input(name(), rows_of(x), kIntegers[below(6)])
               : is_of_rows(kind, role) ? builder_.input(name(), rows_of(x))
               : form.kept              ? kept_state(asked.needed(i))
                                        : parameter_of(asked.needed(i), form);
      }
    }
    const NodeId id = builder_.node(name(), kind, std::move(operands), *asked.result());
    built().nodes.back().attributes = attributes;
    if (!is_loss(kind)) return values_.push_back(id);
    built().losses.insert(built().losses.begin() + below(built().losses.size() + 1),
                          {id, finite()});
  }

  /// Of rows, or of the elements of a loss that has them.
  Shape shape_of_weights(Kind kind, NodeId x) {
    const bool has_elements = kind == kind_called("mse") || kind == kind_called("pointwise_loss");
    const bool elements = has_elements && below(2) == 1;
    return elements ? shape(x) : rows_of(x);
  }

  /// Whether it is of floats, one for every row of x.
  static bool is_of_rows(Kind kind, std::string_view role) {
    return kind == kind_called("cosine_embedding") && role == "target";
  }

  Shape rows_of(NodeId x) { return {shape(x).begin(), shape(x).end() - 1}; }

  /// -1 stands for a parameter or a state of its own, whose shape is not known yet, and for an
  /// input of integers or of weights.
  std::vector<Operand> operands_for(Kind kind, NodeId x) {
    const Table<OperandForm>& forms = form_of(kind).operands;
    std::vector<Operand> operands;
    for (const OperandForm& form : forms) {
      if (form.repeated) {
        for (const NodeId id : alike(x)) {
          operands.push_back({form.role + std::to_string(operands.size()), id});
        }
        continue;
      }
      if (form.optional && below(2) == 0) continue;
      NodeId node = operands.empty() ? x : alike(x).back();
      if (form.is_own() || form.integers || form.weighs || is_of_rows(kind, form.role)) node = -1;
      operands.push_back({form.role, node});
    }
    return operands;
  }

  /// One of that shape that there is, if it may be tied, or a new one.
  NodeId parameter_of(const Shape& wanted, const OperandForm& form) {
    for (NodeId id = 0; form.may_be_tied && id < static_cast<NodeId>(built().nodes.size()); ++id) {
      if (is_parameter(node(id).kind) && shape(id) == wanted && below(2) == 1) return id;
    }
    return parameter(wanted);
  }

  /// The dimensions of a shape by number, in any order.
  std::vector<std::int64_t> any_order(std::size_t rank) {
    std::vector<std::int64_t> order(rank);
    for (std::size_t i = 0; i < rank; ++i) order[i] = static_cast<std::int64_t>(i);
    for (std::size_t i = 0; i < rank; ++i) std::swap(order[i], order[i + below(rank - i)]);
    return order;
  }

  /// One for every spatial dimension, or where 0 is one of them, as of padding, for every side.
  std::vector<std::int64_t> numbers_of_windows(const SettingForm& form, std::size_t rank) {
    const std::size_t spatial = rank < 3 ? 1 : rank > 4 ? 3 : rank - 1;
    std::vector<std::int64_t> numbers(form.accepts(0) ? 2 * spatial : spatial);
    for (std::int64_t& number : numbers) {
      number = static_cast<std::int64_t>(below(3));
      if (!form.accepts(static_cast<double>(number))) number = 1;
    }
    return numbers;
  }

  /// Of as many elements as `shape`.
  Shape any_shape(const Shape& shape) {
    Shape result;
    for (const std::int64_t i : any_order(shape.size()))
      result.push_back(shape[static_cast<std::size_t>(i)]);
    if (below(2) == 1) result.push_back(fixed(1));
    return result;
  }

  Attributes attributes_of(Kind kind, std::size_t arity, const Shape& x) {
    const KindForm& form = form_of(kind);
    if (form.settings.size == 0 && !form.function) return {};
    LayerAttributes result = standard_attributes(kind);
    std::size_t at = 0;
    for (const SettingForm& setting : form.settings) {
      if (setting.optional && below(2) == 0) continue;
      const auto place = result.settings.begin() + static_cast<std::ptrdiff_t>(at++);
      if (setting.optional) result.settings.insert(place, {setting.name, 0.25});
      auto& value = result.settings[at - 1].value;
      // Numbers of heads and of groups divide columns: mostly one of them.
      if (setting.type == SettingType::integer) {
        const auto number = static_cast<std::int64_t>(below(2) == 0 ? 1 : below(40));
        value = setting.accepts(static_cast<double>(number)) ? number : 1;
      }
      if (setting.type == SettingType::flag) value = setting.optional || below(2) == 1;
      if (setting.type == SettingType::choice) {
        value = std::string(setting.words[static_cast<int>(below(setting.words.size))]);
      }
      if (setting.type == SettingType::integers)
        value = setting.accepts ? numbers_of_windows(setting, x.size()) : any_order(x.size());
      if (setting.type == SettingType::dimensions) value = any_shape(x);
      if (setting.type != SettingType::number) continue;
      if (setting.optional) value = std::stod(setting.example);
      const double number = finite();
      for (const double candidate : {number, std::abs(number)}) {
        if (setting.accepts(candidate)) value = candidate;
      }
    }
    if (form.function) result.function = random_function(arity);
    return result;
  }

  /// That of a parameter that there is, now and then, so that it can be tied.
  Dimension chosen(const OperandForm& form, std::size_t dimension) {
    for (const Node& node : built().nodes) {
      const bool fits = is_parameter(node.kind) && node.shape.size() > dimension;
      if (form.may_be_tied && fits && below(3) == 1) return node.shape[dimension];
    }
    return fixed(1 + below(40));
  }

  NodeId kept_state(const Shape& shape) {
    return builder_.node(name(), kStateKind, {}, shape, StateAttributes{finite()});
  }

  void state(NodeId value) {
    const NodeId id =
        builder_.node(name(), kind_called("state"), {}, shape(value), StateAttributes{finite()});
    values_.push_back(id);
    if (below(4) != 1) built().assignments.push_back({id, value});
  }

  void name_unused() {
    std::vector<bool> used(built().nodes.size(), false);
    for (const Node& node : built().nodes) {
      for (const Operand& operand : node.operands)
        used[static_cast<std::size_t>(operand.node)] = true;
    }
    for (const NodeId id : values_) {
      if (used[static_cast<std::size_t>(id)] && below(5) != 1) continue;
      built().outputs.push_back({text() + std::to_string(id), id});
    }
    for (const Output& output : built().outputs) hold_floats(output.node);
    for (const Assignment& assignment : built().assignments) hold_floats(assignment.value);
  }

  /// D6, D7
  void hold_floats(NodeId id) {
    Node& of = built().nodes[static_cast<std::size_t>(id)];
    if (!holds_integers(of)) return;
    of.format = Element::f32;
    of.attributes = {};
  }

  template <typename Enum>
  std::vector<Enum> some(std::size_t first, std::size_t last) {
    std::vector<Enum> chosen;
    for (std::size_t i = first; i <= last; ++i) {
      if (below(3) == 1) chosen.push_back(static_cast<Enum>(i));
    }
    return chosen;
  }

  std::vector<Kind> some_ops() {
    std::vector<Kind> chosen = some<Kind>(0, kKinds - 1);
    std::erase_if(chosen, [](Kind kind) { return is_source(kind); });
    return chosen;
  }

  std::string glob() {
    switch (std::string name = built().nodes[below(built().nodes.size())].name; below(5)) {
      case 0:
        return name;
      case 1:
        return "{" + name + "," + text() + "}";
      case 2:
        return name.substr(0, below(name.size() + 1)) + "**";
      case 3:
        return "*";
      default:
        name.back() = '?';
        return name;
    }
  }

  Clause clause() {
    static constexpr const char* kChips[] = {"sm_80", "sm_90a", "sm_121f", "cpu"};
    Clause result;
    if (below(2) == 1) result.layer = glob();
    if (below(4) == 1) result.classes = some<LayerClass>(0, 5);
    if (below(4) == 1) result.ops = some_ops();
    if (below(3) == 1) result.roles = some<Role>(0, 7);
    if (below(4) == 1) result.passes = some<Pass>(0, 2);
    for (std::size_t i = below(4) == 1 ? below(3) : 0; i > 0; --i) {
      const std::size_t chip = below(4);
      const auto relation = static_cast<Relation>(chip == 3 ? 0 : below(3));
      result.targets.push_back({relation, kChips[chip]});
    }
    for (const std::string& stage : built().stages) {
      if (below(4) == 1) result.stages.push_back(stage);
    }
    if (below(6) == 1) result.bounds = bounds();
    return result;
  }

  Bounds bounds() {
    Bounds is;
    if (below(2) == 1) is.first = 1 + below(4);
    if (below(2) == 1) is.last = 1 + below(4);
    if (below(3) == 1) {
      is.depth_from = below(3);
      is.depth_end = is.depth_from + 1 + below(4);
    }
    if (below(3) == 1) is.at_least = 1 + below(20);
    if (below(3) == 1) is.smaller_than = is.at_least + 1 + below(200);
    return is;
  }

  EncodingChoice choice() {
    static constexpr Element kFormats[] = {Element::f32,  Element::f16,    Element::bf16,
                                           Element::tf32, Element::f8e4m3, Element::f8e5m2};
    const std::uint32_t choice = below(7);
    if (choice == 6) return {true, Element::f32};
    EncodingChoice stated{false, kFormats[choice]};
    stated.encoding.saturate = choice > 0 && below(2) == 1;
    if (choice >= 4 && below(3) == 0) {
      const auto block = static_cast<std::int32_t>(below(5));  // of 2 to 4096, or none
      using Groups = encoding::Scaling;
      stated.encoding.scaling = {.kind = block == 0 ? Groups::Kind::tensor : Groups::Kind::block,
                                 .size = block == 0 ? 0 : 1 << (3 * block - (block == 1 ? 2 : 0)),
                                 .rows = block == 0 ? 1 : 1 << below(4),
                                 .scale = Element::f8e8m0};
      if (block == 0) {
        static constexpr Groups::Kind kKinds[] = {Groups::Kind::tensor, Groups::Kind::row,
                                                  Groups::Kind::column};
        stated.encoding.scaling.kind = kKinds[below(3)];
        if (below(2) == 1) stated.encoding.scaling.scale = Element::f32;
      }
      if (block == 0 && below(2) == 1) {
        stated.encoding.scaling.kind = Groups::Kind::delayed;
        stated.encoding.scaling.history = 1 << below(13);
        stated.encoding.scaling.margin = static_cast<std::int32_t>(below(17));
      }
    }
    return stated;
  }

  MemoryBudget memory_budget() {
    MemoryBudget budget;
    if (below(2) == 1) {
      budget.kind = MemoryBudget::Kind::bytes;
      budget.bytes = 1 + static_cast<std::int64_t>(below(1 << 30));
    } else {
      budget.share = (1 + static_cast<double>(below(1000))) / 1000;
    }
    return budget;
  }

  Quantization quantization() {
    if (below(3) == 0) return {};
    return {below(2) == 1 ? Element::i8 : Element::f8e4m3,
            static_cast<Quantization::Scale>(below(2))};
  }

  LossScale loss_scale() {
    LossScale scale;
    scale.kind = static_cast<LossScale::Kind>(below(3));
    if (scale.kind == LossScale::Kind::none) return scale;
    scale.initial = 1 + below(100000) * 0.5;
    if (scale.kind == LossScale::Kind::fixed) return scale;
    scale.growth = 1.5 + below_one();
    scale.backoff = 0.25 + 0.5 * below_one();
    scale.interval = 1 + below(5000);
    scale.floor = scale.initial * (0.5 + 0.5 * below_one());
    scale.ceiling = scale.initial * (1 + below_one());
    scale.hysteresis = 1 + below(4);
    scale.patience = 1 + below(100);
    return scale;
  }

  /// Any clauses and fields; most mean nothing.
  Rule candidate() {
    Rule result;
    for (std::size_t i = below(4); i > 0; --i) result.clauses.push_back(clause());
    for (std::size_t i = below(6) == 1 ? 1 + below(2) : 0; i > 0; --i)
      result.exceptions.push_back(clause());
    const bool narrow = std::ranges::any_of(result.clauses, [](const Clause& clause) {
      return clause.bounds.stated() || !clause.ops.empty();
    });
    result.if_any = below(narrow ? 2 : 8) == 1;
    if (below(8) == 1) result.because = text();
    if (below(2) == 1) result.store = choice();
    if (below(2) == 1) result.compute = choice();
    if (below(5) == 1) result.result = static_cast<Element>(below(4));
    if (below(5) == 1) result.accumulate = static_cast<Accumulation>(below(3));
    if (below(6) == 1) {
      result.remainder = below(2) == 1;
      result.master = result.remainder ? Element::bf16 : Element::f32;
    }
    if (below(4) == 1) result.rounding = static_cast<Rounding>(below(3));
    if (below(6) == 1) result.recompute = below(2) == 1;
    if (below(6) == 1) result.loss_scale = loss_scale();
    if (below(6) == 1) result.memory_budget = memory_budget();
    if (below(6) == 1) result.quantize = quantization();
    if (below(6) == 1) result.place = static_cast<Memory>(below(2));
    return result;
  }

  /// Rules that validate has nothing against: what is tried here is not validate, but what carries
  /// valid rules from place to place.
  void add_rules() {
    for (std::size_t i = below(6); i > 0; --i) {
      built().rules.push_back(candidate());
      if (validate(built())) built().rules.pop_back();
    }
  }

  /// Of all parameters, or of groups.
  void clips() {
    std::vector<NodeId> trained;
    for (std::size_t id = 0; id < built().nodes.size(); ++id) {
      const auto* of = std::get_if<ParameterAttributes>(&built().nodes[id].attributes);
      if (of != nullptr && !of->frozen) trained.push_back(static_cast<NodeId>(id));
    }
    const bool clips_itself = std::holds_alternative<Adafactor>(built().optimizer);  // U18
    if (trained.empty() || clips_itself || below(2) == 1) {
      built().clip = positive();
      return;
    }
    const std::size_t count = 1 + below(3), first = below(count + 1);  // choices are for rules, too
    std::vector<ClipGroup> groups(count);
    for (ClipGroup& group : groups) group.norm = positive();
    for (std::size_t i = 0; i < trained.size(); ++i) {
      const std::size_t group = (first + i) % (count + 1);
      if (group < count) groups[group].parameters.push_back(trained[i]);
    }
    for (const ClipGroup& group : groups) {
      if (!group.parameters.empty()) built().clip_groups.push_back(group);
    }
  }

  void optimizer() {
    switch (below(std::variant_size_v<Optimizer>)) {
      case 0:
        built().optimizer = drawn(AdamW());
        break;
      case 1:
        built().optimizer = drawn(Sgd());
        break;
      case 2:
        built().optimizer = drawn(Adam());
        break;
      case 3:
        built().optimizer = drawn(NAdam());
        break;
      case 4:
        built().optimizer = drawn(Adagrad());
        break;
      case 5:
        built().optimizer = drawn(RmsProp());
        break;
      case 6:
        built().optimizer = drawn(Lamb());
        break;
      case 7: {
        Custom custom = drawn(Custom());
        for (std::size_t states = below(4); custom.states.size() < states;)
          custom.states.push_back({"s" + std::to_string(custom.states.size()), {}});
        const std::size_t operands = kCustomOperands + custom.states.size();
        custom.parameter = random_function(operands).expression;
        for (Custom::State& state : custom.states)
          state.next = random_function(operands).expression;
        built().optimizer = custom;
        break;
      }
      case 8: {
        Adafactor adafactor = drawn(Adafactor());
        adafactor.epsilon1 = Adafactor().epsilon1 * static_cast<double>(1 + below(8));
        adafactor.clip_threshold = positive();
        built().optimizer = adafactor;
        break;
      }
      default:
        built().optimizer = drawn(Lion());
        break;
    }
    if (auto* sgd = std::get_if<Sgd>(&built().optimizer)) {
      if (sgd->momentum == 0) sgd->nesterov = false;
      if (sgd->momentum == 0 || sgd->nesterov) sgd->dampening = 0;
    }
    if (auto* lamb = std::get_if<Lamb>(&built().optimizer)) {
      lamb->epsilon = positive();
      if (lamb->max_trust != 0) lamb->max_trust = positive();
    }
  }

  template <class Of>
  Of drawn(Of optimizer) {
    for (const auto& setting : Of::settings) {
      if (setting.flag != nullptr)
        optimizer.*setting.flag = below(2) == 1;
      else
        optimizer.*setting.number = setting.below_one ? below_one() : std::abs(finite());
    }
    return optimizer;
  }

  const std::vector<std::uint32_t>& choices_;
  std::size_t at_ = 0;
  Builder builder_;
  std::vector<NodeId> values_;  // f32 values with a fixed last dimension
  bool trains_ = false, must_train_ = false;
};

}  // namespace

Description random_description(const std::vector<std::uint32_t>& choices) {
  return Generator(choices).description();
}

}  // namespace halftone::tests
