// SPDX-License-Identifier: Apache-2.0
//
// The status table as the C interface shows it, and the proof that the public header repeats it
// rightly.

#include "c_api/error.h"

namespace {

// FindCodeInfo gives views of literals, which end with NUL.
const pigment::CodeInfo* Find(pigment_status status) { return pigment::FindCodeInfo(status); }

}  // namespace

#define PIGMENT_STATUS(enumerator, c_name, number, text, sqlstate, retry, fault) \
  static_assert(PIGMENT_##c_name == (number), "pigment.h differs from status_codes.def");
#include "engine/base/status_codes.def"
#undef PIGMENT_STATUS

#define PIGMENT_SAME_DETAIL(c_name, enumerator)                                           \
  static_assert(PIGMENT_DETAIL_##c_name == static_cast<int>(pigment::Detail::enumerator), \
                "pigment.h differs from engine/base/status.h")
PIGMENT_SAME_DETAIL(NONE, kNone);
PIGMENT_SAME_DETAIL(MISSING, kMissing);
PIGMENT_SAME_DETAIL(FOREIGN, kForeign);
PIGMENT_SAME_DETAIL(WRONG_KIND, kWrongKind);
PIGMENT_SAME_DETAIL(MISALIGNED, kMisaligned);
PIGMENT_SAME_DETAIL(TRUNCATED, kTruncated);
PIGMENT_SAME_DETAIL(MISCOUNTED, kMiscounted);
PIGMENT_SAME_DETAIL(CHECKSUM, kChecksum);
PIGMENT_SAME_DETAIL(CLOSED, kClosed);
PIGMENT_SAME_DETAIL(LOCKED, kLocked);
PIGMENT_SAME_DETAIL(FORKED, kForked);
PIGMENT_SAME_DETAIL(POISONED, kPoisoned);
PIGMENT_SAME_DETAIL(READ_ONLY, kReadOnly);
PIGMENT_SAME_DETAIL(STALE, kStale);
PIGMENT_SAME_DETAIL(NO_EMBEDDING_FUNCTION, kNoEmbeddingFunction);
PIGMENT_SAME_DETAIL(DIMENSION, kDimension);
PIGMENT_SAME_DETAIL(NOT_FINITE, kNotFinite);
PIGMENT_SAME_DETAIL(DUPLICATE_ID, kDuplicateId);
PIGMENT_SAME_DETAIL(FILTER, kFilter);
PIGMENT_SAME_DETAIL(NAME, kName);
PIGMENT_SAME_DETAIL(METADATA, kMetadata);
PIGMENT_SAME_DETAIL(EMBEDDING_FUNCTION, kEmbeddingFunction);
PIGMENT_SAME_DETAIL(DISK_FULL, kDiskFull);
PIGMENT_SAME_DETAIL(MEMORY, kMemory);
PIGMENT_SAME_DETAIL(LIMIT, kLimit);
#undef PIGMENT_SAME_DETAIL

static_assert(PIGMENT_FAULT_NONE == static_cast<int>(pigment::Fault::kNone));
static_assert(PIGMENT_FAULT_CALLER == static_cast<int>(pigment::Fault::kCaller));
static_assert(PIGMENT_FAULT_ENVIRONMENT == static_cast<int>(pigment::Fault::kEnvironment));
static_assert(PIGMENT_FAULT_LIBRARY == static_cast<int>(pigment::Fault::kLibrary));

const char* pigment_status_name(pigment_status status) {
  const pigment::CodeInfo* info = Find(status);
  return info != nullptr ? info->text.data() : nullptr;
}

const char* pigment_status_sqlstate(pigment_status status) {
  const pigment::CodeInfo* info = Find(status);
  return info != nullptr ? info->sqlstate.data() : nullptr;
}

bool pigment_status_retryable(pigment_status status) {
  const pigment::CodeInfo* info = Find(status);
  return info != nullptr && info->retryable;
}

int32_t pigment_status_fault(pigment_status status) {
  const pigment::CodeInfo* info = Find(status);
  return info != nullptr ? static_cast<int32_t>(info->fault) : PIGMENT_FAULT_NONE;
}
