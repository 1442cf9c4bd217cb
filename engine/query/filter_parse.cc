// SPDX-License-Identifier: Apache-2.0
//
// Clauses and groups of a filter. They are walked with a stack of open groups on the heap; the
// depth of a filter costs no stack.

#include "engine/query/filter_parse.h"

#include <fmt/format.h>

#include <utility>

#include "engine/record/text.h"

namespace pigment {
namespace {

constexpr std::string_view kJoinHint = R"(join clauses with "$and": {"$and": [{...}, {...}]})";

}  // namespace

FilterParser::FilterParser() {
  program_.nodes.push_back({.op = FilterOp::kAnd, .parent = FilterNode::kNone});
}

FilterPlace FilterParser::Here() const {
  if (!open_.empty()) return {open_.back().place, open_.back().taken - 1};
  return {grammar_ == Grammar::kWhere ? FilterPlaces::kWhere : FilterPlaces::kWhereDocument, 0};
}

std::string FilterParser::AtPath(std::string_view reason) const {
  return program_.places.Tell(Here(), field_, reason);
}

Status FilterParser::Refused(std::string_view reason) const {
  return InvalidArgument(Detail::kFilter, AtPath(reason));
}

Status FilterParser::TooMuch(const Limit& limit, std::string_view reason) const {
  return BeyondLimit(limit, AtPath(reason));
}

Status FilterParser::Add(std::string_view json, Grammar grammar) {
  grammar_ = grammar;
  parent_ = 0;
  const JsonLimits limits{.bytes = limit::kFilterBytesMax, .values = limit::kFilterValuesMax};
  const std::string_view what = grammar == Grammar::kWhere ? "where" : "where_document";
  PIGMENT_ASSIGN_OR_RETURN(tape_, JsonTape::Parse(json, what, Detail::kFilter, limits));
  if (tape_.kind(0) == JsonKind::kNull) return Status::Ok();
  return ParseClauses();
}

FilterProgram FilterParser::Finish() && {
  program_.nodes[0].end = static_cast<uint32_t>(program_.nodes.size());
  if (program_.nodes.size() == 1) program_.nodes.clear();
  return std::move(program_);
}

Status FilterParser::ParseClauses() {
  size_t clause = 0;
  while (true) {
    field_ = {};
    PIGMENT_RETURN_IF_ERROR(CheckClause(clause));
    const size_t member = clause + 1;
    const std::string_view key = tape_.key(member);
    if (key == "$and" || key == "$or") {
      PIGMENT_RETURN_IF_ERROR(OpenGroup(member));
    } else if (key == "$not") {
      OpenNegation(member);
    } else if (grammar_ == Grammar::kWhere) {
      PIGMENT_RETURN_IF_ERROR(ParseField(member));
    } else {
      PIGMENT_RETURN_IF_ERROR(ParseDocumentOperator(member));
    }
    CloseGroups();
    if (open_.empty()) return Status::Ok();
    clause = open_.back().next;
    open_.back().next = tape_.end(clause);
    ++open_.back().taken;
  }
}

void FilterParser::CloseGroups() {
  while (!open_.empty() && open_.back().next == open_.back().end) {
    if (open_.back().node != FilterNode::kNone) {
      FilterNode& group = program_.nodes[open_.back().node];
      group.end = static_cast<uint32_t>(program_.nodes.size());
      parent_ = group.parent;
    }
    open_.pop_back();
  }
}

Status FilterParser::CheckClause(size_t clause) const {
  if (tape_.kind(clause) != JsonKind::kObject) {
    return Refused(fmt::format("expected an object with one key, got {}", tape_.Describe(clause)));
  }
  if (tape_.empty(clause)) {
    return Refused("expected an object with one key, got {}")
        .WithHint("leave the filter out to match everything");
  }
  const size_t first = clause + 1;
  const size_t second = tape_.end(first);
  if (second == tape_.end(clause)) return Status::Ok();
  return Refused(fmt::format("expected an object with one key, got {} keys: {}, {}{}",
                             tape_.ChildCount(clause), Quoted(tape_.key(first)),
                             Quoted(tape_.key(second)),
                             tape_.end(second) == tape_.end(clause) ? "" : ", ..."))
      .WithHint(std::string(kJoinHint));
}

Status FilterParser::OpenGroup(size_t member) {
  const std::string_view key = tape_.key(member);
  if (tape_.kind(member) != JsonKind::kArray || tape_.empty(member)) {
    return Refused(fmt::format("{} takes a list of at least one clause, got {}", Quoted(key),
                               tape_.Describe(member)));
  }
  const bool negated = IsNegated();
  const FilterOp op = (key == "$and") != negated ? FilterOp::kAnd : FilterOp::kOr;
  const bool one_child = tape_.end(member + 1) == tape_.end(member);
  Group group{.next = member + 1,
              .end = tape_.end(member),
              .node = FilterNode::kNone,
              .negated = negated,
              .place = program_.places.AddGroup(
                  key == "$and" ? FilterPlaces::Kind::kAnd : FilterPlaces::Kind::kOr, Here())};
  if (!one_child && program_.nodes[parent_].op != op) {
    group.node = static_cast<uint32_t>(program_.nodes.size());
    FilterNode node{.op = op};
    node.parent = parent_;
    program_.nodes.push_back(node);
    parent_ = group.node;
  }
  open_.push_back(group);
  return Status::Ok();
}

// A group of one child, which is no list.
void FilterParser::OpenNegation(size_t member) {
  open_.push_back({.next = member,
                   .end = tape_.end(member),
                   .node = FilterNode::kNone,
                   .negated = !IsNegated(),
                   .place = program_.places.AddGroup(FilterPlaces::Kind::kNot, Here())});
}

void FilterParser::Push(FilterNode node) {
  node.negated = node.negated != IsNegated();
  node.parent = parent_;
  node.place = Here();
  node.end = static_cast<uint32_t>(program_.nodes.size() + 1);
  program_.nodes.push_back(node);
}

}  // namespace pigment
