// SPDX-License-Identifier: Apache-2.0
//
// How long it takes to open a small store in memory and to verify every block of it: at most 0.25 ms
// of the processor's time, or half a million crash states do not fit into a check. The median of
// many, so that a busy machine does not decide.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "engine/base/call_control.h"
#include "engine/base/memory_files.h"
#include "tests/support/effort.h"
#include "tests/support/status_matchers.h"
#include "tests/support/store_model.h"

namespace pigment {
namespace {

constexpr int kOpens = 1001;
constexpr double kMedianMax_ms = 0.25;

double ThreadTime_ms() { return static_cast<double>(ThreadTimeNow()) / 1e6; }

Status OpenAndVerify(MemoryFileSystem& files, const StoreOptions& options,
                     std::shared_ptr<Store>* store) {
  PIGMENT_ASSIGN_OR_RETURN(*store, Store::Open("db", options, &files));
  PIGMENT_ASSIGN_OR_RETURN(Catalog * catalog, (*store)->catalog());
  for (const CollectionEntry& entry : catalog->AllCollections()) {
    PIGMENT_ASSIGN_OR_RETURN(const auto collection, (*store)->GetCollectionById(entry.id));
    PIGMENT_ASSIGN_OR_RETURN(const auto version, collection->Pin());
    for (const SegmentView& view : version->segments)
      PIGMENT_RETURN_IF_ERROR(view.segment->Verify());
  }
  return Status::Ok();
}

uint64_t BytesIn(MemoryFileSystem& files, const std::string& folder) {
  uint64_t bytes = 0;
  for (const std::string& name : files.List(folder).value()) {
    const auto file = files.Open(folder + "/" + name, OpenMode::kRead);
    bytes += file.ok() ? (*file)->Size().value() : BytesIn(files, folder + "/" + name);
  }
  return bytes;
}

void ExpectFastOpen(const char* what, bool has_segment, uint64_t bytes_max) {
  MemoryFileSystem files;
  StoreOptions options;
  options.background_threads = 0;
  options.reserve_bytes = 0;  // only looked at
  BatchMaker maker(1, 3, 40);
  {
    const auto store = Store::Open("db", options, &files).value();
    const auto docs = store->CreateCollection(EntryNamed("docs")).value();
    for (int i = 0; i < 10; ++i) ASSERT_OK(docs->Write(maker.Batch(8)));
    if (has_segment) ASSERT_OK(docs->Flush());
    ASSERT_OK(docs->Write(maker.Batch(8)));
    ASSERT_OK(store->Close());
  }
  EXPECT_LE(BytesIn(files, "db"), bytes_max) << what;
  std::vector<double> times_ms;
  for (int i = 0; i < kOpens; ++i) {
    std::shared_ptr<Store> store;
    const double begin = ThreadTime_ms();
    const Status status = OpenAndVerify(files, options, &store);
    times_ms.push_back(ThreadTime_ms() - begin);
    ASSERT_OK(status);
    ASSERT_OK(store->Close());
  }
  std::nth_element(times_ms.begin(), times_ms.begin() + kOpens / 2, times_ms.end());
  std::printf("open and verify of %s: %.3f ms (at most %.2f)\n", what, times_ms[kOpens / 2],
              kMedianMax_ms);
  if (kIsSanitized) return;  // which take time of their own
  EXPECT_LE(times_ms[kOpens / 2], kMedianMax_ms) << what;
}

TEST(OpenSpeed, ASmallStoreOpensAndIsVerifiedInAQuarterOfAMillisecond) {
  ExpectFastOpen("a store that is all in its log", false, 64 << 10);
  ExpectFastOpen("a store with a segment", true, 128 << 10);
}

}  // namespace
}  // namespace pigment
