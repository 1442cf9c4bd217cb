// SPDX-License-Identifier: Apache-2.0
//
// Copies of a store that are made file by file while it is written, as `cp -r` makes them. Such a
// copy is no snapshot: it opens to something that the store was, or it says what is wrong with it.
// Never is it other data.

#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "engine/collection/store.h"
#include "tests/process/children.h"
#include "tests/process/journal.h"
#include "tests/support/effort.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temporary_directory.h"

namespace pigment {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kCopies = 300;

int WriteForEver(const std::string& path, int ready) {
  StoreOptions options;
  options.flush_rows_max = 16;
  auto store = Store::Open(path, options);
  if (!store.ok()) return 1;
  auto journal = (*store)->CreateCollection(EntryNamed("journal"));
  if (!journal.ok()) return 2;
  for (uint64_t number = 0;; ++number) {
    if (!WriteJournal(**journal, number).ok()) return 3;
    if (number == 50 && write(ready, "r", 1) != 1) return 4;
    if (number % 11 == 3 && !(*(*store)->catalog())->Checkpoint().ok()) return 5;
    if (number % 97 == 96 && !(*journal)->Compact().ok()) return 6;
  }
}

// What cp does: the names as they are listed, each file as it is read; what is gone meanwhile is
// passed over.
void CopyWhatIsThere(const std::string& from, const std::string& to) {
  std::error_code gone;
  fs::create_directory(to, gone);
  for (const auto& item : fs::directory_iterator(from, gone)) {
    const std::string name = item.path().filename();
    if (item.is_directory(gone)) {
      CopyWhatIsThere(from + "/" + name, to + "/" + name);
    } else {
      fs::copy_file(from + "/" + name, to + "/" + name, gone);
    }
  }
}

bool IsClear(const Status& status) {
  return (status.code() == Code::kDataLoss || status.code() == Code::kNotFound) &&
         !status.message().empty();
}

TEST(Copies, OfAStoreUnderWritingOpenToAPrefixOrToAClearError) {
  TemporaryDirectory directory;
  const std::string path = directory / "db";
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  Child writer([&] { return WriteForEver(path, ends[1]); });
  char byte;
  ASSERT_EQ(read(ends[0], &byte, 1), 1);
  std::mt19937_64 random(20261121);
  uint64_t whole = 0, refused = 0, latest = 0;
  const uint64_t copies = AtEffort(kCopies);
  for (uint64_t number = 0; number < copies; ++number) {
    SCOPED_TRACE("copy " + std::to_string(number));
    const std::string copy = directory / ("copy" + std::to_string(number));
    CopyWhatIsThere(path, copy);
    StoreOptions options;
    options.read_only = number % 2 == 0;
    const auto store = Store::Open(copy, options);
    if (!store.ok()) {
      EXPECT_TRUE(IsClear(store.status())) << store.status().ToString();
      ++refused;
    } else {
      const auto next = ReadJournal(**store);
      if (next.ok()) {
        // What was there when the copy began is not lost in one that opens.
        EXPECT_GE(*next, latest);
        latest = *next;
        ++whole;
      } else {
        EXPECT_TRUE(IsClear(next.status())) << next.status().ToString();
        ++refused;
      }
      EXPECT_OK((*store)->Close());
    }
    fs::remove_all(copy);
  }
  ASSERT_TRUE(writer.Kill()) << "the writer ended by itself";
  close(ends[0]);
  close(ends[1]);
  ExpectFloor("copies under writing", whole + refused, kCopies);
  std::printf("copies: %llu whole, %llu refused\n", static_cast<unsigned long long>(whole),
              static_cast<unsigned long long>(refused));
  EXPECT_GT(whole, 0u);
}

}  // namespace
}  // namespace pigment
