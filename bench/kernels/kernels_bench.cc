// SPDX-License-Identifier: Apache-2.0
//
// The kernels of engine/vector over dimensions from 1 to 65,535, primes among them, and unaligned
// input: time for each number, what lies off the trend, and the rate from memory beside that of the
// machine. One thread.
//
//   kernels_bench [--benchmark_min_time=SECONDS]

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/vector/byte_code.h"
#include "engine/vector/distance.h"
#include "engine/vector/half.h"
#include "engine/vector/rotation.h"
#include "engine/vector/seeded_random.h"
#include "engine/vector/sign_code.h"

namespace pigment_bench {
namespace {

using pigment::Metric;

constexpr uint32_t kDimensions[] = {
    1,   2,   3,   5,   7,   8,    13,   16,   31,   32,   61,   64,   97,    127,   128,  251,
    256, 384, 509, 512, 768, 1021, 1024, 1536, 2039, 3072, 4093, 8191, 16381, 32749, 65535};
constexpr size_t kInCache = 256 << 10;  // bytes of what is compared with a query
constexpr size_t kInMemory = 256 << 20;
constexpr uint32_t kUsualDimension = 384;
// Times the trend, beyond which a point is told; the least time that is looked at.
constexpr double kFarOff = 1.6;
constexpr double kNanosecondsMin = 25;  // what a call takes, nearly

constexpr uint64_t kOfQuery = 2;  // the seed: equal vectors have sums that take the long way

std::vector<float> Numbers(size_t count, uint64_t seed = 1) {
  pigment::SeededRandom random(seed);
  std::vector<float> numbers(count);
  for (float& number : numbers) number = static_cast<float>(random.Below(2001)) / 1000.0f - 1.0f;
  return numbers;
}

// One kernel at one dimension: a call compares `rows` rows of `row_bytes`.
struct Prepared {
  size_t rows = 0;
  size_t row_bytes = 0;
  std::function<void()> call;
};

size_t RowsOf(size_t bytes, size_t row_bytes) { return std::max<size_t>(bytes / row_bytes, 1); }

Prepared PrepareDistance(Metric metric, uint32_t dimension, size_t bytes, size_t shift) {
  const size_t row_bytes = dimension * sizeof(float);
  const size_t rows = RowsOf(bytes, row_bytes);
  auto query = std::make_shared<std::vector<float>>(Numbers(dimension, kOfQuery));
  // `shift` bytes off the alignment that the allocation has.
  auto memory = std::make_shared<std::vector<std::byte>>(rows * row_bytes + shift);
  const std::vector<float> numbers = Numbers(dimension);
  for (size_t row = 0; row < rows; ++row)
    std::memcpy(memory->data() + shift + row * row_bytes, numbers.data(), row_bytes);
  auto out = std::make_shared<std::vector<float>>(rows);
  auto function = std::make_shared<pigment::DistanceFunction>(metric, *query);
  return {rows, row_bytes, [=] {
            (void)query;
            function->Many(reinterpret_cast<const float*>(memory->data() + shift), dimension, rows,
                           out->data());
            benchmark::DoNotOptimize(out->data());
          }};
}

Prepared PrepareByteCodes(uint32_t dimension, size_t bytes, size_t shift) {
  const size_t row_bytes = pigment::ByteCodeBytes(dimension);
  const size_t rows = RowsOf(bytes, row_bytes);
  auto codes = std::make_shared<std::vector<std::byte>>(rows * row_bytes + shift);
  std::vector<std::byte> code(row_bytes);
  pigment::EncodeByteCode(Numbers(dimension), code.data());
  for (size_t row = 0; row < rows; ++row)
    std::memcpy(codes->data() + shift + row * row_bytes, code.data(), row_bytes);
  auto out = std::make_shared<std::vector<float>>(rows);
  auto query = std::make_shared<pigment::ByteCodeQuery>(Metric::kL2, Numbers(dimension, kOfQuery));
  return {rows, row_bytes, [=] {
            query->LowerBounds(codes->data() + shift, rows, out->data());
            benchmark::DoNotOptimize(out->data());
          }};
}

Prepared PrepareSignCodes(uint32_t dimension, size_t bytes, size_t shift) {
  const uint32_t rotated = pigment::Rotation::RotatedDimension(dimension);
  constexpr size_t kCount = pigment::kSignCodesPerGroup;
  const size_t group_bytes = pigment::SignCodeGroupBytes(rotated, kCount);
  const size_t groups = RowsOf(bytes, group_bytes);
  auto codes = std::make_shared<std::vector<std::byte>>(groups * group_bytes + shift);
  const std::vector<float> origin(rotated);
  for (size_t i = 0; i < kCount; ++i) {
    pigment::EncodeSignCode(Numbers(rotated), origin, i, kCount, codes->data() + shift);
  }
  for (size_t group = 1; group < groups; ++group)
    std::memcpy(codes->data() + shift + group * group_bytes, codes->data() + shift, group_bytes);
  auto query = std::make_shared<pigment::SignCodeQuery>(Numbers(rotated, kOfQuery));
  return {groups * kCount, group_bytes / kCount, [=] {
            float sums[kCount];
            for (size_t group = 0; group < groups; ++group) {
              query->Sums(codes->data() + shift + group * group_bytes, kCount, sums);
              benchmark::DoNotOptimize(sums);
            }
          }};
}

Prepared PrepareHalves(uint32_t dimension, size_t bytes, size_t shift) {
  const size_t row_bytes = dimension * sizeof(uint16_t);
  const size_t rows = RowsOf(bytes, row_bytes);
  auto halves = std::make_shared<std::vector<std::byte>>(rows * row_bytes + shift);
  auto out = std::make_shared<std::vector<float>>(dimension);
  return {rows, row_bytes, [=] {
            for (size_t row = 0; row < rows; ++row) {
              pigment::WidenHalves(halves->data() + shift + row * row_bytes, *out);
              benchmark::DoNotOptimize(out->data());
            }
          }};
}

struct Kernel {
  std::string name;
  uint32_t dimension_max;
  std::function<Prepared(uint32_t dimension, size_t bytes, size_t shift)> prepare;
};

std::vector<Kernel> Kernels() {
  std::vector<Kernel> kernels;
  for (const Metric metric : {Metric::kL2, Metric::kCosine, Metric::kIp, Metric::kL1}) {
    kernels.push_back({std::string(pigment::MetricName(metric)), 65535,
                       [metric](uint32_t dimension, size_t bytes, size_t shift) {
                         return PrepareDistance(metric, dimension, bytes, shift);
                       }});
  }
  kernels.push_back({"byte codes", pigment::kByteCodeDimensionMax, PrepareByteCodes});
  kernels.push_back({"sign codes", 65535, PrepareSignCodes});
  kernels.push_back({"halves", 65535, PrepareHalves});
  return kernels;
}

// Nanoseconds of a call, by the names of benchmarks.
class Times : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.run_type != Run::RT_Iteration) continue;  // their mean and deviation
      double& time = nanoseconds[run.run_name.function_name];
      const double now = run.GetAdjustedRealTime();
      time = time == 0 ? now : std::min(time, now);
    }
  }
  std::map<std::string, double> nanoseconds;
};

void Register(const std::string& name, const std::function<Prepared()>& prepare,
              std::map<std::string, Prepared>& shapes) {
  Prepared shape = prepare();
  shape.call = nullptr;
  shapes[name] = shape;
  benchmark::RegisterBenchmark(name.c_str(),
                               [prepare](benchmark::State& state) {
                                 const Prepared prepared = prepare();
                                 for (auto _ : state) prepared.call();
                               })
      ->MinTime(0.02)
      ->Repetitions(3);
}

std::string NameOf(const Kernel& kernel, uint32_t dimension, size_t shift, size_t bytes) {
  return kernel.name + "/" + std::to_string(dimension) + "/" + std::to_string(shift) +
         (bytes == kInMemory ? "/memory" : "");
}

// A scan for a byte that is not there: as fast as libc reads.
void ReadMemory(benchmark::State& state) {
  const std::vector<char> memory(kInMemory);
  for (auto _ : state) benchmark::DoNotOptimize(std::memchr(memory.data(), 1, memory.size()));
}

// Points of one kernel that take longer than a fixed time and one for each number say.
int PrintTrend(const Kernel& kernel, size_t shift, const Times& times,
               const std::map<std::string, Prepared>& shapes) {
  struct Point {
    uint32_t dimension;
    double nanoseconds;  // a row
  };
  std::vector<Point> points;
  for (const uint32_t dimension : kDimensions) {
    if (dimension > kernel.dimension_max) continue;
    const std::string name = NameOf(kernel, dimension, shift, kInCache);
    points.push_back(
        {dimension, times.nanoseconds.at(name) / static_cast<double>(shapes.at(name).rows)});
  }
  std::vector<double> slopes;
  for (const Point& point : points) {
    if (point.dimension >= 256) slopes.push_back(point.nanoseconds / point.dimension);
  }
  std::nth_element(slopes.begin(), slopes.begin() + static_cast<ptrdiff_t>(slopes.size() / 2),
                   slopes.end());
  const double slope = slopes[slopes.size() / 2];
  const double fixed = points.front().nanoseconds;
  int far = 0;
  std::printf("  %-11s %9zu %9.1f %11.4f", kernel.name.c_str(), shift, fixed, slope);
  for (const Point& point : points) {
    const double expected = fixed + slope * point.dimension;
    if (point.nanoseconds < kNanosecondsMin || point.nanoseconds < kFarOff * expected) continue;
    std::printf("%s %u: %.2f times", far++ == 0 ? "   off the trend:" : ",", point.dimension,
                point.nanoseconds / expected);
  }
  std::printf("\n");
  return far;
}

int Run(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  const std::vector<Kernel> kernels = Kernels();
  constexpr size_t kShifts[] = {0, 4};
  std::map<std::string, Prepared> shapes;
  for (const Kernel& kernel : kernels) {
    for (const size_t shift : kShifts) {
      for (const uint32_t dimension : kDimensions) {
        if (dimension > kernel.dimension_max) continue;
        Register(
            NameOf(kernel, dimension, shift, kInCache),
            [=] { return kernel.prepare(dimension, kInCache, shift); }, shapes);
      }
    }
    Register(
        NameOf(kernel, kUsualDimension, 0, kInMemory),
        [=] { return kernel.prepare(kUsualDimension, kInMemory, 0); }, shapes);
  }
  benchmark::RegisterBenchmark("read", ReadMemory)->Repetitions(5);
  Times times;
  benchmark::RunSpecifiedBenchmarks(&times);
  std::printf("SIMD: %s\n", std::string(pigment::SimdTargetName()).c_str());
  if (times.nanoseconds.size() <= shapes.size()) {  // some were left out: there are no trends
    for (const auto& [name, nanoseconds] : times.nanoseconds) {
      const auto shape = shapes.find(name);
      const size_t rows = shape != shapes.end() ? shape->second.rows : 1;
      std::printf("  %-24s %9.1f ns a row\n", name.c_str(),
                  nanoseconds / static_cast<double>(rows));
    }
    return 0;
  }
  std::printf("  %-11s %9s %9s %11s\n", "in cache", "off by", "ns fixed", "ns a number");
  int far = 0;
  for (const Kernel& kernel : kernels) {
    for (const size_t shift : kShifts) far += PrintTrend(kernel, shift, times, shapes);
  }
  const double machine = static_cast<double>(kInMemory) / times.nanoseconds.at("read");
  std::printf("\n  from memory, %u dimensions: the machine reads %.1f GB/s\n", kUsualDimension,
              machine);
  for (const Kernel& kernel : kernels) {
    const std::string name = NameOf(kernel, kUsualDimension, 0, kInMemory);
    const Prepared& shape = shapes.at(name);
    const double rate =
        static_cast<double>(shape.rows * shape.row_bytes) / times.nanoseconds.at(name);
    std::printf("  %-11s %6.1f GB/s, %.2f of it\n", kernel.name.c_str(), rate, rate / machine);
  }
  std::printf("\n  %d points off the trend (wanted: 0)\n", far);
  return far == 0 ? 0 : 1;
}

}  // namespace
}  // namespace pigment_bench

int main(int argc, char** argv) { return pigment_bench::Run(argc, argv); }
