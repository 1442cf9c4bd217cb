// SPDX-License-Identifier: Apache-2.0
//
// Stands in for libFuzzer where the compiler has none: runs LLVMFuzzerTestOneInput on every file of
// a corpus and then, for a number of seconds, on random and mutated inputs. No coverage feedback.
// One thread; a failing input is written beside the program by the crash handler, so that it can be
// replayed by naming the file as the corpus.
//
//   NAME_fuzz [--seconds N] [--seed N] [--max-bytes N] [corpus folder or file]...

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
extern "C" __attribute__((weak)) int LLVMFuzzerInitialize(int* argc, char*** argv);

// Present in sanitized builds only: called before the report of an error.
extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)());

namespace {

using Bytes = std::vector<uint8_t>;

struct Options {
  uint64_t seconds = 60;
  uint64_t seed = 1;
  uint64_t bytes_max = 4096;
  std::vector<std::string> corpus;
};

// What the crash handler needs; it may only read these and write a file.
Bytes g_input;
std::string g_crash_path;

void SaveInput() {
  const int fd = open(g_crash_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (fd < 0) return;
  const ssize_t written = write(fd, g_input.data(), g_input.size());
  (void)written;
  close(fd);
  dprintf(STDERR_FILENO, "fuzz: the failing input is in %s\n", g_crash_path.c_str());
}

extern "C" void OnSignal(int number) {
  SaveInput();
  signal(number, SIG_DFL);
  raise(number);
}

bool ParseNumber(const char* text, uint64_t* value) {
  const char* end = text + std::strlen(text);
  const auto [stopped, error] = std::from_chars(text, end, *value);
  return error == std::errc() && stopped == end;
}

bool ParseOptions(int argc, char** argv, Options* options) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    uint64_t* value = name == "--seconds"     ? &options->seconds
                      : name == "--seed"      ? &options->seed
                      : name == "--max-bytes" ? &options->bytes_max
                                              : nullptr;
    if (value != nullptr) {
      if (++i == argc || !ParseNumber(argv[i], value)) return false;
    } else if (name.starts_with("--")) {
      return false;
    } else {
      options->corpus.emplace_back(name);
    }
  }
  return options->bytes_max > 0;
}

bool ReadCorpus(const Options& options, std::vector<Bytes>* corpus) {
  std::vector<std::filesystem::path> files;
  for (const std::string& path : options.corpus) {
    if (std::filesystem::is_directory(path)) {
      for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
        if (entry.is_regular_file()) files.push_back(entry.path());
      }
    } else {
      files.emplace_back(path);
    }
  }
  std::sort(files.begin(), files.end());
  for (const auto& file : files) {
    std::ifstream stream(file, std::ios::binary);
    if (!stream) {
      std::fprintf(stderr, "fuzz: cannot read %s\n", file.c_str());
      return false;
    }
    corpus->emplace_back(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
  }
  return true;
}

class Mutator {
 public:
  Mutator(uint64_t seed, uint64_t bytes_max) : random_(seed), bytes_max_(bytes_max) {}

  // The next input: new random bytes, or one of the corpus changed in a few places.
  Bytes Next(const std::vector<Bytes>& corpus) {
    if (corpus.empty() || Below(8) == 0) return Random();
    Bytes bytes = corpus[Below(corpus.size())];
    for (uint64_t changes = 1 + Below(6); changes > 0; --changes) Change(corpus, &bytes);
    if (bytes.size() > bytes_max_) bytes.resize(bytes_max_);
    return bytes;
  }

 private:
  uint64_t Below(uint64_t limit) { return random_() % limit; }

  Bytes Random() {
    // Short inputs are the interesting ones: sizes are spread by magnitude.
    Bytes bytes(Below(1 + Below(bytes_max_)));
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random_());
    return bytes;
  }

  void Change(const std::vector<Bytes>& corpus, Bytes* bytes) {
    const uint64_t at = Below(bytes->size() + 1);
    const auto position = bytes->begin() + static_cast<ptrdiff_t>(at);
    switch (Below(6)) {
      case 0:
        bytes->insert(position, static_cast<uint8_t>(random_()));
        return;
      case 1:
        bytes->resize(at);
        return;
      case 2: {  // splice in a piece of another input
        const Bytes& other = corpus[Below(corpus.size())];
        const uint64_t from = Below(other.size() + 1);
        const uint64_t size = Below(other.size() - from + 1);
        const auto first = other.begin() + static_cast<ptrdiff_t>(from);
        bytes->insert(position, first, first + static_cast<ptrdiff_t>(size));
        return;
      }
      case 3: {  // numbers at the edges of their types
        static constexpr uint64_t kEdges[] = {
            0,           1,      0x7f,       0x80,       0xff,
            0x7fff,      0xffff, 0x7fffffff, 0xffffffff, 0x7fffffffffffffff,
            ~uint64_t{0}};
        const uint64_t edge = kEdges[Below(std::size(kEdges))];
        const uint64_t width = uint64_t{1} << Below(4);
        for (uint64_t i = 0; i < width && at + i < bytes->size(); ++i) {
          (*bytes)[at + i] = static_cast<uint8_t>(edge >> (8 * i));
        }
        return;
      }
      case 4:
        if (at < bytes->size()) bytes->erase(position);
        return;
      default:
        if (at < bytes->size()) (*bytes)[at] ^= static_cast<uint8_t>(1u << Below(8));
        return;
    }
  }

  std::mt19937_64 random_;
  uint64_t bytes_max_;
};

void Execute(Bytes bytes) {
  g_input = std::move(bytes);
  // An exact allocation lets the address sanitizer see one byte too many.
  const Bytes exact(g_input.begin(), g_input.end());
  LLVMFuzzerTestOneInput(exact.data(), exact.size());
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!ParseOptions(argc, argv, &options)) {
    std::fprintf(stderr, "usage: %s [--seconds N] [--seed N] [--max-bytes N] [corpus]...\n",
                 argv[0]);
    return 2;
  }
  std::vector<Bytes> corpus;
  if (!ReadCorpus(options, &corpus)) return 2;
  if (LLVMFuzzerInitialize != nullptr) LLVMFuzzerInitialize(&argc, &argv);

  g_crash_path = std::filesystem::path(argv[0]).filename().string() + ".crash";
  if (__sanitizer_set_death_callback != nullptr) {
    __sanitizer_set_death_callback(SaveInput);
    signal(SIGABRT, OnSignal);
  } else {
    for (int number : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) signal(number, OnSignal);
  }

  const auto start = std::chrono::steady_clock::now();
  const auto end = start + std::chrono::seconds(options.seconds);
  uint64_t executions = 0;
  for (const Bytes& bytes : corpus) {
    Execute(bytes);
    ++executions;
  }
  Mutator mutator(options.seed, options.bytes_max);
  while (std::chrono::steady_clock::now() < end) {
    Execute(mutator.Next(corpus));
    ++executions;
  }

  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf("%llu executions, corpus %zu, seed %llu, %llu s, peak memory %ld KiB\n",
              static_cast<unsigned long long>(executions), corpus.size(),
              static_cast<unsigned long long>(options.seed),
              static_cast<unsigned long long>(options.seconds), usage.ru_maxrss);
  return 0;
}
