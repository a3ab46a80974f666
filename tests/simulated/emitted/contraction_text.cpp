// SPDX-License-Identifier: Apache-2.0
#include "contraction_text.hpp"

#include <algorithm>
#include <cctype>
#include <stdexcept>
#include <string_view>

namespace halftone::tests {

namespace {

using std::string_view;

bool is_of_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

string_view name_at(string_view text) {
  const auto end = std::ranges::find_if_not(text, is_of_name);
  return text.substr(0, static_cast<std::size_t>(end - text.begin()));
}

/// What stands between the two; empty where they do not.
string_view between(string_view text, string_view before, string_view after) {
  const std::size_t at = text.find(before);
  if (at == string_view::npos) return {};
  text.remove_prefix(at + before.size());
  const std::size_t end = text.find(after);
  return end == string_view::npos ? string_view{} : text.substr(0, end);
}

/// Those that the launch passes: without tensor maps, which stand first.
std::vector<string_view> parameters_of(string_view entry) {
  std::vector<string_view> names;
  string_view list = between(entry, "\nhalftone_", ") {");
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    const string_view one = list.substr(0, comma);
    if (one.find("TensorMap ") == string_view::npos)
      names.push_back(one.substr(one.find_last_of(" *") + 1));
    list.remove_prefix(comma == string_view::npos ? list.size() : comma + 1);
  }
  return names;
}

std::size_t number_of(const std::vector<string_view>& names, string_view name) {
  const auto at = std::ranges::find(names, name);
  if (at == names.end()) throw std::runtime_error("no parameter '" + std::string(name) + "'");
  return static_cast<std::size_t>(at - names.begin());
}

/// The format that `value` is the sum in; empty where it is something else.
std::optional<reference::RoundTo> sum_format(string_view compute, string_view value) {
  using description::Element, description::Rounding;
  if (value == "sum") return reference::RoundTo{Element::f32};
  const std::string line = " " + std::string(value) + " = halftone::kernels::to_";
  for (const auto& [name, format] :
       {std::pair{"f16", Element::f16}, std::pair{"bf16", Element::bf16}}) {
    const std::string start = line + name + "(sum";
    if (compute.find(start + ");") != string_view::npos) return reference::RoundTo{format};
    if (compute.find(start + ", halftone::kernels::Rounding::toward_zero);") != string_view::npos)
      return reference::RoundTo{format, Rounding::toward_zero};
  }
  return {};
}

/// visit(parameter, value) for every "BEFOREresultN[INDEX] = value;".
template <class Visit>
void each_result(string_view body, string_view before, string_view index, Visit visit) {
  const std::string start = std::string(before) + "result";
  for (std::size_t at = body.find(start); at != string_view::npos; at = body.find(start, at + 1)) {
    const string_view name = name_at(body.substr(at + before.size()));
    string_view rest = body.substr(at + before.size() + name.size());
    if (!rest.starts_with(index)) continue;
    rest.remove_prefix(index.size());
    visit(name, rest.substr(0, rest.find(';')));
  }
}

}  // namespace

std::optional<ContractionText> read_contraction(const std::string& text) {
  const string_view all = text;
  const std::size_t own = all.rfind("struct Body {"), entry_at = all.rfind("extern \"C\"");
  if (own == string_view::npos || entry_at == string_view::npos) return {};
  const string_view body = all.substr(own, entry_at - own), entry = all.substr(entry_at);
  if (entry.find("contraction::run<") == string_view::npos) return {};
  const auto names = parameters_of(entry);
  ContractionText read;
  read.lhs = number_of(names, between(entry, "body.lhs = ", ";"));
  read.rhs = number_of(names, between(entry, "body.rhs = ", ";"));
  read.transpose_lhs = between(body, "kTransposeLhs = ", ";") == "true";
  read.transpose_rhs = between(body, "kTransposeRhs = ", ";") == "true";
  if (const string_view promotes = between(body, "kPromotes = ", ";"); !promotes.empty())
    read.promotes = promotes == "true";
  read.is_gathered = body.find(" kGathersLhs = ") != string_view::npos;
  read.columns = between(body, "Column columns() { return ", ";");
  if (read.columns.empty()) read.columns = between(body, "static_cast<Column>(", ")");
  read.depth = between(entry, "body.depth = ", ";");
  read.element_rows = between(entry, "body.element_rows = ", ";");
  const string_view compute = between(body, " compute(", " store_row(");
  each_result(compute, "outputs.", "[i] = ", [&](string_view name, string_view value) {
    const auto format = sum_format(compute, value);
    if (!format) return;
    SumResult result{number_of(names, name), *format};
    // "store(result0 + row * 72 + 24, column": 72 columns, of which its own begin with the 24th.
    const std::string start = "::store(" + std::string(name) + " + row * ";
    const string_view row = between(body, start, ", column");
    if (!row.starts_with("columns()")) {
      result.pitch = std::stoul(std::string(row));
      result.offset = std::stoul(std::string(row.substr(row.find(" + ") + 3)));
    }
    read.sums.push_back(result);
  });
  const string_view rows = body.substr(body.find(" store_row("));
  each_result(rows, "    ", "[row] = ", [&](string_view name, string_view value) {
    if (value == "lhs_sum") read.rows.push_back(number_of(names, name));
  });
  return read;
}

}  // namespace halftone::tests
