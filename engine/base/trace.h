// SPDX-License-Identifier: Apache-2.0
//
// Spans: what a program that asks for it is told about queries, the segments that each of them
// searches, and jobs (flush, merge, compaction, backup, check, refresh). Where nobody asks, a span
// is a look at a pointer. A span begins and ends on one thread, on which spans are well nested, and
// ends however its work does; no mutex of the engine is held at either. The program's functions
// must not throw, and must not use the store.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "engine/base/status.h"
#include "engine/base/uuid.h"

namespace pigment {

enum class SpanKind : int32_t { kQuery = 1, kSegment = 2, kJob = 4 };

// What a program gives: any thread calls the functions, several at once.
struct Tracing {
  int32_t kinds = 0;  // sum of the SpanKinds that are wanted; 0: off
  // `span` is not 0, and no other span of the process has it. `parent` 0: none that is known.
  // `collection` is its id, or "" of a job that is the store's.
  void (*begin)(void* user_data, uint64_t span, uint64_t parent, int32_t kind, const char* name,
                const char* collection) = nullptr;
  // How the work ended, and `count` numbers with their names.
  void (*end)(void* user_data, uint64_t span, int32_t code, size_t count, const char* const* keys,
              const int64_t* values) = nullptr;
  void* user_data = nullptr;

  bool wants(SpanKind kind) const { return (kinds & static_cast<int32_t>(kind)) != 0; }
  bool operator==(const Tracing&) const = default;
};

// Which spans one read makes. `tracing` null: none. One read has one of these, for its number.
struct ReadTrace {
  const Tracing* tracing = nullptr;  // borrowed for the call
  uint64_t span = 0;                 // of the query, parent of those of its segments
  Uuid collection;

  static ReadTrace Of(const Tracing& tracing, const Uuid& collection);
};

class Span {
 public:
  // A job, of a collection or (null) of the store.
  Span(const Tracing& tracing, const char* name, const Uuid* collection) {
    if (tracing.wants(SpanKind::kJob)) Begin(tracing, SpanKind::kJob, name, 0, 0, collection);
  }
  // A query, or with a name of what is done in one of its segments that.
  Span(const ReadTrace& trace, SpanKind kind, const char* name) {
    if (trace.tracing == nullptr || !trace.tracing->wants(kind)) return;
    if (kind == SpanKind::kQuery) {
      Begin(*trace.tracing, kind, name, trace.span, 0, &trace.collection);
    } else {
      const bool has_parent = trace.tracing->wants(SpanKind::kQuery);
      Begin(*trace.tracing, kind, name, 0, has_parent ? trace.span : 0, &trace.collection);
    }
  }
  // What did not come to its End was left by an exception, and only want of memory throws.
  ~Span() {
    if (tracing_ != nullptr) Finish(Code::kResourceExhausted);
  }
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;

  bool is_on() const { return tracing_ != nullptr; }
  // REQUIRES: `key` is a literal; at most kAttributesMax of them.
  void Set(const char* key, uint64_t value) {
    if (tracing_ == nullptr) return;
    keys_[count_] = key;
    values_[count_++] = static_cast<int64_t>(value);
  }
  void End(const Status& status) {
    if (tracing_ != nullptr) Finish(status.code());
  }

  static constexpr size_t kAttributesMax = 16;

 private:
  void Begin(const Tracing& tracing, SpanKind kind, const char* name, uint64_t number,
             uint64_t parent, const Uuid* collection) noexcept;
  void Finish(Code code) noexcept;

  const Tracing* tracing_ = nullptr;
  uint64_t number_ = 0;
  size_t count_ = 0;
  // Not set before they are used: a span that is off costs nothing.
  std::array<const char*, kAttributesMax> keys_;
  std::array<int64_t, kAttributesMax> values_;
};

}  // namespace pigment
