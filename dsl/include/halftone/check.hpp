// SPDX-License-Identifier: Apache-2.0
// The compile-time check of a model and every sentence it can say: the culprit, the rule and the
// remedy.
#pragma once

#include "halftone/inspect.hpp"
#include "halftone/nearest.hpp"
#include "halftone/rule_words.hpp"

namespace halftone::dsl::checking {

/// Puts the first fault of a graph into words.
class Report {
 public:
  constexpr explicit Report(Graph& graph) : graph_(graph), found_(graph.finding) {}

  constexpr Sentence sentence() {
    if (found_.fault == Fault::none) return out_;
    if (found_.fault == Fault::misuse) {
      out_.put(found_.text);
      return out_;
    }
    if (found_.fault <= Fault::self_alias)
      names();
    else if (found_.fault <= Fault::unused_value)
      structure();
    else if (found_.fault <= Fault::shape)
      shapes();
    else if (found_.fault <= Fault::loss_as_value)
      kinds();
    else if (found_.fault <= Fault::bad_setting)
      parameters();
    else if (found_.fault <= Fault::assigned_shape)
      functions_and_states();
    else if (found_.fault <= Fault::no_rule)
      training();
    else if (found_.fault <= Fault::unknown_stage)
      rules();
    else
      settings();
    return out_;
  }

 private:
  struct Path {
    int node;
  };  // fc1
  struct Name {
    int node;
  };  // layer 'fc1'
  struct Lambda {
    int node;
  };  // likewise, the schedule or the optimizer
  struct Given {
    int token;
  };  // layer 'fc1', for a token that is no node
  struct Called {
    int token;
  };  // input, without its name
  struct Asker {};  // who refers to a name: a node, an output, or an assignment

  constexpr void put(Path path) { write_name(out_, graph_, path.node); }
  constexpr void put(Name name) { write_node(out_, graph_, name.node); }
  constexpr void put(Lambda lambda) {
    if (lambda.node >= 0) return put(Name{lambda.node});
    out_.put(lambda.node == kLambdaOfOptimizer ? "the optimizer" : "the schedule");
  }
  constexpr void put(Given given) {
    out_.put(described(graph_.program[given.token]));
    if (graph_.program[given.token].name == nullptr) return;
    out_.put(" '");
    out_.put(graph_.program[given.token].name);
    out_.put('\'');
  }
  constexpr void put(Called called) {
    const Token& token = graph_.program[called.token];
    out_.put(token.part == Part::model       ? "the model's name"
             : token.part == Part::dimension ? "the symbol"
                                             : described(token));
  }
  constexpr void put(Asker) {
    if (found_.node >= 0)
      put(Name{found_.node});
    else if (found_.token >= 0)
      put(Given{found_.token});
    else
      out_.put("an assignment");
  }
  constexpr void put(const Nearest& nearest) { nearest.write(out_); }
  constexpr void put(const auto& words) { out_.put(words); }

  constexpr Nearest visible() const {
    return nearest_value(graph_, found_.text, static_cast<int>(found_.number));
  }
  constexpr void say(const auto&... parts) { (put(parts), ...); }

  constexpr void names() {
    switch (found_.fault) {
      case Fault::empty_name:
        return say("a name is empty: give every input, layer, value, output and loss a name");
      case Fault::bad_name:
        return say("the name '", found_.text,
                   "' is not usable: write letters, digits, '_' and '-', with '/' between parts "
                   "that are not digits alone");
      case Fault::bad_model_name:
        return say("the model's name '", found_.text,
                   "' is not a C++ identifier: write letters, digits and '_'");
      case Fault::bad_symbol:
        return say("the symbol '", found_.text, "' of ", Given{found_.token},
                   " is not a C++ identifier: write letters, digits and '_'");
      case Fault::reserved_name:
        return say(Called{found_.token}, " '", found_.text, "' is ",
                   description::kReservedWords[found_.number],
                   ", and the generated header makes a C++ name of it: rename it");
      case Fault::buffer_name:
        return say("the name '", found_.text,
                   "' is kept for buffers that halftonec makes: choose another");
      case Fault::hidden_namespace:
        return say("the model's name '", found_.text,
                   "' would hide a namespace that its generated header needs: rename it");
      case Fault::seed_symbol:
        return say("the symbol 'seed' is an option of every trainer: choose another");
      case Fault::same_name_in_code:
        return say(Given{found_.other}, " and ", Given{found_.token},
                   " would have one name in C++, which writes '/' and '-' as '_': rename one");
      case Fault::duplicate_name:
        return say("the name '", found_.text, "' is given twice, to ", Given{found_.other},
                   " and then to ", Given{found_.token}, ": rename one of them");
      case Fault::same_derived_name:
        return say("two layers without names of their own would both be called '",
                   Path{found_.node}, "': name one of them with as()");
      case Fault::unknown_value:
        return say(Asker{}, " reads '", found_.text,
                   "', but no input, layer, as() or output that it can see has that name: add it "
                   "or correct the name",
                   visible());
      default:
        return say("the name '", found_.text,
                   "' stands for itself: name a layer's result with as()");
    }
  }

  constexpr void structure() {
    switch (found_.fault) {
      case Fault::not_constant:
        return say("the model is not known while compiling: declare it constexpr");
      case Fault::no_input:
        return say("the model has no input: add inputs(tensor(\"x\", batch, 8))");
      case Fault::no_source:
        return say("the chain has no value at ", Given{found_.token},
                   ": begin it with from(\"name\")");
      case Fault::bad_repeat:
        return say("repeat '", found_.text, "' has ", found_.number,
                   " copies of its body: write a number of 1 or more");
      case Fault::too_many_dimensions:
        return say(Given{found_.token}, " has more than ", kMaxRank,
                   " dimensions: join some of them");
      case Fault::cycle:
        return say(Name{found_.other}, " and ", Name{found_.node},
                   " wait for each other in a cycle: keep last step's value in a state, or cut one "
                   "of the two");
      case Fault::unused_input:
        return say(Name{found_.node},
                   " is read by nothing: use it with from() or in a loss, or remove it");
      case Fault::unused_state:
        return say(Name{found_.node}, " is read by nothing: use it with from(), or remove it");
      default:
        return say(
            Name{found_.node},
            " has a result that nothing uses: continue from it, make it an output, or remove it");
    }
  }

  constexpr void shapes() {
    const Name layer{found_.node};
    const Shape &left = found_.left, &right = found_.right;
    switch (found_.fault) {
      case Fault::bad_extent:
        return say(Given{found_.token}, " has a dimension of ", found_.number,
                   ": write a positive number or a symbol");
      case Fault::bad_factor:
        if (found_.number == kPartOfSymbol) {
          return say(Given{found_.token}, " has a part of the symbol '", found_.text,
                     "' as a dimension: give the input a multiple of it, as 2 * symbol(\"",
                     found_.text, "\"), of which a stride of 2 leaves the symbol");
        }
        if (found_.number == kProductOfSymbols) {
          return say(Given{found_.token}, " has a product of the symbol '", found_.text,
                     "' and a symbol as a dimension: keep them as two dimensions");
        }
        return say(Given{found_.token}, " has a dimension of ", found_.number,
                   " times the symbol '", found_.text, "': write a factor from 1 to ",
                   static_cast<long long>(description::kMostFactor));
      case Fault::sum_of_symbol:
        return say(Given{found_.token}, " has a dimension that adds to the symbol '", found_.text,
                   "': give it a multiple of that, to which pad1d() and its like add");
      case Fault::too_many_elements:
        return say(Given{found_.token}, " has more than ",
                   static_cast<long long>(description::kMostOfShape),
                   " elements: make its dimensions smaller");
      case Fault::symbolic_columns:
        return say(layer, " has weights and reads rows whose length is the symbol '", found_.text,
                   "': give the last dimension a number");
      case Fault::repeat_shape:
        return say(Given{found_.token}, " gives its body ", left, " but the body returns ", right,
                   ": make its last layer return ", left);
      case Fault::residual_shape:
        return say(layer, " adds ", left, " and its residual body's ", right,
                   ": make the body's last layer return ", left);
      default:
        say(layer, " ");
        return NodeView(graph_, found_.node, &out_).apply();
    }
  }

  constexpr void kinds() {
    const Name other{found_.other};
    switch (found_.fault) {
      case Fault::integers_as_values:
        return say(Asker{}, " reads ", other,
                   " as a value, but it holds integers: declare it with tensor(), or use it as the "
                   "label of a loss, the token of an embedding or what masks keys of an attention");
      case Fault::values_as_integers:
        return say(Name{found_.node}, " takes ", other, " as its ", found_.text,
                   ": declare an input with ", found_.text, "s() for it");
      case Fault::weight_not_delivered:
        return say(Name{found_.node}, " takes ", other,
                   " as its sample_weight, which is no input: declare one with tensor() for it");
      default:
        return say(other,
                   " is a loss and cannot be read as a value: read the value that the loss is "
                   "computed from");
    }
  }

  constexpr void parameters() {
    const Name layer{found_.node};
    switch (found_.fault) {
      case Fault::not_an_option:
        return not_an_option();
      case Fault::integers_with_gradient:
        return say(layer,
                   " wants a gradient but holds integers, which have none: declare it with "
                   "tensor(), or leave with_gradient out");
      case Fault::gradient_without_loss:
        return say(layer,
                   " wants a gradient but the model has no loss: add losses(...), or leave "
                   "with_gradient out");
      case Fault::input_twice:
        return say(layer, " is given an element or an option twice: keep one");
      case Fault::element_of_values:
        return say(layer, " has values of ", found_.text,
                   ": let them be f32, f16, bf16, u8, i8, u16 or i16, and declare what losses or "
                   "embeddings count with labels() or tokens()");
      case Fault::element_of_integers:
        return say(layer, " has labels or tokens of ", found_.text,
                   ": let them be u8, i8, u16, i16, i32 or i64, or declare values with tensor()");
      case Fault::no_conversion:
        return say(layer,
                   " has a scale or an offset, but only values of u8, i8, u16 or i16 have: "
                   "write tensor(\"x\", u8, batch, 64, scale(1.0 / 255)), or leave it out");
      case Fault::bad_conversion:
        return say(layer,
                   " has a scale or an offset that is not finite in f32: write "
                   "scale(1.0 / 255)");
      case Fault::tied_unknown:
      case Fault::tied_kind:
      case Fault::tied_cycle:
      case Fault::tied_shape:
      case Fault::tied_options:
      case Fault::tied_twice:
        return shares() ? shared() : tied();
      case Fault::tied_turned:
        return say(layer, " names '", found_.text,
                   "', which uses another layer's weight transposed: name the layer that owns it");
      case Fault::no_bias_options:
        return say(layer, " has options for a bias but no bias: remove them or no_bias");
      case Fault::bad_scale:
        return say(layer,
                   " has a learning_rate_scale that is negative or not finite in f32: write 0 or "
                   "a positive number");
      case Fault::bad_initializer:
        return say(layer,
                   " has an initializer out of range: write numbers finite in f32, low before "
                   "high, no negative deviation");
      default: {
        const auto& setting =
            form_of(graph_.nodes[found_.node].kind).settings[static_cast<int>(found_.number)];
        say(layer, " has ", setting.title, " that ", setting.trouble, ": write ");
        return setting.plain ? say(setting.example) : say(setting.name, "(", setting.example, ")");
      }
    }
  }

  /// Whether the layer's last option of the two is shared().
  constexpr bool shares() const {
    bool shares = false;
    const Program& program = graph_.program;
    for (int at = graph_.nodes[found_.node].token + 1;
         at < program.size && is_layer_option(program[at].part); ++at) {
      if (program[at].part == Part::tied) shares = program[at].detail == kBoth;
    }
    return shares;
  }

  constexpr void tied() {
    const Name layer{found_.node};
    switch (found_.fault) {
      case Fault::tied_unknown:
        return say(layer, " is tied to '", found_.text,
                   "', but no layer that it can see has that name: correct the name in tied()",
                   visible());
      case Fault::tied_kind:
        return tied_kind();
      case Fault::tied_cycle:
        return say(layer, " is tied to itself through '", found_.text,
                   "': let one layer own the weight");
      case Fault::tied_shape:
        say(layer, " needs a weight of ", found_.left, " but is tied to ", Name{found_.other},
            " of ", found_.right, ": ");
        return tied_shape();
      case Fault::tied_options:
        return say(layer,
                   " is tied and cannot have options for a weight of its own: give them to the "
                   "layer that owns the weight, or put them inside on_bias()");
      default:
        return tied_twice();
    }
  }

  /// Says how the weights of two layers fit.
  constexpr void tied_shape() {
    const Node& node = graph_.nodes[found_.node];
    const description::KindForm& form = form_of(node.kind);
    const bool turns =
        form.settings.size > 0 && form.settings[0].type == description::SettingType::flag;
    const Shape &left = found_.left, &right = found_.right;
    const bool turned = left.rank == 2 && right.rank == 2 &&
                        left.dimensions[0] == right.dimensions[1] &&
                        left.dimensions[1] == right.dimensions[0];
    if (turns && NodeView(graph_, found_.node).flag(0))
      return say("make the outputs of each the inputs of the other");
    if (turns && turned) return say("write tied(\"...\", transposed)");
    say("make outputs and inputs of both layers equal");
  }

  constexpr void shared() {
    const Name layer{found_.node};
    const char* word = form_of(graph_.nodes[found_.node].kind).word;
    switch (found_.fault) {
      case Fault::tied_unknown:
        return say(layer, " shares the parameters of '", found_.text,
                   "', but no layer that it can see has that name: correct the name in shared()",
                   visible());
      case Fault::tied_kind:
        return say(layer, " shares the parameters of '", found_.text, "', which is no ", word,
                   ": name a ", word, " layer");
      case Fault::tied_cycle:
        return say(layer, " shares its own parameters through '", found_.text,
                   "': let one layer own them");
      case Fault::tied_shape:
        return say(layer, " needs parameters of ", found_.left, " but shares ", Name{found_.other},
                   " of ", found_.right, ": make outputs and inputs of both layers equal");
      case Fault::tied_options:
        return say(layer,
                   " shares its parameters and cannot have options for its own: give them to the "
                   "layer that owns the parameters");
      default:
        return tied_twice();
    }
  }

  constexpr void tied_twice() {
    say(Name{found_.node}, " is given more than one of tied() and shared(): keep one");
  }

  /// Says which kinds have a weight that others may use.
  constexpr void tied_kind() {
    say(Name{found_.node}, " is tied to '", found_.text,
        "', which has no weight to share: tie it to a ");
    bool several = false;
    for (const description::KindForm* form : description::AllKinds::forms) {
      bool shares = false;
      for (const description::OperandForm& operand : form->operands) shares |= operand.may_be_tied;
      if (!shares) continue;
      say(several ? " or " : "", form->word);
      several = true;
    }
    say(" layer");
  }

  /// Says what options the layer has in their place.
  constexpr void not_an_option() {
    const description::Kind kind = graph_.program[found_.token].kind();
    say(Given{found_.token}, " is given what is no option of ", form_of(kind).word, ": it takes ");
    for (const description::OperandForm& operand : form_of(kind).operands) {
      if (operand.is_parameter() && operand.optional) say("no_", operand.role, ", ");
    }
    for (const description::SettingForm& setting : form_of(kind).settings) {
      if (setting.optional && setting.type != description::SettingType::flag)
        say(setting.name, "(), ");
    }
    if (tied_operand(kind) >= 0) say("tied(), shared(), and ");
    say("options of parameters such as frozen, no_decay or init_normal()");
  }

  /// That a lambda is given.
  constexpr long long values() const {
    if (found_.node < 0) return 1;  // the schedule's
    const Node& node = graph_.nodes[found_.node];
    return node.operand_count - (node.weighs ? 1 : 0);
  }

  constexpr void functions_and_states() {
    const Lambda lambda{found_.node};
    const Name layer{found_.node};
    switch (found_.fault) {
      case Fault::captures:
        return say(lambda,
                   " has a lambda that captures variables: write numbers into the lambda, or name "
                   "constexpr globals");
      case Fault::arity:
        if (found_.node == kLambdaOfOptimizer)
          return say(lambda, " has a lambda that does not compile with the element and its ",
                     graph_.program.optimizer.state_count,
                     " states: write [](auto of, ...) { return updated(of.parameter - "
                     "of.learning_rate * of.gradient, ...); }, with a value for each state");
        if (found_.number < 1)
          return say(lambda, " has a lambda that does not compile with ", values(),
                     " of the dsl's values: write [](auto x, ...) { return ...; }");
        return say(lambda, " gives its lambda ", values(), " values but the lambda takes ",
                   found_.number, ": make the numbers equal");
      case Fault::lambda_result:
        if (found_.node == kLambdaOfOptimizer)
          return say(lambda,
                     " has a lambda that does not return the element's value and those of its ",
                     graph_.program.optimizer.state_count,
                     " states: return updated(parameter, ...), with a number for each state");
        return say(
            lambda,
            " has a lambda that does not return a number: return an expression of its arguments");
      case Fault::lambda_constants:
        return say(
            lambda,
            " has a lambda that computes with constants alone: write the result as a number");
      case Fault::lambda_nan:
        return say(lambda,
                   " has a lambda with a constant that is not a number: write a finite one");
      case Fault::lambda_branch:
        return say(lambda,
                   " has a lambda that branches on a comparison: write select(x > 0, a, b), once "
                   "for each comparison, in place of if, ?:, while, && and ||");
      case Fault::lambda_condition:
        return say(lambda,
                   " has a lambda that computes with a comparison: write select(x > 0, 1, 0)");
      case Fault::lambda_untraceable:
        return say(lambda,
                   " has a lambda that cannot be traced: take parameters as auto, read constexpr"
                   " variables alone, and write + - * / and exp, expm1, log, log1p, pow, sqrt, "
                   "rsqrt, sin, cos, tanh, erf, sigmoid, softplus, abs, floor, clamp, minimum, "
                   "maximum and select without std::");
      case Fault::lambda_length:
        return say(lambda, " has a lambda of more than ", kMaxInstructions,
                   " operations: split it into two layers");
      case Fault::not_a_state:
        return say(layer, " is assigned to but is no state: declare it with state()");
      case Fault::assigned_twice:
        return say(layer, " is assigned to twice: keep one assign()");
      default:
        return say(layer, " of ", found_.left, " is assigned ", Name{found_.other}, " of ",
                   found_.right, ": make the shapes equal");
    }
  }

  constexpr void training() {
    switch (found_.fault) {
      case Fault::no_loss:
        return say(
            "the model has an optimizer but no loss: add losses(...), or leave the optimizer out");
      case Fault::no_optimizer:
        return say(
            "the model has losses but no optimizer: add one, such as adamw(...), to "
            "HALFTONE_MODEL");
      case Fault::bad_loss_weight:
        return say(Name{found_.node}, " has a weight that is not finite in f32: write weight(1.0)");
      case Fault::all_frozen:
        return say(
            "the model has losses but no parameter to train: unfreeze one, or leave losses and "
            "optimizer out");
      case Fault::unknown_setting:
        return say(
            "HALFTONE_MODEL is given what is no setting: it takes a model, precision(...), an "
            "optimizer such as adamw(...), clip(...), clip_value(...), schedule(...), average(...), "
            "stages(...) and group(...)");
      case Fault::repeated_setting:
        return say("HALFTONE_MODEL is given several ", found_.text, ": keep one");
      case Fault::no_precision:
        return say(
            "HALFTONE_MODEL is given no precision rules: add precision(everywhere(store(f32), "
            "compute(f32)))");
      default:
        return say("precision is given no rule: write everywhere(store(f32), compute(f32))");
    }
  }

  constexpr void rules() {
    const Rule& rule = graph_.program.rules[found_.rule];
    if (found_.defect == RuleDefect::not_a_rule) {
      return say("precision is given what is no rule: write everywhere(...) or where(...)(...)");
    }
    if (found_.defect == RuleDefect::not_a_selector) {
      return say(
          "where is given what selects nothing: write layer(\"fc*\"), a class, an op, a role, a "
          "pass or a target");
    }
    say("the rule '");
    write_rule(out_, rule);
    say("'");
    if (found_.fault == Fault::rule_defect) return write_defect(out_, found_.defect, found_.text);
    if (found_.fault == Fault::unknown_stage) return unknown_stage();
    const int clause = found_.meaning.clause;
    const char* const glob = clause >= 0 ? RuleView{rule}.clause(clause).layer : nullptr;
    meaning::write_fault(out_, found_.meaning, glob);
    if (found_.meaning.trouble == meaning::Trouble::unknown_name)
      put(nearest_layer(graph_, glob));
    if (found_.meaning.trouble == meaning::Trouble::not_a_chip) {
      Nearest nearest(found_.meaning.word);
      for (const Chip& chip : kChips) nearest.offer(chip.name);
      put(nearest);
    }
  }

  constexpr void unknown_stage() {
    const Stages& stages = graph_.program.stages;
    Nearest nearest(found_.text);
    for (int i = 0; i < stages.count; ++i) nearest.offer(stages.names[i]);
    say(" speaks of the stage \"", found_.text, "\", which the model does not have", nearest,
        stages.count == 0 ? "; give HALFTONE_MODEL stages(...) with its name (P66)"
                          : "; correct it or add it to stages(...) (P66)");
  }

  constexpr void settings() {
    const char* optimizer = found_.text;
    switch (found_.fault) {
      case Fault::unknown_option:
        say(optimizer, " is given what is no option of it: it takes ");
        return options(graph_.program.optimizer.takes);
      case Fault::repeated_option:
        return say(optimizer, " is given ", graph_.program.optimizer.twice, " twice: keep one");
      case Fault::bad_learning_rate:
        return say(optimizer,
                   " has a learning rate that is negative or not finite in f32: write lr(1e-3)");
      case Fault::bad_weight_decay:
        return say(
            optimizer,
            " has a weight decay that is negative or not finite in f32: write weight_decay(0.01)");
      case Fault::bad_momentum:
        return say(optimizer, " has a momentum outside [0, 1) in f32: write momentum(0.9)");
      case Fault::nesterov_alone:
        return say(optimizer,
                   " has nesterov without a momentum: add momentum(0.9) or remove nesterov");
      case Fault::bad_dampening:
        return say(optimizer, " has a dampening outside [0, 1) in f32: write dampening(0.1)");
      case Fault::dampening_alone:
        return say(optimizer,
                   " has dampening without a momentum: add momentum(0.9) or remove dampening");
      case Fault::nesterov_dampened:
        return say(optimizer, " has nesterov and dampening: remove one of them");
      case Fault::bad_betas:
        return say(optimizer, " has a beta outside [0, 1) in f32: write betas(0.9, 0.999)");
      case Fault::bad_optimizer_epsilon:
        return say(optimizer,
                   " has an epsilon that is negative or not finite in f32: write epsilon(1e-8)");
      case Fault::bad_momentum_decay:
        return say(
            optimizer,
            " has a momentum_decay that is negative or not finite in f32: write "
            "momentum_decay(0.004)");
      case Fault::bad_initial_accumulator:
        return say(optimizer,
                   " has an initial_accumulator_value that is negative or not finite in f32: write "
                   "initial_accumulator_value(0.1)");
      case Fault::bad_alpha:
        return say(optimizer, " has an alpha outside [0, 1) in f32: write alpha(0.99)");
      case Fault::bad_lamb_epsilon:
        return say(optimizer,
                   " has an epsilon that is not positive and finite in f32: write epsilon(1e-6)");
      case Fault::bad_max_trust:
        return say(optimizer,
                   " has a max_trust that is not positive and finite in f32: write max_trust(10.0) "
                   "or leave max_trust out");
      case Fault::bad_decay_rate:
        return say(optimizer,
                   " has a decay_rate that is negative or not finite in f32: write decay_rate(0.8)");
      case Fault::bad_epsilons:
        return say(optimizer,
                   " has epsilons of which the first, whose square it divides by, is not positive "
                   "and finite in f32, or the second negative: write epsilons(1e-15, 1e-3)");
      case Fault::bad_clip_threshold:
        return say(optimizer,
                   " has a clip_threshold that is not positive and finite in f32: write "
                   "clip_threshold(1.0)");
      case Fault::clips_of_all_and_groups:
        return say(
            "the model has clip() for all parameters and a group with a clip of its own: write "
            "group(\"**\", clip(1.0)) in place of clip(1.0), in front of the other groups");
      case Fault::bad_clip_value:
        return say(
            "the clip value is not positive and finite in f32: write clip_value(1.0) or leave "
            "clip_value out");
      case Fault::bad_state_name:
        return say("the optimizer has a state '", found_.text,
                   "', which is no identifier, a name that it has already or 'parameter': give "
                   "each of at most 8 states a name of letters, digits and '_'");
      case Fault::bad_stage:
        return say("stages(...) has a name '", found_.text == nullptr ? "" : found_.text,
                   "' that is not usable: write letters, digits, '_' and '-' (P66)");
      case Fault::repeated_stage:
        return say("stages(...) has '", found_.text, "' twice: keep one (P66)");
      case Fault::many_stages:
        return say("stages(...) has no name or more than ", description::kMostStages,
                   ": write from 1 to so many, such as stages(\"warmup\", \"full\") (P66)");
      case Fault::bad_average:
        return say("the average keeps a share outside [0, 1) in f32: write average(0.999)");
      default:
        return say(
            "the clip norm is not positive and finite in f32: write clip(1.0) or leave clip out");
    }
  }

  /// "lr, betas and epsilon", of their bits.
  constexpr void options(unsigned taken) {
    for (int i = 1; taken >> i != 0; ++i) {
      if ((taken >> i & 1u) == 0) continue;
      const bool is_first = (taken & ((1u << i) - 1)) == 0, is_last = taken >> (i + 1) == 0;
      say(is_first ? "" : is_last ? " and " : ", ", building::kOptionWords[i]);
    }
  }

  Graph& graph_;
  const Finding& found_;
  Sentence out_;
};

/// What is wrong with a program, as one sentence; empty when it is sound.
constexpr Sentence check(const Program& program) {
  Graph graph(program, false);
  elaborate(graph);
  if (graph.sound()) Inspection(graph).run();
  return Report(graph).sentence();
}

}  // namespace halftone::dsl::checking
