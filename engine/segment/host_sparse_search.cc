// SPDX-License-Identifier: Apache-2.0
//
// What passes over segments and pending pages look at.

#include "engine/segment/host_sparse_search.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <string>

#include "engine/fulltext/bm25.h"
#include "engine/inverted/posting_list.h"
#include "engine/segment/host_keys.h"

namespace pigment {
namespace {

// Lists that are kept before it is known whether they are read.
constexpr size_t kListBytesMax = size_t{4} << 20;
// What is not read is settled for so many rows, as many as most queries ask for. In the time in
// which the host looks at a row and computes its distance, so many rows are read in lists.
constexpr size_t kRowsWanted = 10;
constexpr uint64_t kReadsPerLook = 400;
// It is asked where this many times the rows that are left to be read are more than those of the
// group, and what is left may bring so much of what all may; again where it is so much less.
constexpr uint64_t kLooksPerRead = 3;
constexpr double kRestFirst = 0.25;
constexpr double kRestShrinks = 0.7;
// Rows that are compared together.
constexpr uint32_t kRowsTogether = 1024;

// Orders as keys do. It is its own inverse.
int32_t Ordered(int32_t bits) { return bits < 0 ? bits ^ INT32_MAX : bits; }

uint32_t RoundUp(uint32_t rows) {
  return (rows + uint32_t{kMarksPerWord} - 1) / kMarksPerWord * kMarksPerWord;
}

float KeyOf(int64_t rank) { return std::bit_cast<float>(Ordered(static_cast<int32_t>(rank))); }

}  // namespace

float HostSparseSearch::BoundOf(int64_t rank) const { return query_.BoundOf(KeyOf(rank)); }

int64_t HostSparseSearch::RankOf(float key) const {
  if (std::isnan(key) && !nan_first_) return kNan;
  return Ordered(
      std::bit_cast<int32_t>(std::isnan(key) ? -std::numeric_limits<float>::infinity() : key));
}

Status HostSparseSearch::ScanPendingRow(uint64_t row_pointer, std::span<const std::byte> keys) {
  const std::span<const int32_t> places = query_.places();
  bool is_there = false, is_sound = true;
  size_t next = 0;  // in places, which ascend as elements do
  double gains = 0;
  uint32_t mass = 0;
  PIGMENT_RETURN_IF_ERROR(
      VisitHostElements(keys, column(), &is_there, [&](std::string_view element) {
        const std::optional<SparseElement> read = ReadSparseElement(element);
        is_sound = is_sound && read.has_value();
        if (!read) return;
        switch (read->kind) {
          case SparseElement::Kind::kMass:
            mass = read->number;
            return;
          case SparseElement::Kind::kDimension:
            if (read->number != query_.dimension()) gains = HostSparseQuery::kUnknown;
            return;
          case SparseElement::Kind::kPlace:
            while (next < places.size() && static_cast<uint32_t>(places[next]) < read->place)
              ++next;
            if (next < places.size() && static_cast<uint32_t>(places[next]) == read->place)
              gains += query_.GainOf(next, read->number);
        }
      }));
  if (!is_sound) {
    return DataLoss(Detail::kMiscounted, "", -1,
                    "the values of a pending row's sparse vector are no values");
  }
  rows_scored_ += gains != 0;
  Offer({is_there ? RankOf(query_.KeyOf(gains, mass)) : HostRankHit::kNull, row_pointer});
  return Status::Ok();
}

Status HostSparseSearch::ScanUnindexed(const SegmentSource& source,
                                       const InvertedReader::Group& group) {
  const RowMask live = LiveOf(source, group);
  const int64_t rank = RankOf(query_.KeyOf(HostSparseQuery::kUnknown, 0));
  PointerWindow pointers(source.segment);
  for (uint32_t row = 0; row < group.rows; ++row)
    if (IsAllowed(live, row)) PIGMENT_RETURN_IF_ERROR(OfferRow(pointers, group.first + row, rank));
  return Status::Ok();
}

Status HostSparseSearch::ScanSegment(const SegmentSource& source) {
  std::optional<RowSet> has_vector;
  return VisitGroups(
      source, [&](InvertedReader& reader, const InvertedReader::Group& group) -> Status {
        Clear(group.rows);
        PIGMENT_RETURN_IF_ERROR(SumGroup(source, reader, group));
        PIGMENT_RETURN_IF_ERROR(MarkUnknown(source, reader, group));
        PIGMENT_ASSIGN_OR_RETURN(
            const std::span<const uint32_t> masses,
            NumbersOf(source, reader, group, SparseMassPrefix(), ReadSparseLevel));
        if (!nan_first_ && IsTooFar(RankOf(query_.LeastKeyOf(rest_))))
          return are_few_ ? OfferFew(source, group, masses) : OfferAll(source, group, masses);
        if (!has_vector) {
          PIGMENT_ASSIGN_OR_RETURN(RowSet rows, RowsWithValue(source, reader));
          has_vector.emplace(std::move(rows));
        }
        return OfferAll(source, group, masses, &*has_vector);
      });
}

void HostSparseSearch::Clear(uint32_t rows) {
  if (are_few_ && gains_.size() >= RoundUp(rows)) {
    for (const uint32_t row : few_) gains_[row] = 0;
  } else {
    gains_.assign(std::max<size_t>(gains_.size(), RoundUp(rows)), 0);
  }
  few_.clear();
  are_few_ = true;
  room_.resize((size_t{rows} + 63) / 64);
}

Status HostSparseSearch::AddList(const SegmentSource& source, const InvertedReader::Group& group,
                                 std::span<const std::byte> list, double gain) {
  rows_.clear();
  if (!ReadPostings(list, room_, group.rows, rows_))
    return Damaged(source, "a list of a sparse vector's place is damaged");
  are_few_ = are_few_ && (few_.size() + rows_.size()) * kSortedOfRows < group.rows;
  if (are_few_) few_.insert(few_.end(), rows_.begin(), rows_.end());
  for (const uint32_t row : rows_) {
    rows_scored_ += gains_[row] == 0;
    gains_[row] = std::bit_cast<int64_t>(GainsOf(row) + gain);
  }
  return Status::Ok();
}

Status HostSparseSearch::CollectLists(const SegmentSource& source, InvertedReader& reader,
                                      const InvertedReader::Group& group) {
  places_.clear();
  lists_.clear();
  list_bytes_.clear();
  for (size_t i = 0; i < query_.places().size(); ++i) {
    Place place{.begin = lists_.size()};
    const std::string prefix = SparsePlacePrefix(static_cast<uint32_t>(query_.places()[i]));
    PIGMENT_RETURN_IF_ERROR(
        VisitLists(reader, group, prefix,
                   [&](std::string_view rest, std::span<const std::byte> list) -> Status {
                     const std::optional<uint32_t> level = ReadSparseLevel(rest);
                     PostingsHead head;
                     if (!level || !ReadPostingsHead(list, &head))
                       return Damaged(source, "a value of a sparse vector");
                     const double gain = query_.GainOf(i, *level);
                     const size_t begin = list_bytes_.size();
                     if (begin + list.size() > kListBytesMax)
                       return AddList(source, group, list, gain);
                     list_bytes_.insert(list_bytes_.end(), list.begin(), list.end());
                     lists_.push_back({gain, begin, list_bytes_.size()});
                     place.most = std::max(place.most, gain);
                     place.rows += head.rows;
                     return Status::Ok();
                   }));
    place.end = lists_.size();
    places_.push_back(place);
  }
  return Status::Ok();
}

template <typename Visit>
Status HostSparseSearch::VisitGains(const SegmentSource& source, const InvertedReader::Group& group,
                                    const double& least, const Visit& visit) const {
  const RowMask live = LiveOf(source, group);
  uint64_t marks[kRowsTogether / kMarksPerWord];
  for (uint32_t first = 0; first < group.rows; first += kRowsTogether) {
    const uint32_t count = std::min(RoundUp(group.rows - first), kRowsTogether);
    if (least > 0) {
      MarkAtLeast(&gains_[first], count, std::bit_cast<int64_t>(least), marks);
    } else {
      std::fill(std::begin(marks), std::end(marks), ~uint64_t{0});
    }
    for (uint32_t word = 0; word < count / kMarksPerWord; ++word) {
      const uint32_t begin = first + word * kMarksPerWord;
      uint64_t bits = live.empty() ? marks[word] : marks[word] & live[begin / 64];
      for (; bits != 0; bits &= bits - 1) {
        const uint32_t row = begin + static_cast<uint32_t>(std::countr_zero(bits));
        if (row >= group.rows) break;
        const double gains = GainsOf(row);
        if (gains >= least) PIGMENT_RETURN_IF_ERROR(visit(row, gains));
      }
    }
  }
  return Status::Ok();
}

Result<bool> HostSparseSearch::AreEnough(const SegmentSource& source,
                                         const InvertedReader::Group& group, double rest,
                                         uint64_t rows_more) const {
  std::vector<double> best;  // a heap with the least on top
  double least = std::numeric_limits<double>::min();
  PIGMENT_RETURN_IF_ERROR(VisitGains(source, group, least, [&](uint32_t, double gains) {
    if (best.size() == kRowsWanted) {
      std::pop_heap(best.begin(), best.end(), std::greater<>());
      best.pop_back();
    }
    best.push_back(gains);
    std::push_heap(best.begin(), best.end(), std::greater<>());
    if (best.size() == kRowsWanted) least = best.front();
    return Status::Ok();
  }));
  if (best.size() < kRowsWanted || rest >= least) return false;
  uint64_t rows = 0;
  PIGMENT_RETURN_IF_ERROR(VisitGains(source, group, least - rest, [&](uint32_t, double) {
    ++rows;
    return Status::Ok();
  }));
  return rows <= kRowsWanted + rows_more;
}

Status HostSparseSearch::SumGroup(const SegmentSource& source, InvertedReader& reader,
                                  const InvertedReader::Group& group) {
  PIGMENT_RETURN_IF_ERROR(CollectLists(source, reader, group));
  std::stable_sort(places_.begin(), places_.end(),
                   [](const Place& a, const Place& b) { return a.most > b.most; });
  // What is left from each place on.
  std::vector<Place> left(places_.size() + 1);
  for (size_t i = places_.size(); i-- > 0;)
    left[i] = {.most = left[i + 1].most + places_[i].most,
               .rows = left[i + 1].rows + places_[i].rows};
  size_t next = 0;
  double asked = left[0].most * kRestFirst;
  for (; next < places_.size(); ++next) {
    const Place& rest = left[next];
    if (rest.rows * kLooksPerRead > group.rows && rest.most < asked) {
      PIGMENT_ASSIGN_OR_RETURN(const bool are_enough,
                               AreEnough(source, group, rest.most, rest.rows / kReadsPerLook));
      if (are_enough) break;
      asked = rest.most * kRestShrinks;
    }
    for (size_t i = places_[next].begin; i < places_[next].end; ++i) {
      const List& list = lists_[i];
      PIGMENT_RETURN_IF_ERROR(
          AddList(source, group, std::span(list_bytes_).subspan(list.begin, list.end - list.begin),
                  list.gain));
    }
  }
  rest_ = left[next].most;
  return Status::Ok();
}

Status HostSparseSearch::MarkUnknown(const SegmentSource& source, InvertedReader& reader,
                                     const InvertedReader::Group& group) {
  PIGMENT_RETURN_IF_ERROR(VisitLists(reader, group, SparseUnboundedElement(),
                                     [&](std::string_view, std::span<const std::byte> list) {
                                       return AddList(source, group, list,
                                                      HostSparseQuery::kUnknown);
                                     }));
  return VisitLists(reader, group, SparseDimensionPrefix(),
                    [&](std::string_view rest, std::span<const std::byte> list) -> Status {
                      const std::optional<uint32_t> dimension = ReadSparseDimension(rest);
                      if (!dimension) return Damaged(source, "a dimension of a sparse vector");
                      if (*dimension == query_.dimension()) return Status::Ok();
                      return AddList(source, group, list, HostSparseQuery::kUnknown);
                    });
}

Status HostSparseSearch::OfferFew(const SegmentSource& source, const InvertedReader::Group& group,
                                  std::span<const uint32_t> masses) {
  const RowMask live = LiveOf(source, group);
  PointerWindow pointers(source.segment);
  // Ascending, because row pointers are read a block at a time; each once.
  std::sort(few_.begin(), few_.end());
  few_.erase(std::unique(few_.begin(), few_.end()), few_.end());
  for (const uint32_t row : few_) {
    if (!IsAllowed(live, row)) continue;
    const int64_t rank = RankOf(query_.KeyOf(GainsOf(row) + rest_, masses[row]));
    PIGMENT_RETURN_IF_ERROR(OfferRow(pointers, group.first + row, rank));
  }
  return Status::Ok();
}

double HostSparseSearch::LeastGains() const {
  const std::optional<int64_t> greatest = GreatestRank();
  return greatest && *greatest < kNan && !nan_first_
             ? query_.LeastGainsFor(KeyOf(*greatest)) - rest_
             : -std::numeric_limits<double>::infinity();
}

Status HostSparseSearch::OfferAll(const SegmentSource& source, const InvertedReader::Group& group,
                                  std::span<const uint32_t> masses, const RowSet* has_vector) {
  PointerWindow pointers(source.segment);
  double least = LeastGains();
  return VisitGains(source, group, least, [&](uint32_t row, double gains) -> Status {
    const bool is_there =
        has_vector == nullptr || gains != 0 || has_vector->Test(group.first + row);
    const int64_t rank =
        is_there ? RankOf(query_.KeyOf(gains + rest_, masses[row])) : HostRankHit::kNull;
    if (!MayEnter(rank)) return Status::Ok();
    PIGMENT_RETURN_IF_ERROR(OfferRow(pointers, group.first + row, rank));
    least = LeastGains();
    return Status::Ok();
  });
}

}  // namespace pigment
