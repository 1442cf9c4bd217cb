// SPDX-License-Identifier: Apache-2.0
//
// What writing columns and writing Arrow batches share: one batch of records, checked and written,
// and the struct that says what a write did. One thread per call.

#pragma once

#include <string_view>

#include "c_api/call_options.h"
#include "c_api/client.h"
#include "engine/collection/collection.h"

namespace pigment::abi {

struct WriteVerb {
  WriteKind kind;
  std::string_view word;  // for messages
};

// Add, update or upsert, in the order of validation from step collection on. REQUIRES: a live
// handle and a struct that was read.
Result<WriteOutcome> WriteRecords(const WriteVerb& verb, const pigment_collection& collection,
                                  const pigment_records& records, const CallContext& context);

// `result` may be null in each.
void ClearWriteResult(pigment_write_result* result);
Status CheckWriteResult(const pigment_write_result* result);
void GiveOutcome(const WriteOutcome& outcome, pigment_write_result* result);

}  // namespace pigment::abi
