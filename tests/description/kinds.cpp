// SPDX-License-Identifier: Apache-2.0
#include "halftone/description/kinds.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>

#include "halftone/description/text.hpp"

using namespace halftone::description;

namespace {

void check(const SettingForm& setting) {
  CAPTURE(setting.name);
  CHECK(setting.name != nullptr);
  CHECK((setting.title != nullptr || setting.type == SettingType::flag));
  if (setting.type == SettingType::number || setting.type == SettingType::integer) {
    REQUIRE((setting.accepts != nullptr));
    CHECK((setting.optional || setting.accepts(setting.standard)));
    CHECK(setting.accepts(std::stod(setting.example)));
    CHECK((setting.trouble != nullptr && setting.rule != nullptr));
  }
  if (setting.type == SettingType::choice) {
    CHECK(setting.standard < setting.words.size);
    CHECK((setting.labels.size == 0 || setting.labels.size == setting.words.size));
  }
}

}  // namespace

TEST_CASE("every kind has a word of its own, which leads back to it") {
  std::set<std::string_view> words;
  for (int i = 0; i < kKinds; ++i) {
    const auto kind = static_cast<Kind>(i);
    CHECK(words.insert(kind_text(kind)).second);
    CHECK(kind_of(kind_text(kind)) == kind);
  }
  CHECK(!kind_of("conv"));
}

TEST_CASE("every form can be read, printed and checked") {
  for (const KindForm* form : AllKinds::forms) {
    CAPTURE(form->word);
    CHECK(std::string(form->label).starts_with("D"));
    CHECK((form->operands.size == 0) == is_source(form->category));
    const std::string_view word = form->word;
    const bool classless =
        is_source(form->category) || word == "embedding" || word == "long_convolution";  // P3
    CHECK((form->classes == 0) == classless);
    bool optional = false;
    for (const OperandForm& operand : form->operands) {
      CHECK((!operand.repeated || &operand == form->operands.begin()));
      CHECK(operand.weighs ==
            (&operand + 1 == form->operands.end() && form->category == Category::loss));  // D70
      CHECK((operand.optional || !optional));
      CHECK((!operand.may_be_tied || operand.is_parameter()));
      CHECK((!operand.integers || !operand.is_own()));
      CHECK((!operand.kept || (!operand.is_parameter() && !operand.repeated &&
                               (!operand.optional || operand.fixed))));
      optional = operand.optional;
    }
    for (const SettingForm& setting : form->settings) check(setting);
    std::set<std::string> internals;
    for (const char* const value : form->internals) {
      CHECK(internals.insert(value).second);
      CHECK(std::string(value).find_first_of("./") == std::string::npos);  // behind a dot (P5)
      for (const OperandForm& operand : form->operands) {
        CHECK((!operand.is_parameter() || std::string(value) != operand.role));
      }
    }
    CHECK((internals.empty() || !is_source(form->category)));
  }
}

TEST_CASE("a set of kinds holds what is put into it") {
  const Kind first = static_cast<Kind>(0), last = static_cast<Kind>(kKinds - 1);
  const KindSet set = KindSet(first) | KindSet(last);
  CHECK((set.has(first) && set.has(last) && !set.has(static_cast<Kind>(1))));
  CHECK((set & KindSet(last)) == KindSet(last));
  CHECK(!(KindSet(first) & KindSet(last)).any());
  CHECK(!KindSet().any());
}
