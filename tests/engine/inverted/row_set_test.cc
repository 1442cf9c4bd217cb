// SPDX-License-Identifier: Apache-2.0
//
// Sets of rows against std::vector<bool>, "every row" being another form than all bits.

#include "engine/inverted/row_set.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace pigment {
namespace {

struct Both {
  RowSet set;
  std::vector<bool> model;
};

Both Random(std::mt19937_64& random, uint32_t rows) {
  Both both{RowSet(rows), std::vector<bool>(rows, true)};
  if (random() % 4 == 0) return both;
  both.set = RowSet::Nothing(rows);
  const uint64_t one_in = 1 + random() % 5;
  for (uint32_t row = 0; row < rows; ++row) {
    both.model[row] = random() % one_in == 0;
    if (both.model[row]) both.set.Set(row);
  }
  return both;
}

void ExpectEqual(const Both& both) {
  uint64_t count = 0;
  uint32_t next = both.set.Next(0);
  for (uint32_t row = 0; row < both.model.size(); ++row) {
    ASSERT_EQ(both.set.Test(row), both.model[row]) << row;
    if (!both.model[row]) continue;
    ++count;
    ASSERT_EQ(next, row);
    next = both.set.Next(row + 1);
  }
  EXPECT_EQ(next, both.set.rows());
  EXPECT_EQ(both.set.count(), count);
  EXPECT_EQ(both.set.empty(), count == 0);
  EXPECT_EQ(both.set.is_everything(), count == both.model.size());
}

TEST(RowSet, DoesWhatASetOfBoolsDoes) {
  for (uint64_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    const auto rows = static_cast<uint32_t>(random() % 300);
    Both a = Random(random, rows);
    const Both b = Random(random, rows);
    const uint64_t operation = random() % 5;
    for (uint32_t row = 0; row < rows; ++row) {
      const bool x = a.model[row], y = b.model[row];
      a.model[row] = operation == 0   ? x && y
                     : operation == 1 ? x || y
                     : operation == 2 ? x && !y
                     : operation == 3 ? !x
                                      : x;
    }
    if (operation == 0) a.set.Intersect(b.set);
    if (operation == 1) a.set.Unite(b.set);
    if (operation == 2) a.set.Subtract(b.set);
    if (operation == 3) a.set.Complement();
    ExpectEqual(a);
    for (uint32_t row = 0; row < rows; ++row) {
      if (!a.model[row] || random() % 3 != 0) continue;
      a.set.Clear(row);
      a.model[row] = false;
    }
    ExpectEqual(a);
    for (uint64_t& word : a.set.MutableWords()) word = 0;
    a.set.Recount();
    ExpectEqual({a.set, std::vector<bool>(rows)});
  }
}

// Copies share their bits until one changes, whichever it is.
TEST(RowSet, LeavesACopyAsItWas) {
  RowSet set = RowSet::Nothing(200);
  set.Set(7);
  set.Set(150);
  RowSet copy = set;
  EXPECT_EQ(copy.words().data(), set.words().data());
  set.Clear(7);
  copy.Set(8);
  EXPECT_FALSE(set.Test(7) || set.Test(8));
  EXPECT_TRUE(set.Test(150));
  EXPECT_TRUE(copy.Test(7) && copy.Test(8) && copy.Test(150));
  EXPECT_EQ(set.count(), 1u);
  EXPECT_EQ(copy.count(), 3u);
  const RowSet kept = copy;
  copy.Subtract(set);
  EXPECT_FALSE(copy.Test(150));
  EXPECT_TRUE(kept.Test(150));
}

}  // namespace
}  // namespace pigment
