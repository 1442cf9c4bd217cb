// SPDX-License-Identifier: Apache-2.0
//
// Damage to the files of a store: every bit flipped, every length cut, blocks swapped, doubled,
// zeroed, stale and foreign. Each time the store is opened, checked and read: the damage is found
// with its file, or every answer is what it was. Never a crash, more than 64 MiB, or a second.

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <random>

#include "engine/base/call_control.h"
#include "tests/corruption/damaged_store.h"
#include "tests/support/effort.h"

namespace pigment {
namespace {

constexpr size_t kAllocatedBytesMax = size_t{64} << 20;

// What is being done, for the moment when nothing else can say it any more.
char g_case[256];

void DieNamingTheCase(int signal) {
  static_cast<void>(!write(STDERR_FILENO, g_case, std::strlen(g_case)));
  static_cast<void>(!write(STDERR_FILENO, "\n", 1));
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

class StoreCorruption : public testing::Test {
 protected:
  void SetUp() override {
    if (!kIsSanitized) {
      for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE})
        std::signal(signal, DieNamingTheCase);
    }
  }
  void TearDown() override {
    std::printf("  found %llu, harmless %llu, looked like a torn tail %llu; slowest %.0f ms\n",
                Number(found_), Number(harmless_), Number(torn_), slowest_ * 1e3);
    EXPECT_LT(slowest_, kIsSanitized ? 20.0 : 1.0);
  }

  // A few failures tell more than one; all of them nobody reads.
  static bool IsEnough() {
    return testing::UnitTest::GetInstance()->current_test_info()->result()->total_part_count() > 8;
  }
  // Of computing: what else the machine does is not the damage's fault.
  static double ThreadSeconds() { return static_cast<double>(ThreadTimeNow()) * 1e-9; }
  static unsigned long long Number(uint64_t number) { return number; }

  // Opens `files` for writing, or for reading alone, and asks everything.
  static Result<uint64_t> Ask(MemoryFileSystem& files, uint64_t turn) {
    StoreOptions options = DamagedOptions();
    options.read_only = turn % 64 == 63;
    PIGMENT_ASSIGN_OR_RETURN(const auto store, Store::Open("db", options, &files));
    return HashOfStore(*store, turn % 2 == 0);
  }

  // `image` is the fixture's with the damage. It may answer as the fixture does, or as one of
  // `torn`.
  void Judge(const DamageFixture& fixture, const StoreImage& image,
             const std::vector<uint64_t>& torn, const std::string& what) {
    std::snprintf(g_case, sizeof g_case, "fixture %s, %s", fixture.name.c_str(), what.c_str());
    MemoryFileSystem files;
    for (const auto& [path, bytes] : image) {
      if (path.back() == '/') {
        (void)files.MakeDirectory(path.substr(0, path.size() - 1));
      } else {
        (void)files.Open(path, OpenMode::kCreate)
            .value()
            ->WriteAt(0, std::as_bytes(std::span(bytes)));
      }
    }
    ResetPeakAllocatedBytes();
    const size_t before = AllocatedBytes();
    const double begin = ThreadSeconds();
    const Result<uint64_t> answers = Ask(files, turn_++);
    slowest_ = std::max(slowest_, ThreadSeconds() - begin);
    EXPECT_LT(PeakAllocatedBytes() - before, kAllocatedBytesMax) << g_case;
    if (!answers.ok()) {
      ++found_;
      const Status& status = answers.status();
      EXPECT_TRUE(status.code() == Code::kDataLoss || status.code() == Code::kVersionMismatch)
          << g_case << ": " << status.ToString();
      const bool has_place = status.offset() >= 0 || status.detail() == Detail::kMissing ||
                             status.code() == Code::kVersionMismatch;
      EXPECT_TRUE(!status.file().empty() && has_place)
          << g_case << ": names no place: " << status.ToString();
    } else if (*answers == fixture.answers) {
      ++harmless_;
    } else {
      const bool is_torn = std::find(torn.begin(), torn.end(), *answers) != torn.end();
      EXPECT_TRUE(is_torn) << g_case << ": other answers, and nobody says why";
      ++torn_;
    }
  }

  uint64_t turn_ = 0, found_ = 0, harmless_ = 0, torn_ = 0;
  double slowest_ = 0;
};

// Files of a fixture that have bytes.
std::vector<std::string> FilesOf(const StoreImage& image) {
  std::vector<std::string> paths;
  for (const auto& [path, bytes] : image) {
    if (!bytes.empty()) paths.push_back(path);
  }
  return paths;
}

// Rounds with other stores, when more is asked for than one has bits.
uint64_t Rounds() { return static_cast<uint64_t>(std::ceil(Effort())); }

// What the sweeps damage, and a longer run of them: logs, shelves, deletions, a merge's leftovers.
TEST_F(StoreCorruption, MeetsEveryKindOfFileInEveryRound) {
  for (uint64_t round = 0; round < 12; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    EXPECT_GE(DamageFixtures(round).size(), 3u);
  }
}

TEST_F(StoreCorruption, OfAnyBitIsFoundOrChangesNoAnswer) {
  Share share;
  uint64_t flips = 0;
  for (uint64_t round = 0; round < Rounds() && !IsEnough(); ++round) {
    for (const DamageFixture& fixture : DamageFixtures(round)) {
      StoreImage image = fixture.image;
      for (const std::string& path : FilesOf(image)) {
        std::string& bytes = image[path];
        for (uint64_t bit = 0; bit < bytes.size() * 8 && !IsEnough(); ++bit) {
          if (!share.IsNext()) continue;
          bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
          Judge(fixture, image, fixture.answers_before_last, path + " bit " + std::to_string(bit));
          bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
          ++flips;
        }
      }
    }
  }
  ExpectFloor("flipped bits", flips, 525000);  // with the others 595,000
}

TEST_F(StoreCorruption, ByCuttingAFileAtAnyLengthIsFoundOrChangesNoAnswer) {
  Share share;
  uint64_t cuts = 0;
  for (uint64_t round = 0; round < Rounds() && !IsEnough(); ++round) {
    for (const DamageFixture& fixture : DamageFixtures(round)) {
      StoreImage image = fixture.image;
      for (const std::string& path : FilesOf(image)) {
        std::string& bytes = image[path];
        const std::string whole = bytes;
        for (size_t kept = whole.size(); kept-- > 0 && !IsEnough();) {
          if (!share.IsNext()) continue;
          bytes = whole.substr(0, kept);
          Judge(fixture, image, fixture.answers_before, path + " cut to " + std::to_string(kept));
          ++cuts;
        }
        bytes = whole;
      }
    }
  }
  ExpectFloor("truncations", cuts, 65536);
}

// ---- Blocks and files --------------------------------------------------------------------------

// One thing that a disk, a file system or a person does to whole blocks and files. Returns what it
// did; empty when it changed nothing.
class BlockDamage {
 public:
  BlockDamage(const DamageFixture& fixture, const DamageFixture& other, uint64_t seed)
      : fixture_(fixture), other_(other), random_(seed), paths_(FilesOf(fixture.image)) {}

  std::string Do(StoreImage& image) {
    const std::string path = paths_[Below(paths_.size())];
    std::string& bytes = image[path];
    const std::string before = bytes;
    const std::string what = Below(4) == 0 ? OnFiles(image, path) : OnBlocks(bytes, path);
    const auto found = image.find(path);
    return found != image.end() && found->second == before ? "" : path + ": " + what;
  }

 private:
  size_t Below(size_t bound) { return random_() % bound; }

  std::string OnBlocks(std::string& bytes, const std::string& path) {
    static constexpr size_t kSizes[] = {64, 512, 4096, 8192};
    const size_t size = std::min(kSizes[Below(4)], std::max<size_t>(bytes.size() / 2, 1));
    const size_t blocks = bytes.size() / size;
    const size_t to = Below(blocks) * size, from = Below(blocks) * size;
    const std::string at = " block of " + std::to_string(size) + " at " + std::to_string(to);
    switch (Below(5)) {
      case 0:
        std::swap_ranges(bytes.begin() + static_cast<ptrdiff_t>(to),
                         bytes.begin() + static_cast<ptrdiff_t>(to + size),
                         bytes.begin() + static_cast<ptrdiff_t>(from));
        return "swapped with " + std::to_string(from) + at;
      case 1:
        bytes.replace(to, size, std::string(bytes, from, size));
        return "doubled from " + std::to_string(from) + at;
      case 2:
        std::fill_n(bytes.begin() + static_cast<ptrdiff_t>(to), size, '\0');
        return "zeroed" + at;
      case 3:
        return Overwrite(bytes, to, size, fixture_.older, path) + "stale" + at;
      default:
        return Overwrite(bytes, to, size, other_.image, path) + "foreign" + at;
    }
  }

  // The block of the same place in another image; what that has not yet is zeros.
  static std::string Overwrite(std::string& bytes, size_t at, size_t size, const StoreImage& image,
                               const std::string& path) {
    const auto found = image.find(path);
    if (found == image.end()) return "";
    std::string block = found->second.size() > at ? found->second.substr(at, size) : "";
    block.resize(size, '\0');
    bytes.replace(at, size, block);
    return "";
  }

  std::string OnFiles(StoreImage& image, const std::string& path) {
    const std::string& partner = paths_[Below(paths_.size())];
    switch (Below(4)) {
      case 0:
        std::swap(image[path], image[partner]);
        return "exchanged with " + partner;
      case 1:
        image.erase(path);
        return "removed";
      case 2:
        if (fixture_.older.contains(path)) image[path] = fixture_.older.at(path);
        return "stale";
      default:
        if (other_.image.contains(path)) image[path] = other_.image.at(path);
        return "of another store";
    }
  }

  const DamageFixture& fixture_;
  const DamageFixture& other_;
  std::mt19937_64 random_;
  const std::vector<std::string> paths_;
};

TEST_F(StoreCorruption, ByWrongBlocksAndFilesIsFoundOrChangesNoAnswer) {
  const uint64_t wanted = AtEffort(5000);
  uint64_t done = 0;
  const std::vector<DamageFixture> fixtures = DamageFixtures(0), others = DamageFixtures(7);
  for (uint64_t seed = 1; done < wanted && !IsEnough(); ++seed) {
    const size_t which = seed % std::min(fixtures.size(), others.size());
    StoreImage image = fixtures[which].image;
    const std::string what = BlockDamage(fixtures[which], others[which], seed).Do(image);
    if (what.empty()) continue;
    Judge(fixtures[which], image, fixtures[which].answers_before,
          "seed " + std::to_string(seed) + ", " + what);
    ++done;
  }
  ExpectFloor("wrong blocks", done, 5000);
}

}  // namespace
}  // namespace pigment
