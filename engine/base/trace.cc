// SPDX-License-Identifier: Apache-2.0
//
// Spans: numbers and calls.

#include "engine/base/trace.h"

#include <atomic>
#include <utility>

namespace pigment {

namespace {

uint64_t NextSpan() {
  static std::atomic<uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

// As Uuid::ToString, without a place of its own.
using UuidText = std::array<char, 37>;
UuidText TextOf(const Uuid& id) {
  UuidText text{};
  size_t at = 0;
  for (const std::byte byte : id.bytes) {
    if (at == 8 || at == 13 || at == 18 || at == 23) text[at++] = '-';
    text[at++] = "0123456789abcdef"[std::to_integer<size_t>(byte) >> 4];
    text[at++] = "0123456789abcdef"[std::to_integer<size_t>(byte) & 15];
  }
  return text;
}

}  // namespace

ReadTrace ReadTrace::Of(const Tracing& tracing, const Uuid& collection) {
  return {.tracing = &tracing, .span = NextSpan(), .collection = collection};
}

void Span::Begin(const Tracing& tracing, SpanKind kind, const char* name, uint64_t number,
                 uint64_t parent, const Uuid* collection) noexcept {
  const UuidText id = collection != nullptr ? TextOf(*collection) : UuidText{};
  number_ = number != 0 ? number : NextSpan();
  tracing.begin(tracing.user_data, number_, parent, static_cast<int32_t>(kind), name, id.data());
  tracing_ = &tracing;
}

void Span::Finish(Code code) noexcept {
  const Tracing& tracing = *std::exchange(tracing_, nullptr);
  tracing.end(tracing.user_data, number_, static_cast<int32_t>(code), count_, keys_.data(),
              values_.data());
}

}  // namespace pigment
