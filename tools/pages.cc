// SPDX-License-Identifier: Apache-2.0
//
// Pages of a collection.

#include "tools/pages.h"

#include <utility>

namespace pigment_tool {

Pages::Pages(pigment_collection* collection, const Filters& filters, std::string cursor,
             int32_t include, int64_t rows)
    : collection_(collection),
      filters_(filters),
      cursor_(std::move(cursor)),
      include_(include),
      rows_(rows) {}

ResultHandle Pages::Next() {
  if (is_over_) return nullptr;
  pigment_get_request request{};
  request.struct_size = sizeof request;
  filters_.Put(request);
  request.has_limit = true;
  request.limit = rows_;
  request.include = include_;
  if (!cursor_.empty()) {
    request.cursor = cursor_.data();
    request.cursor_size = cursor_.size();
  }
  pigment_result* result = nullptr;
  pigment_error* error = nullptr;
  const pigment_call_options options = CallOptions();
  Check(pigment_collection_get(collection_, &request, &options, &result, &error), error);
  ResultHandle page(result);
  size_t size = 0;
  const char* const next = pigment_result_cursor(result, &size);
  cursor_ = next != nullptr ? std::string(next, size) : std::string();
  is_over_ = next == nullptr;
  return page;
}

uint64_t Pages::Count() const {
  pigment_count_request request{};
  request.struct_size = sizeof request;
  filters_.Put(request);
  uint64_t count = 0;
  pigment_error* error = nullptr;
  Check(pigment_collection_count_where(collection_, &request, nullptr, &count, &error), error);
  return count;
}

}  // namespace pigment_tool
