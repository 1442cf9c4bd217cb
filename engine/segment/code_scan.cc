// SPDX-License-Identifier: Apache-2.0
//
// From block to block of codes: see the header.

#include "engine/segment/code_scan.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>

#include "engine/base/prefetch.h"
#include "engine/segment/bounded_rows.h"
#include "engine/vector/row_code.h"

namespace pigment {
namespace {

// Of so many rows the nearest are compared before the scan goes on: few enough to find the others'
// limit early.
constexpr size_t kGatheredMax = 256;
// Rows that are listed at once; a multiple of 64.
constexpr uint32_t kRowsPerWindow = 4096;
// Codes between two looks at the clock: well below a millisecond.
constexpr uint32_t kCodesPerCheck = 16384;

class CodeScanner {
 public:
  CodeScanner(const SegmentInfo& info, IndexReader& reader, const IndexSearch& search, float errors)
      : rows_(info.vectors),
        code_bytes_(reader.head().row_code_bytes()),
        errors_(errors),
        reader_(reader),
        search_(search),
        radius_(reader.head().row_radius),
        query_(search.query->point(), reader.head().row_bits),
        distance_(search.metric, search.vector),
        rows_found_(distance_, *search.query, search.k, search.wanted, search.control) {}

  Result<CodeScanResult> Run();

 private:
  // The allowed ones of the rows from `first` on that one window has, into window_.
  void ListWindow(uint32_t first);
  // Asks for the codes that Gather would take from a place in the window on.
  void Expect(size_t place);
  // The codes from a place in the window on which lie together; gives the place behind them.
  Result<size_t> Gather(size_t place);
  // Compares some of what was gathered, or in the end all that is left.
  Status Compare(bool is_end);
  Status Pace(size_t codes);

  const uint32_t rows_;
  const size_t code_bytes_;
  const float errors_;
  IndexReader& reader_;
  const IndexSearch& search_;
  const float radius_;
  const RowCodeQuery query_;
  const DistanceFunction distance_;
  BoundedRows rows_found_;
  size_t window_rows_ = 0;
  std::vector<uint32_t> window_ = std::vector<uint32_t>(kRowsPerWindow);
  // Of some of them the codes, and their bounds.
  std::vector<const std::byte*> codes_ = std::vector<const std::byte*>(kRowsPerWindow);
  std::vector<float> bounds_ = std::vector<float>(kRowsPerWindow);
  uint64_t unpaced_ = kCodesPerCheck;  // the first look comes at once
  CodeScanResult result_;
};

Status CodeScanner::Pace(size_t codes) {
  result_.codes += codes;
  unpaced_ += codes;
  if (unpaced_ < kCodesPerCheck) return Status::Ok();
  unpaced_ = 0;
  return search_.control != nullptr ? search_.control->Check() : Status::Ok();
}

void CodeScanner::ListWindow(uint32_t first) {
  const uint32_t end = std::min(rows_ - first, kRowsPerWindow) + first;
  if (search_.allowed_rows.empty()) {
    window_rows_ = end - first;
    std::iota(window_.begin(), window_.begin() + (end - first), first);
    return;
  }
  window_rows_ = 0;
  for (uint32_t begin = first; begin < end; begin += 64) {
    for (uint64_t bits = search_.allowed_rows[begin / 64]; bits != 0; bits &= bits - 1)
      window_[window_rows_++] = begin + static_cast<uint32_t>(std::countr_zero(bits));
  }
  // Bits beyond the rows may be anything.
  while (window_rows_ != 0 && window_[window_rows_ - 1] >= end) --window_rows_;
}

void CodeScanner::Expect(size_t place) {
  if (place == window_rows_) return;
  const uint32_t first = window_[place];
  const IndexReader::RowCodes codes = reader_.LikelyRowCodesFrom(first);
  for (; place < window_rows_ && window_[place] - first < codes.count; ++place) {
    const std::byte* const code = codes.first + (window_[place] - first) * code_bytes_;
    ExpectBytes(code, code_bytes_);
    ExpectBytes(code + code_bytes_ - 1, 1);
  }
}

Result<size_t> CodeScanner::Gather(size_t place) {
  const uint32_t first = window_[place];
  PIGMENT_ASSIGN_OR_RETURN(const IndexReader::RowCodes codes, reader_.RowCodesFrom(first));
  size_t end = place;
  for (; end < window_rows_ && window_[end] - first < codes.count; ++end)
    codes_[end - place] = codes.first + (window_[end] - first) * code_bytes_;
  Expect(end);
  PIGMENT_RETURN_IF_ERROR(Pace(end - place));
  query_.LowerBounds(codes_.data(), end - place, radius_, errors_, bounds_.data());
  rows_found_.Gather(std::span(window_).subspan(place, end - place),
                     std::span(bounds_).first(end - place));
  return end;
}

Status CodeScanner::Compare(bool is_end) {
  const auto expect = [this](uint32_t row) { reader_.ExpectVector(row); };
  const auto read = [this](uint32_t row) { return reader_.Vector(row); };
  return is_end ? rows_found_.Compare(expect, read) : rows_found_.Narrow(expect, read);
}

Result<CodeScanResult> CodeScanner::Run() {
  if (search_.k == 0) return std::move(result_);
  size_t next_look = kGatheredMax;  // gathered rows
  for (uint32_t first = 0; first < rows_; first += kRowsPerWindow) {
    ListWindow(first);
    for (size_t place = 0; place < window_rows_;) {
      PIGMENT_ASSIGN_OR_RETURN(place, Gather(place));
      if (rows_found_.gathered() >= next_look) {
        PIGMENT_RETURN_IF_ERROR(Compare(false));
        next_look = rows_found_.gathered() + kGatheredMax;
      }
    }
    if (rows_ - first <= kRowsPerWindow) break;
  }
  PIGMENT_RETURN_IF_ERROR(Compare(true));
  result_.hits = rows_found_.TakeHits();
  result_.vectors_compared = rows_found_.compared();
  return std::move(result_);
}

}  // namespace

// Of a normal error the part beyond t standard errors is at most exp(-t^2 / 2) / 2.
float ErrorsForRecall(double recall) {
  const double missed = std::clamp(1 - recall, 1e-6, 0.25);
  return static_cast<float>(std::sqrt(2 * std::log(1 / (2 * missed))));
}

Result<CodeScanResult> ScanRowCodes(const SegmentInfo& info, IndexReader& reader,
                                    const IndexSearch& search, float errors) {
  return CodeScanner(info, reader, search, errors).Run();
}

}  // namespace pigment
