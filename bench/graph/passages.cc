// SPDX-License-Identifier: Apache-2.0
//
// Reading .npy files of f16, and exact neighbours: see the header.

#include "bench/graph/passages.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>

#include "engine/vector/half.h"
#include "engine/vector/top_k.h"

namespace pigment_bench {
namespace {

constexpr uint32_t kDimension = 384;

[[noreturn]] void Fail(const std::string& message) {
  std::fprintf(stderr, "bench: %s\n", message.c_str());
  std::exit(2);
}

// The numbers behind the header of a .npy file: "\x93NUMPY", two bytes of version, two of the
// length of what describes them.
std::vector<float> ReadHalves(const std::string& path, size_t rows) {
  std::ifstream file(path, std::ios::binary);
  char head[10];
  if (!file.read(head, sizeof head) || std::memcmp(head, "\x93NUMPY\x01", 7) != 0)
    Fail("no file of numbers: " + path);
  file.seekg(10 + (static_cast<unsigned char>(head[8]) | static_cast<unsigned char>(head[9]) << 8));
  std::vector<std::byte> bytes(rows * kDimension * sizeof(uint16_t));
  if (!file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size())))
    Fail("too few rows: " + path);
  std::vector<float> values(rows * kDimension);
  pigment::WidenHalves(bytes.data(), values);
  return values;
}

// Rows of unit length, times `scale(row)`, plus `noise()` each.
template <typename Scale, typename Noise>
pigment::VectorTable TableOf(std::vector<float> values, const Scale& scale, const Noise& noise) {
  const auto rows = static_cast<uint32_t>(values.size() / kDimension);
  pigment::VectorTable table(kDimension, nullptr);
  (void)table.Reserve(rows);  // without a budget nothing refuses
  for (uint32_t row = 0; row < rows; ++row) {
    const std::span<float> vector(values.data() + size_t{row} * kDimension, kDimension);
    const double factor = scale() / pigment::Norm(vector.data(), kDimension);
    for (float& value : vector) value = static_cast<float>(value * factor + noise());
    table.Add(vector);
  }
  return table;
}

}  // namespace

Passages LoadPassages(const PassageOptions& options, size_t k) {
  std::mt19937_64 random(options.seed);
  std::uniform_real_distribution<double> lengths(0.2, 5);
  std::uniform_real_distribution<double> noises(-1e-3, 1e-3);
  const auto one = [] { return 1.0; };
  const auto nothing = [] { return 0.0; };
  std::vector<float> base = ReadHalves(options.folder + "/base.f16.npy", options.rows);
  std::vector<float> queries = ReadHalves(options.folder + "/queries.f16.npy", 500);
  Passages passages{options.is_scaled ? TableOf(
                                            std::move(base), [&] { return lengths(random); },
                                            [&] { return noises(random); })
                                      : TableOf(std::move(base), one, nothing),
                    TableOf(std::move(queries), one, nothing),
                    k,
                    {}};
  std::vector<float> distances(passages.base.count());
  for (uint32_t i = 0; i < passages.queries.count(); ++i) {
    const pigment::DistanceFunction distance(pigment::Metric::kL2, passages.queries.vector(i));
    distance.Many(passages.base.row(0), kDimension, distances.size(), distances.data());
    pigment::TopK nearest(k);
    for (uint32_t row = 0; row < distances.size(); ++row) nearest.Offer(distances[row], row);
    passages.last_distances.push_back(nearest.TakeSorted().back().distance);
  }
  return passages;
}

}  // namespace pigment_bench
