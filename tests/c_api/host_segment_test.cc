// SPDX-License-Identifier: Apache-2.0
//
// Building and reading a segment through the host interface, and the host's own pages.

#include <gtest/gtest.h>

#include <set>

#include "tests/c_api/host_fixture.h"

namespace host_test {
namespace {

pigment_segment_options Options(Pages& pages) {
  pigment_segment_options options = OptionsOf(pages, 3);
  options.segment = 3;
  return options;
}

TEST(HostSegment, GivesBackWhatWasPushed) {
  Index index(5);
  std::mt19937_64 random(1);
  std::vector<Row> rows(3000);
  for (size_t i = 0; i < rows.size(); ++i) {
    rows[i].pointer = i * 3;
    if (i % 7 != 0) rows[i].vector = RandomVector(random, 5);
  }
  index.AddSegment(rows);
  Error error;
  pigment_segment_info info{};
  info.struct_size = sizeof info;
  pigment_segment_get_info(index.segment(0), &info);
  EXPECT_EQ(info.dimension, 5u);
  EXPECT_EQ(info.metric, PIGMENT_METRIC_L2);
  EXPECT_EQ(info.rows, 3000u);
  EXPECT_EQ(info.vectors, 3000u - 429u);
  EXPECT_GT(info.pages, 5u);
  HOST_OK(pigment_segment_verify(index.segment(0), error.out()));
  std::vector<uint64_t> pointers(2000);
  HOST_OK(pigment_segment_row_pointers(index.segment(0), 900, 2000, pointers.data(), error.out()));
  for (size_t i = 0; i < pointers.size(); ++i) ASSERT_EQ(pointers[i], (900 + i) * 3);
  EXPECT_EQ(pigment_segment_row_pointers(index.segment(0), 2999, 2, pointers.data(), error.out()),
            PIGMENT_OUT_OF_RANGE);
  EXPECT_EQ(
      pigment_segment_row_pointers(index.segment(0), ~uint64_t{0}, 2, pointers.data(), error.out()),
      PIGMENT_OUT_OF_RANGE);
  EXPECT_EQ(index.pages.pinned, 0);
}

TEST(HostSegment, RefusesBadRowsAndOptions) {
  Pages pages;
  Error error;
  pigment_segment_builder* builder = nullptr;
  pigment_segment_options options = Options(pages);
  options.dimension = 0;
  EXPECT_EQ(pigment_segment_builder_new(&options, &builder, error.out()), PIGMENT_INVALID_ARGUMENT);
  options = Options(pages);
  options.dimension = 65536;
  EXPECT_EQ(pigment_segment_builder_new(&options, &builder, error.out()),
            PIGMENT_RESOURCE_EXHAUSTED);
  options = Options(pages);
  options.segment = 0;
  EXPECT_EQ(pigment_segment_builder_new(&options, &builder, error.out()), PIGMENT_INVALID_ARGUMENT);
  options = Options(pages);
  options.write_page = nullptr;
  EXPECT_EQ(pigment_segment_builder_new(&options, &builder, error.out()), PIGMENT_INVALID_ARGUMENT);
  options = Options(pages);
  HOST_OK(pigment_segment_builder_new(&options, &builder, error.out()));
  const float nan[] = {1, NAN, 3};
  EXPECT_EQ(pigment_segment_builder_add(builder, nan, 1, error.out()), PIGMENT_INVALID_ARGUMENT);
  EXPECT_EQ(error.detail(), PIGMENT_DETAIL_NOT_FINITE);
  EXPECT_EQ(pigment_segment_builder_add(builder, nullptr, ~uint64_t{0}, error.out()),
            PIGMENT_INVALID_ARGUMENT);
  const float good[] = {1, 2, 3};
  HOST_OK(pigment_segment_builder_add(builder, good, 1, error.out()));
  uint32_t root = 0;
  HOST_OK(pigment_segment_builder_finish(builder, &root, nullptr, nullptr, error.out()));
  uint32_t again = 7;
  EXPECT_NE(pigment_segment_builder_finish(builder, &again, nullptr, nullptr, error.out()),
            PIGMENT_OK);
  EXPECT_EQ(again, 0u);
  pigment_segment_builder_free(builder);
  pigment_segment_builder_free(nullptr);
  const pigment_page_source source = pages.source();
  pigment_segment* segment = nullptr;
  EXPECT_EQ(pigment_segment_open(&source, 4, root, &segment, error.out()), PIGMENT_DATA_LOSS);
  EXPECT_EQ(error.detail(), PIGMENT_DETAIL_FOREIGN);
  EXPECT_EQ(segment, nullptr);
  EXPECT_EQ(pigment_segment_open(&source, 3, root + 1, &segment, error.out()),
            PIGMENT_OUT_OF_RANGE);
}

TEST(HostSegment, EndsWithTheWritersCode) {
  Pages pages;
  Error error;
  pigment_segment_options options = Options(pages);
  options.write_page = [](void*, const void*, uint32_t*) -> pigment_status {
    return PIGMENT_CANCELLED;
  };
  pigment_segment_builder* builder = nullptr;
  HOST_OK(pigment_segment_builder_new(&options, &builder, error.out()));
  const float good[] = {1, 2, 3};
  pigment_status status = PIGMENT_OK;
  for (uint64_t i = 0; i < 100000 && status == PIGMENT_OK; ++i) {  // beyond a run of blocks
    status = pigment_segment_builder_add(builder, good, i, error.out());
  }
  EXPECT_EQ(status, PIGMENT_CANCELLED);
  uint32_t root = 0;
  EXPECT_EQ(pigment_segment_builder_finish(builder, &root, nullptr, nullptr, error.out()),
            PIGMENT_CANCELLED);
  pigment_segment_builder_free(builder);
}

TEST(HostSegment, KeepsToItsBudget) {
  Pages pages;
  Error error;
  pigment_segment_options options = Options(pages);
  options.memory_budget_bytes = 65536;
  pigment_segment_builder* builder = nullptr;
  HOST_OK(pigment_segment_builder_new(&options, &builder, error.out()));
  pigment_status status = PIGMENT_OK;
  // Rows without vectors take no memory: what they are goes to pages.
  for (uint64_t row = 0; row < 100000 && status == PIGMENT_OK; ++row)
    status = pigment_segment_builder_add(builder, nullptr, row, error.out());
  HOST_OK(status);
  uint64_t rows = 0;
  uint32_t root = 0;
  HOST_OK(pigment_segment_builder_finish(builder, &root, nullptr, &rows, error.out()));
  EXPECT_EQ(rows, 100000u);
  pigment_segment_builder_free(builder);
  // Not so much as for the page that is written next.
  options.memory_budget_bytes = 4096;
  HOST_OK(pigment_segment_builder_new(&options, &builder, error.out()));
  for (uint64_t row = 0; row < 100000 && status == PIGMENT_OK; ++row)
    status = pigment_segment_builder_add(builder, nullptr, row, error.out());
  EXPECT_EQ(status, PIGMENT_RESOURCE_EXHAUSTED);
  EXPECT_EQ(error.detail(), PIGMENT_DETAIL_MEMORY);
  pigment_segment_builder_free(builder);
}

TEST(PendingPage, TakesEntriesUntilItIsFullAndKeepsThem) {
  Page page;
  page.fill(0xAB);
  pigment_pending_page_init(page.data(), 9, 4);
  EXPECT_EQ(pigment_pending_page_next(page.data()), PIGMENT_NO_PAGE);
  std::vector<char> entry(pigment_pending_entry_bytes(3, true));
  const float vector[] = {1, 2, 3};
  uint32_t count = 0;
  for (;; ++count) {
    pigment_pending_entry_encode(count * 10, vector, 3, entry.data());
    const Page before = page;
    if (!pigment_pending_page_append(page.data(), entry.data(), entry.size())) {
      EXPECT_EQ(page, before) << "a page that is full does not change";
      break;
    }
  }
  EXPECT_GT(count, 220u);
  EXPECT_EQ(pigment_pending_page_count(page.data()), count);
  pigment_pending_page_kill(page.data(), 5);
  pigment_pending_page_kill(page.data(), 100000);
  pigment_pending_page_set_next(page.data(), 17);
  pigment_pending_page_set_retired(page.data(), 0x123456789ABCDEF0u);
  Error error;
  HOST_OK(pigment_pending_page_check(page.data(), 9, 4, error.out()));
  EXPECT_EQ(pigment_pending_page_next(page.data()), 17u);
  EXPECT_EQ(pigment_pending_page_retired(page.data()), 0x123456789ABCDEF0u);
  for (uint32_t i = 0; i < count; ++i) {
    uint64_t pointer = 1;
    EXPECT_EQ(pigment_pending_page_entry(page.data(), i, &pointer), i != 5);
    EXPECT_EQ(pointer, i * 10u);
  }
  uint64_t pointer = 0;
  EXPECT_FALSE(pigment_pending_page_entry(page.data(), count, &pointer));
  for (int i = 0; i < PIGMENT_PAGE_HEADER_BYTES; ++i) EXPECT_EQ(page[static_cast<size_t>(i)], 0xAB);
  EXPECT_EQ(pigment_pending_page_check(page.data(), 8, 4, error.out()), PIGMENT_DATA_LOSS);
  EXPECT_EQ(pigment_pending_page_check(page.data(), 9, 5, error.out()), PIGMENT_DATA_LOSS);
}

TEST(PendingPage, TakesMoreVectorsOfFewerBits) {
  const std::vector<float> vector(100, 0.5f);
  const std::string keys = "keys";
  std::vector<char> entry(pigment_pending_entry_bytes_with_keys(100, true, keys.size()));
  const size_t halves = pigment_pending_entry_bytes_with_halves(100, keys.size());
  EXPECT_EQ(halves + 200, entry.size());
  std::vector<char> page(PIGMENT_PAGE_BYTES);
  const auto fill = [&](const auto& encode, size_t bytes) {
    pigment_pending_page_init(page.data(), 9, 4);
    encode(1, vector.data(), vector.size(), keys.data(), keys.size(), entry.data());
    uint32_t count = 0;
    while (pigment_pending_page_append(page.data(), entry.data(), bytes)) ++count;
    EXPECT_EQ(pigment_pending_page_check(page.data(), 9, 4, nullptr), PIGMENT_OK);
    EXPECT_EQ(pigment_pending_page_bytes(page.data()), count * bytes);
    return count;
  };
  const uint32_t full = fill(pigment_pending_entry_encode_with_keys, entry.size());
  EXPECT_GT(fill(pigment_pending_entry_encode_with_halves, halves), full * 9 / 5);
  const size_t twelves = pigment_pending_entry_bytes_with_twelves(100, keys.size());
  EXPECT_EQ(twelves + 400 - 151, entry.size());
  EXPECT_GT(fill(pigment_pending_entry_encode_with_twelves, twelves), full * 11 / 5);
  const size_t bits = pigment_pending_entry_bytes_with_bits(100, keys.size());
  EXPECT_EQ(bits + 400 - 13, entry.size());
  EXPECT_GT(fill(pigment_pending_entry_encode_with_bits, bits), full * 8);
  EXPECT_FALSE(pigment_pending_page_append(page.data(), entry.data(), entry.size()))
      << "an entry is as long as it says";
}

TEST(PendingPage, TakesTheLargestEntryAndNoLargerOne) {
  const size_t largest = pigment_pending_entry_bytes_max();
  const size_t dimension = (largest - pigment_pending_entry_bytes(0, true)) / 4;
  Page page;
  for (const size_t more : {size_t{0}, size_t{1}}) {
    std::vector<float> vector(dimension + more, 1.0f);
    std::vector<char> entry(pigment_pending_entry_bytes(vector.size(), true));
    EXPECT_EQ(entry.size() <= largest, more == 0);
    pigment_pending_entry_encode(1, vector.data(), vector.size(), entry.data());
    pigment_pending_page_init(page.data(), 9, 4);
    EXPECT_EQ(pigment_pending_page_append(page.data(), entry.data(), entry.size()), more == 0);
  }
}

TEST(PendingPage, RefusesEntriesThatLie) {
  Page page;
  pigment_pending_page_init(page.data(), 9, 4);
  std::vector<char> entry(pigment_pending_entry_bytes(3, true));
  const float vector[] = {1, 2, 3};
  pigment_pending_entry_encode(1, vector, 3, entry.data());
  EXPECT_FALSE(pigment_pending_page_append(page.data(), entry.data(), entry.size() - 4));
  EXPECT_FALSE(pigment_pending_page_append(page.data(), entry.data(), 3));
  // A page whose directory was changed by hand and sealed again: any word of the payload.
  ASSERT_TRUE(pigment_pending_page_append(page.data(), entry.data(), entry.size()));
  ASSERT_TRUE(pigment_pending_page_append_overflow(page.data(), 2, 99, 40000));
  Error error;
  HOST_OK(pigment_pending_page_check(page.data(), 9, 4, error.out()));
  std::mt19937 random(2);
  int refused = 0;
  for (int i = 0; i < 20000; ++i) {
    Page damaged = page;
    const size_t where =
        random() % 2 ? 24 + random() % 64 : PIGMENT_PAGE_BYTES - 16 - 1 - random() % 16;
    damaged[where] = static_cast<unsigned char>(random());
    pigment_pending_page_set_retired(damaged.data(), 0);  // seals
    if (pigment_pending_page_check(damaged.data(), 9, 4, error.out()) != PIGMENT_OK) {
      ++refused;
      continue;
    }
    for (uint32_t entry_index = 0; entry_index < pigment_pending_page_count(damaged.data());
         ++entry_index) {
      uint64_t pointer;
      pigment_pending_page_entry(damaged.data(), entry_index, &pointer);
    }
  }
  EXPECT_GT(refused, 1000);
}

TEST(DeletionPage, KeepsTheBitsOfItsRowsOnly) {
  const uint32_t rows = pigment_deletion_page_rows();
  EXPECT_GE(rows, 65000u);
  Page page;
  page.fill(0xCD);
  pigment_deletion_page_init(page.data(), 12, 2, 40);
  std::set<uint32_t> set;
  std::mt19937 random(3);
  for (int i = 0; i < 20; ++i) {
    std::vector<uint32_t> some;
    for (int j = 0; j < 50; ++j) some.push_back(2 * rows + random() % rows);
    some.push_back(2 * rows);
    some.push_back(3 * rows - 1);
    set.insert(some.begin(), some.end());
    pigment_deletion_page_set(page.data(), some.data(), some.size());
  }
  const uint32_t elsewhere[] = {0, 2 * rows - 1, 3 * rows};
  pigment_deletion_page_set(page.data(), elsewhere, 3);
  pigment_deletion_page_set_next(page.data(), 41);
  Error error;
  HOST_OK(pigment_deletion_page_check(page.data(), 12, 2, error.out()));
  EXPECT_EQ(pigment_deletion_page_check(page.data(), 12, 1, error.out()), PIGMENT_DATA_LOSS);
  EXPECT_EQ(pigment_deletion_page_next(page.data()), 41u);
  const uint8_t* bits = pigment_deletion_page_bits(page.data());
  for (uint32_t i = 0; i < rows; ++i) {
    ASSERT_EQ(bits[i / 8] >> (i % 8) & 1, set.count(2 * rows + i) ? 1 : 0) << i;
  }
}

TEST(MetaPage, IsSealedAndChecked) {
  Page page;
  page.fill(0x11);
  pigment_meta_page_seal(page.data(), 0);
  Error error;
  HOST_OK(pigment_meta_page_check(page.data(), 0, error.out()));
  EXPECT_EQ(pigment_meta_page_check(page.data(), 1, error.out()), PIGMENT_DATA_LOSS);
  page[500] ^= 1;
  EXPECT_EQ(pigment_meta_page_check(page.data(), 0, error.out()), PIGMENT_DATA_LOSS);
  EXPECT_EQ(error.detail(), PIGMENT_DETAIL_CHECKSUM);
}

TEST(PendingPage, TellsWhichEntriesHaveAVector) {
  Page page;
  pigment_pending_page_init(page.data(), 9, 4);
  std::vector<char> entry(pigment_pending_entry_bytes(3, true));
  const float vector[] = {1, 2, 3};
  pigment_pending_entry_encode(1, vector, 3, entry.data());
  ASSERT_TRUE(pigment_pending_page_append(page.data(), entry.data(), entry.size()));
  pigment_pending_entry_encode(2, nullptr, 3, entry.data());
  ASSERT_TRUE(pigment_pending_page_append(page.data(), entry.data(),
                                          pigment_pending_entry_bytes(3, false)));
  ASSERT_TRUE(pigment_pending_page_append_overflow(page.data(), 3, 77, 64016));
  EXPECT_TRUE(pigment_pending_page_entry_has_vector(page.data(), 0));
  EXPECT_FALSE(pigment_pending_page_entry_has_vector(page.data(), 1));
  EXPECT_TRUE(pigment_pending_page_entry_has_vector(page.data(), 2));
  EXPECT_FALSE(pigment_pending_page_entry_has_vector(page.data(), 3)) << "there is no such entry";
  pigment_pending_entry_encode_with_halves(4, vector, 3, nullptr, 0, entry.data());
  ASSERT_TRUE(pigment_pending_page_append(page.data(), entry.data(),
                                          pigment_pending_entry_bytes_with_halves(3, 0)));
  EXPECT_TRUE(pigment_pending_page_entry_has_vector(page.data(), 3));
  pigment_pending_entry_encode_with_twelves(6, vector, 3, nullptr, 0, entry.data());
  ASSERT_TRUE(pigment_pending_page_append(page.data(), entry.data(),
                                          pigment_pending_entry_bytes_with_twelves(3, 0)));
  const float bits[] = {1, 0, 1};
  pigment_pending_entry_encode_with_bits(5, bits, 3, nullptr, 0, entry.data());
  ASSERT_TRUE(pigment_pending_page_append(page.data(), entry.data(),
                                          pigment_pending_entry_bytes_with_bits(3, 0)));
  EXPECT_TRUE(pigment_pending_page_entry_has_vector(page.data(), 4));
  EXPECT_TRUE(pigment_pending_page_entry_has_vector(page.data(), 5));
}

TEST(HostSegment, OfBitsTakesNoOtherNumbers) {
  Pages pages;
  pigment_segment_options options = OptionsOf(pages, 3);
  options.metric = PIGMENT_METRIC_HAMMING;
  options.bit_vectors = true;
  Error error;
  pigment_segment_builder* builder = nullptr;
  for (bool* other : {&options.half_vectors, &options.round_to_halves}) {
    *other = true;
    EXPECT_EQ(pigment_segment_builder_new(&options, &builder, error.out()),
              PIGMENT_INVALID_ARGUMENT);
    *other = false;
  }
  HOST_OK(pigment_segment_builder_new(&options, &builder, error.out()));
  const float bits[] = {1, 0, 1};
  const float others[] = {0, 1, 0.5f};
  HOST_OK(pigment_segment_builder_add(builder, bits, 1, error.out()));
  EXPECT_EQ(pigment_segment_builder_add(builder, others, 0x2B, error.out()),
            PIGMENT_INVALID_ARGUMENT);
  EXPECT_STREQ(error.message().c_str(), "segment 1 keeps bits, got 0.5 at place 2 of row 0x2b");
  HOST_OK(pigment_segment_builder_add(builder, bits, 3, error.out()));
  uint32_t root = 0, count = 0;
  uint64_t rows = 0;
  HOST_OK(pigment_segment_builder_finish(builder, &root, &count, &rows, error.out()));
  EXPECT_EQ(rows, 2u);
  pigment_segment_builder_free(builder);
}

}  // namespace
}  // namespace host_test
