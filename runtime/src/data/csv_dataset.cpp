// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <exception>
#include <map>
#include <system_error>
#include <thread>
#include <vector>

#include "../edit_distance.hpp"
#include "../files/mapped_file.hpp"
#include "../text.hpp"
#include "csv_reader.hpp"
#include "csv_values.hpp"
#include "halftone/dataset.hpp"
#include "halftone/error.hpp"
#include "table.hpp"

namespace halftone {
namespace {

using data::CsvField, data::CsvReader;

using Values = std::variant<std::vector<float>, std::vector<std::int32_t>>;

/// An input and the columns that make it up.
struct Target {
  const CsvInput* input;
  std::vector<std::size_t> columns;
  std::map<std::string, std::int32_t, std::less<>> codes;  ///< of classes

  [[nodiscard]] bool is_i32() const {
    return !codes.empty() || input->convert.to == InputElement::i32;
  }
};

class CsvFile {
 public:
  CsvFile(const std::filesystem::path& file, const std::vector<CsvInput>& inputs,
          const CsvOptions& options)
      : object_(named("file", file.string())),
        options_(options),
        mapped_(MappedFile::open(system_file_calls(), data::kOperation, file)) {
    const auto bytes = mapped_->bytes();
    file_ = {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    rest_ = data::csv_body(file_);
    if (std::string_view("\"\n\r").find(options.separator) != std::string_view::npos)
      refuse("the separator", "is a quote or the end of a line", "give a comma, say");
    read_first();
    for (const CsvInput& input : inputs) targets_.push_back(target_of(input));
  }

  /// By input.
  [[nodiscard]] std::vector<Values> parse() const {
    constexpr std::size_t kLeastOfAThread = std::size_t{1} << 18;
    const int threads = options_.threads > 0
                            ? options_.threads
                            : static_cast<int>(std::thread::hardware_concurrency());
    const std::size_t most =
        std::min<std::size_t>(static_cast<std::size_t>(threads), rest_.size() / kLeastOfAThread);
    const std::vector<std::string_view> parts = data::csv_parts(rest_, most);
    std::vector<std::vector<Values>> parsed(parts.size());
    std::vector<std::exception_ptr> failures(parts.size());
    const auto parse_one = [&](std::size_t i) {
      try {
        parsed[i] = parse_part(parts[i]);
      } catch (...) {
        failures[i] = std::current_exception();
      }
    };
    try {
      std::vector<std::jthread> workers;
      for (std::size_t i = 1; i < parts.size(); ++i) workers.emplace_back(parse_one, i);
      parse_one(0);
    } catch (const std::system_error& refused) {
      refuse(object_, std::string("cannot be parsed by threads: ") + refused.what(),
             "ask for 1 thread");
    }
    for (const std::exception_ptr& failure : failures)
      if (failure) std::rethrow_exception(failure);
    return joined(parsed);
  }

  /// Of a row.
  [[nodiscard]] std::vector<std::int64_t> shape_of(std::size_t input) const {
    const auto count = static_cast<std::int64_t>(targets_[input].columns.size());
    return count == 1 ? std::vector<std::int64_t>{} : std::vector{count};
  }

  [[nodiscard]] std::int64_t rows_of(const Values& first) const {
    const auto size = std::visit([](const auto& vector) { return vector.size(); }, first);
    return static_cast<std::int64_t>(size / targets_[0].columns.size());
  }

 private:
  [[noreturn]] static void refuse(std::string object, std::string cause, std::string hint) {
    throw Error({.operation = data::kOperation,
                 .object = std::move(object),
                 .cause = std::move(cause),
                 .hint = std::move(hint)});
  }

  [[nodiscard]] std::string place(const char* at) const {
    return "line " +
           std::to_string(data::line_of(file_, static_cast<std::size_t>(at - file_.data())));
  }

  /// 'petal_width', or its number where there are no names.
  [[nodiscard]] std::string column_text(std::size_t column) const {
    return names_.empty() ? "column " + std::to_string(column) : named("column", names_[column]);
  }

  [[noreturn]] void refuse_record(const CsvReader& reader, std::string_view text) const {
    refuse(object_, std::string(reader.fault()) + " in " + place(text.data() + reader.at()),
           "mend the line; a field with quotes, separators or line ends stands in quotes, and "
           "quotes in it are doubled");
  }

  /// How many columns there are, and what they are called; `rest_` is what follows.
  void read_first() {
    CsvReader reader(rest_, options_.separator);
    std::vector<CsvField> fields;
    if (!reader.next(fields)) {
      if (reader.fault() != nullptr) refuse_record(reader, rest_);
      refuse(object_, "is empty", "give it rows");
    }
    columns_ = fields.size();
    if (!options_.header) return;
    for (const CsvField& field : fields) names_.push_back(unquoted(field));
    rest_.remove_prefix(reader.end());
    if (rest_.empty()) refuse(object_, "has a header and no rows", "give it rows");
  }

  [[nodiscard]] std::size_t position(const CsvColumns::Name& name,
                                     const std::string& object) const {
    if (const int* number = std::get_if<int>(&name)) {
      if (*number >= 0 && static_cast<std::size_t>(*number) < columns_)
        return static_cast<std::size_t>(*number);
      refuse(object, "wants column " + std::to_string(*number) + " of " + object_,
             "there are 0 to " + std::to_string(columns_ - 1));
    }
    const std::string& text = std::get<std::string>(name);
    if (names_.empty())
      refuse(object, "wants column '" + text + "' of " + object_ + ", which has no header",
             "number the columns from 0");
    const auto count = std::ranges::count(names_, text);
    if (count > 1)
      refuse(object, "wants column '" + text + "' of " + object_ + ", which has it twice",
             "number the columns from 0");
    if (count == 0) {
      refuse(object, "wants column '" + text + "', which " + object_ + " does not have",
             "the nearest is '" + nearest(text, names_) + "'");
    }
    return static_cast<std::size_t>(std::ranges::find(names_, text) - names_.begin());
  }

  template <class Names>
  [[nodiscard]] static std::string nearest(std::string_view text, const Names& names) {
    return *std::ranges::min_element(
        names, {}, [&](const std::string& name) { return edit_distance(name, text); });
  }

  [[nodiscard]] Target target_of(const CsvInput& input) const {
    Target target{.input = &input, .columns = {}, .codes = {}};
    const std::string object = named("input", input.input);
    for (const CsvColumns& columns : input.columns) {
      const std::size_t first = position(columns.first(), object);
      const std::size_t last = position(columns.last(), object);
      if (last < first)
        refuse(object, "wants columns whose last one comes before the first", "exchange them");
      for (std::size_t i = first; i <= last; ++i) target.columns.push_back(i);
    }
    if (target.columns.empty()) refuse(object, "names no columns", "name at least one");
    for (const std::string& name : input.classes) {
      const auto code = static_cast<std::int32_t>(target.codes.size());
      if (!target.codes.emplace(name, code).second)
        refuse(object, "has the class '" + name + "' twice", "list it once");
    }
    return target;
  }

  [[nodiscard]] std::vector<Values> parse_part(std::string_view text) const {
    std::vector<Values> values;
    for (const Target& target : targets_) {
      if (target.is_i32())
        values.emplace_back(std::vector<std::int32_t>());
      else
        values.emplace_back(std::vector<float>());
    }
    CsvReader reader(text, options_.separator);
    std::vector<CsvField> fields;
    while (reader.next(fields)) {
      if (fields.size() != columns_) {
        refuse(object_,
               "has " + std::to_string(fields.size()) + " fields in " +
                   place(text.data() + reader.at()) + ", but its first line " +
                   std::to_string(columns_),
               "give every line as many");
      }
      for (std::size_t i = 0; i < values.size(); ++i) add(targets_[i], fields, values[i]);
    }
    if (reader.fault() != nullptr) refuse_record(reader, text);
    return values;
  }

  void add(const Target& target, const std::vector<CsvField>& fields, Values& values) const {
    if (!target.codes.empty()) {
      for (const std::size_t column : target.columns)
        std::get<1>(values).push_back(code_of(target, fields[column], column));
      return;
    }
    std::visit(
        [&](auto& vector) {
          for (const std::size_t column : target.columns) {
            const char* fault = data::read_number(fields[column].text, vector.emplace_back());
            if (fault != nullptr) refuse_field(target, fields[column], column, fault);
          }
        },
        values);
  }

  [[nodiscard]] std::int32_t code_of(const Target& target, const CsvField& field,
                                     std::size_t column) const {
    const auto found =
        field.doubles ? target.codes.find(unquoted(field)) : target.codes.find(field.text);
    if (found != target.codes.end()) return found->second;
    if (field.text.empty()) refuse_field(target, field, column, "is missing");
    refuse_field(target, field, column, "is no class that is listed");
  }

  [[noreturn]] void refuse_field(const Target& target, const CsvField& field, std::size_t column,
                                 const char* fault) const {
    constexpr std::size_t kShown = 40;
    const bool is_missing = fault == std::string_view("is missing");
    const std::string text = unquoted(field);
    const std::string where =
        place(field.text.data()) + ", " + column_text(column);  // NOLINT: an address alone
    const std::string hint =
        is_missing ? "give a value, or leave the line out"
        : target.codes.empty()
            ? "mend it, or leave the line out"
            : "list it; the nearest is '" + nearest(text, target.input->classes) + "'";
    refuse(object_,
           is_missing ? "has no value in " + where
                      : "has '" + text.substr(0, kShown) + (text.size() > kShown ? "..." : "") +
                            "' in " + where + ", which " + fault,
           hint);
  }

  [[nodiscard]] std::vector<Values> joined(std::vector<std::vector<Values>>& parts) const {
    std::vector<Values> all = std::move(parts.at(0));
    for (std::size_t input = 0; input < all.size(); ++input) {
      std::visit(
          [&](auto& to) {
            std::size_t size = 0;
            const auto of = [&](std::vector<Values>& part) -> auto& {
              return std::get<std::decay_t<decltype(to)>>(part[input]);
            };
            for (std::size_t i = 1; i < parts.size(); ++i) size += of(parts[i]).size();
            to.reserve(to.size() + size);
            for (std::size_t i = 1; i < parts.size(); ++i) {
              to.insert(to.end(), of(parts[i]).begin(), of(parts[i]).end());
              of(parts[i]) = {};
            }
          },
          all[input]);
    }
    return all;
  }

  std::string object_;
  CsvOptions options_;
  std::shared_ptr<const MappedFile> mapped_;
  std::string_view file_, rest_;
  std::size_t columns_ = 0;
  std::vector<std::string> names_;
  std::vector<Target> targets_;
};

}  // namespace

Dataset Dataset::csv(const std::filesystem::path& file, std::vector<CsvInput> inputs,
                     const CsvOptions& options) {
  if (inputs.empty()) return Dataset(Table{});
  const CsvFile parsed(file, inputs, options);
  const auto values = std::make_shared<const std::vector<Values>>(parsed.parse());
  Table table{.columns = {}, .rows = parsed.rows_of((*values)[0])};
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    data::Column column = data::make_column(
        inputs[i].input, named("file", file.string()), parsed.shape_of(i),
        (*values)[i].index() == 0 ? data::Stored::f32 : data::Stored::i32, inputs[i].convert);
    column.begin = std::visit(
        [](const auto& vector) { return reinterpret_cast<const std::byte*>(vector.data()); },
        (*values)[i]);
    column.memory = values;
    table.columns.push_back(std::move(column));
  }
  return Dataset(std::move(table));
}

}  // namespace halftone
