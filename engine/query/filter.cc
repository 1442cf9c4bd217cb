// SPDX-License-Identifier: Apache-2.0
//
// Filter: the parser and the program behind the interface.

#include "engine/query/filter.h"

#include <utility>

#include "engine/query/filter_parse.h"
#include "engine/query/filter_program.h"

namespace pigment {
namespace {

class CompiledFilter final : public Filter {
 public:
  explicit CompiledFilter(FilterProgram program) : program_(std::move(program)) {}

  bool Matches(const FilterSubject& subject) const override { return program_.Matches(subject); }
  const FilterNeeds& needs() const override { return program_.needs; }
  bool matches_everything() const override { return program_.nodes.empty(); }
  const FilterProgram& program() const override { return program_; }

 private:
  const FilterProgram program_;
};

}  // namespace

Result<std::shared_ptr<const Filter>> Filter::Parse(
    std::optional<std::string_view> where_json,
    std::optional<std::string_view> where_document_json) {
  FilterParser parser;
  if (where_json) PIGMENT_RETURN_IF_ERROR(parser.Add(*where_json, FilterParser::Grammar::kWhere));
  if (where_document_json) {
    PIGMENT_RETURN_IF_ERROR(
        parser.Add(*where_document_json, FilterParser::Grammar::kWhereDocument));
  }
  return std::shared_ptr<const Filter>(
      std::make_shared<const CompiledFilter>(std::move(parser).Finish()));
}

}  // namespace pigment
