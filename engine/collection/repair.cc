// SPDX-License-Identifier: Apache-2.0
//
// Repair: catalog, then the log, then each collection's segments into a CopyTarget, whose catalog
// comes last as that of a backup does.

#include "engine/collection/repair.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "engine/base/bytes.h"
#include "engine/base/disk_files.h"
#include "engine/block/file_block_sink.h"
#include "engine/block/file_block_source.h"
#include "engine/collection/backup.h"
#include "engine/collection/check.h"
#include "engine/collection/deletions_file.h"
#include "engine/collection/frozen_store.h"
#include "engine/collection/repair_source.h"
#include "engine/collection/shelf_file.h"
#include "engine/collection/shelved_tail.h"
#include "engine/log/log_range.h"
#include "engine/record/configuration.h"
#include "engine/record/record.h"
#include "engine/segment/segment_writer.h"

namespace pigment {
namespace {

constexpr size_t kUuidBytes = 16;

// A segment of the damaged store, as far as it opens. `source` outlives `segment`.
struct OpenedSegment {
  std::unique_ptr<FileBlockSource> source;
  std::unique_ptr<Segment> segment;
  bool is_whole = false;
};

class Repair {
 public:
  Repair(FileSystem* from_files, const std::string& from, CopyTarget& target,
         const CallControl& control)
      : files_(from_files), from_(from), target_(target), control_(control) {}

  Result<RepairReport> Run() {
    PIGMENT_ASSIGN_OR_RETURN(catalog_, SalvageCatalog(files_, from_, report_.messages));
    report_.catalog = catalog_.condition;
    next_segment_ = catalog_.state.next_segment();
    PIGMENT_ASSIGN_OR_RETURN(log_,
                             SalvageLog(files_, from_ + "/log", catalog_.store, report_.messages));
    std::vector<CollectionEntry> entries;
    catalog_.state.VisitCollections(
        [&](const CollectionEntry& entry) { entries.push_back(entry); });
    if (catalog_.condition != RepairReport::CatalogState::kWhole) {
      PIGMENT_RETURN_IF_ERROR(AdoptStrays(entries));
    }
    control_.BeginPhase("segments", "bytes", SegmentBytes(entries));
    for (CollectionEntry& entry : entries) {
      PIGMENT_RETURN_IF_ERROR(control_.Check());
      PIGMENT_RETURN_IF_ERROR(RepairCollection(entry));
    }
    PIGMENT_RETURN_IF_ERROR(WriteLog(entries));
    if (shelf_) {
      PIGMENT_RETURN_IF_ERROR(shelf_->Write(
          *target_.files(), fmt::format("{}/{}.shelf", target_.segments(), shelf_number_)));
    }
    PIGMENT_RETURN_IF_ERROR(target_.files()->SyncDirectory(target_.segments()));
    return Publish(entries);
  }

 private:
  std::string SegmentPath(uint32_t segment) const {
    return fmt::format("{}/segments/{}.seg", from_, segment);
  }

  // ---- Segments

  // Null when nothing of it can be read.
  Result<OpenedSegment> OpenSegment(uint32_t number, std::optional<uint32_t> root,
                                    std::optional<uint32_t> rows) {
    OpenedSegment opened;
    const std::string path = SegmentPath(number);
    Result<std::unique_ptr<File>> file = files_->Open(path, OpenMode::kRead);
    if (!file.ok()) return Unreadable(file.status());
    PIGMENT_ASSIGN_OR_RETURN(const uint64_t size, (*file)->Size());
    if (size < kBlockBytes) {
      return Unreadable(DataLoss(Detail::kTruncated, path, 0, path + " is empty"));
    }
    const auto last = static_cast<uint32_t>(size / kBlockBytes - 1);
    auto source = FileBlockSource::Open(*std::move(file), number, nullptr);
    if (!source.ok()) return Unreadable(source.status());
    opened.source = *std::move(source);
    auto segment = Segment::Open(opened.source.get(), root.value_or(last), number);
    if (!segment.ok()) return Unreadable(segment.status());
    opened.segment = *std::move(segment);
    const SegmentInfo& info = opened.segment->info();
    if (info.owner != catalog_.store.bytes || (rows && info.rows != *rows)) {
      return Unreadable(DataLoss(Detail::kForeign, path, 0, path + " is not the segment named"));
    }
    const Status whole = opened.segment->Verify();
    if (IsLackOfOurs(whole)) return whole;
    if (!whole.ok()) report_.messages.push_back(whole.message());
    opened.is_whole = whole.ok();
    return opened;
  }

  Result<OpenedSegment> Unreadable(const Status& status) {
    if (IsLackOfOurs(status)) return status;
    report_.messages.push_back(status.message());
    return OpenedSegment();
  }

  Status CopyWhole(const SegmentEntry& entry) {
    if (!copied_.insert(entry.segment).second) return Status::Ok();
    PIGMENT_ASSIGN_OR_RETURN(const auto from,
                             files_->Open(SegmentPath(entry.segment), OpenMode::kRead));
    PIGMENT_ASSIGN_OR_RETURN(
        const auto to,
        target_.files()->Open(fmt::format("{}/{}.seg", target_.segments(), entry.segment),
                              OpenMode::kCreate));
    constexpr uint64_t kChunkBytes = 128 * kBlockBytes;
    std::vector<std::byte> chunk(kChunkBytes);
    PIGMENT_ASSIGN_OR_RETURN(const uint64_t size, from->Size());
    for (uint64_t offset = 0; offset < size; offset += kChunkBytes) {
      PIGMENT_RETURN_IF_ERROR(control_.Check());
      const std::span<std::byte> bytes(chunk.data(), std::min(kChunkBytes, size - offset));
      PIGMENT_RETURN_IF_ERROR(from->ReadAt(offset, bytes));
      PIGMENT_RETURN_IF_ERROR(to->WriteAt(offset, bytes));
      control_.Advance(bytes.size());
    }
    return to->Sync();
  }

  // A new segment of the live rows that can be read and `wants` says yes to. Nothing when there is
  // none.
  Result<std::optional<SegmentEntry>> Rewrite(
      const Segment& segment, const std::function<bool(uint32_t, const std::string&)>& wants,
      uint64_t* lost) {
    const SegmentInfo& info = segment.info();
    const uint32_t number = next_segment_++;
    const std::string path = fmt::format("{}/{}.seg", target_.segments(), number);
    PIGMENT_ASSIGN_OR_RETURN(auto file, target_.files()->Open(path, OpenMode::kCreate));
    FileBlockSink sink(file.get());
    SegmentWriter writer({.segment = number,
                          .owner = catalog_.store.bytes,
                          .dimension = info.dimension,
                          .metric = info.metric,
                          .vector_element = info.vector_element,
                          .codes = SegmentOptions::Codes::kOfFlat},
                         &sink);
    uint32_t kept = 0;
    uint64_t last_ordinal = 0;
    for (uint32_t row = 0; row < info.rows; ++row) {
      if (row % 256 == 0) PIGMENT_RETURN_IF_ERROR(control_.Check());
      const auto id = segment.ReadId(row);
      if (id.ok() && !wants(row, *id)) continue;
      if (!id.ok() && !wants(row, "")) continue;
      const auto record = segment.ReadRecord(
          row, {.embedding = true, .document = true, .metadata = true, .uri = true});
      if (IsLackOfOurs(record.status())) return record.status();
      const bool is_usable = id.ok() && record.ok() && record->ordinal > last_ordinal &&
                             record->embedding.size() == info.dimension;
      if (!is_usable) {
        ++*lost;
        continue;
      }
      last_ordinal = record->ordinal;
      PIGMENT_RETURN_IF_ERROR(writer.AddRecord(*record));
      ++kept;
    }
    if (kept == 0) {
      file.reset();
      PIGMENT_RETURN_IF_ERROR(target_.files()->Remove(path));
      return std::optional<SegmentEntry>();
    }
    PIGMENT_ASSIGN_OR_RETURN(const SegmentSummary summary, writer.Finish());
    PIGMENT_RETURN_IF_ERROR(sink.Finish());
    PIGMENT_RETURN_IF_ERROR(file->Sync());
    return std::optional(SegmentEntry{.segment = number,
                                      .root = summary.root,
                                      .file_bytes = uint64_t{summary.blocks} * kBlockBytes,
                                      .rows = summary.rows});
  }

  // ---- Collections

  struct Part {
    SegmentEntry entry;
    OpenedSegment opened;
    std::shared_ptr<const RowBitmap> deleted;  // null: none, or unreadable
    bool has_lost_deletions = false;

    bool IsLive(uint32_t row) const { return !deleted || !deleted->Test(row); }
  };

  Result<Part> OpenPart(const SegmentEntry& entry) {
    Part part;
    part.entry = entry;
    PIGMENT_ASSIGN_OR_RETURN(part.opened, OpenSegment(entry.segment, entry.root, entry.rows));
    if (part.opened.source &&
        uint64_t{*part.opened.source->blocks()} * kBlockBytes != entry.file_bytes) {
      part.opened.is_whole = false;
    }
    if (entry.deletions == 0) return part;
    auto deleted = ReadDeletionsFile(
        *files_, fmt::format("{}/segments/{}.{}.del", from_, entry.segment, entry.deletions),
        {catalog_.store.bytes, entry.segment, entry.deletions, entry.rows});
    if (IsLackOfOurs(deleted.status())) return deleted.status();
    if (deleted.ok()) {
      part.deleted = std::make_shared<const RowBitmap>(*std::move(deleted));
    } else {
      report_.messages.push_back(deleted.status().message());
      part.has_lost_deletions = true;
    }
    return part;
  }

  // Ids that live in the segments that were kept, and on the shelf.
  struct Living {
    std::set<std::string> stored;
    std::set<std::string> shelved;
  };
  using Records = std::vector<std::shared_ptr<const Record>>;
  static const Records& NoRecords() {
    static const Records none;
    return none;
  }

  // The records and deletions that a cold collection has on a shelf.
  Result<std::optional<ShelvedTail>> ReadShelved(const CollectionEntry& entry) {
    if (entry.shelf.file == 0) return std::optional<ShelvedTail>();
    const auto bytes =
        ReadShelf(*files_, fmt::format("{}/segments/{}.shelf", from_, entry.shelf.file),
                  catalog_.store.bytes, entry.shelf);
    auto shelved =
        bytes.ok() ? DecodeShelvedTail(AsBytes(*bytes)) : Result<ShelvedTail>(bytes.status());
    if (IsLackOfOurs(shelved.status())) return shelved.status();
    if (shelved.ok()) return std::optional(*std::move(shelved));
    ++report_.shelf_records_lost;
    report_.messages.push_back(fmt::format("what collection \"{}\" had on a shelf is lost: {}",
                                           entry.name, shelved.status().message()));
    return std::optional<ShelvedTail>();
  }

  // Onto the shelf of the new store. Deletions of rows that are not there any more are left out.
  Status KeepShelved(CollectionEntry& entry, std::optional<ShelvedTail> shelved,
                     const Living* living) {
    entry.shelf = ShelfPlace();
    if (!shelved) return Status::Ok();
    if (living != nullptr) {
      std::erase_if(shelved->erased,
                    [&](const std::string& id) { return !living->stored.contains(id); });
    }
    if (!shelf_) shelf_.emplace(catalog_.store.bytes, shelf_number_ = next_segment_++);
    PIGMENT_ASSIGN_OR_RETURN(entry.shelf, shelf_->Add(EncodeShelvedTail(*shelved)));
    return Status::Ok();
  }

  Status RepairCollection(CollectionEntry& entry) {
    RepairedCollection& repaired = report_.collections.emplace_back();
    repaired.name = entry.name;
    repaired.is_recovered = recovered_.contains(entry.id);
    std::vector<Part> parts;
    for (const SegmentEntry& segment : entry.segments) {
      PIGMENT_ASSIGN_OR_RETURN(Part part, OpenPart(segment));
      parts.push_back(std::move(part));
    }
    // Parts whose deletions are known come first: what lives in one of them is dead in the others.
    // Of those, a later one has the newer row.
    std::vector<size_t> order;
    for (size_t i = 0; i < parts.size(); ++i) {
      if (!parts[i].has_lost_deletions) order.push_back(i);
    }
    const bool has_lost_deletions = order.size() < parts.size();
    for (size_t i = parts.size(); i-- > 0;) {
      if (parts[i].has_lost_deletions) order.push_back(i);
    }
    PIGMENT_ASSIGN_OR_RETURN(const std::optional<ShelvedTail> shelved, ReadShelved(entry));
    const bool is_whole = std::all_of(parts.begin(), parts.end(), [](const Part& part) {
      return part.opened.is_whole && !part.has_lost_deletions;
    });
    // Gathered only where somebody asks.
    Living living;
    for (const auto& record : shelved&& has_lost_deletions ? shelved->records : NoRecords()) {
      living.shelved.insert(record->id);
    }
    const bool gathers = has_lost_deletions || (shelved && !is_whole);
    std::vector<std::optional<SegmentEntry>> kept(parts.size());
    for (const size_t i : order) {
      PIGMENT_ASSIGN_OR_RETURN(kept[i],
                               RepairPart(parts[i], gathers ? &living : nullptr, repaired));
    }
    PIGMENT_RETURN_IF_ERROR(KeepShelved(entry, shelved, gathers ? &living : nullptr));
    entry.segments.clear();
    for (const auto& segment : kept) {
      if (segment) entry.segments.push_back(*segment);
    }
    return Status::Ok();
  }

  Result<std::optional<SegmentEntry>> RepairPart(const Part& part, Living* living,
                                                 RepairedCollection& repaired) {
    const uint64_t live = part.entry.rows - part.entry.deleted_rows;
    if (!part.opened.segment) {
      control_.Advance(part.entry.file_bytes);
      repaired.rows_lost += live;
      return std::optional<SegmentEntry>();
    }
    if (part.opened.is_whole && !part.has_lost_deletions) {
      PIGMENT_RETURN_IF_ERROR(CopyPart(part));
      for (uint32_t row = 0; living != nullptr && row < part.entry.rows; ++row) {
        if (!part.IsLive(row)) continue;
        PIGMENT_ASSIGN_OR_RETURN(std::string id, part.opened.segment->ReadId(row));
        living->stored.insert(std::move(id));
      }
      repaired.rows += live;
      return std::optional(part.entry);
    }
    uint64_t lost = 0;
    uint64_t elsewhere = 0;
    PIGMENT_ASSIGN_OR_RETURN(
        const std::optional<SegmentEntry> written,
        Rewrite(
            *part.opened.segment,
            [&](uint32_t row, const std::string& id) {
              if (!part.IsLive(row)) return false;
              if (living == nullptr || id.empty()) return true;
              if (!part.has_lost_deletions) {
                living->stored.insert(id);
                return true;
              }
              if (!living->shelved.contains(id) && living->stored.insert(id).second) return true;
              ++elsewhere;
              return false;
            },
            &lost));
    control_.Advance(part.entry.file_bytes);
    repaired.rows_lost += lost;
    if (part.has_lost_deletions && part.entry.deleted_rows > elsewhere) {
      repaired.deletions_lost += part.entry.deleted_rows - elsewhere;
    }
    if (written) {
      ++repaired.segments_rewritten;
      repaired.rows += written->rows;
    }
    return written;
  }

  Status CopyPart(const Part& part) {
    const SegmentEntry& entry = part.entry;
    PIGMENT_RETURN_IF_ERROR(CopyWhole(entry));
    if (!part.deleted || !copied_deletions_.insert({entry.segment, entry.deletions}).second) {
      return Status::Ok();
    }
    return WriteDeletionsFile(
        *target_.files(),
        fmt::format("{}/{}.{}.del", target_.segments(), entry.segment, entry.deletions),
        {catalog_.store.bytes, entry.segment, entry.deletions, entry.rows}, *part.deleted);
  }

  // ---- What no collection claims

  // The catalog does not say whose they are any more: a collection for each segment, and one for
  // each id of the log.
  Status AdoptStrays(std::vector<CollectionEntry>& entries) {
    std::set<uint32_t> claimed;
    std::set<Uuid> known;
    for (const CollectionEntry& entry : entries) {
      known.insert(entry.id);
      for (const SegmentEntry& segment : entry.segments) claimed.insert(segment.segment);
    }
    const auto names = files_->List(from_ + "/segments");
    std::map<uint32_t, uint64_t> segments;  // with the newest version of their deletions
    for (const std::string& name : names.ok() ? *names : std::vector<std::string>()) {
      uint32_t number = 0;
      uint64_t deletions = 0;
      const char* const end = name.data() + name.size();
      const auto parsed = std::from_chars(name.data(), end, number);
      if (parsed.ec != std::errc() || number == 0) continue;
      const std::string rest(parsed.ptr, end);
      if (rest == ".seg") segments.try_emplace(number, 0);
      if (rest.ends_with(".del") && rest.size() > 5) {
        std::from_chars(rest.data() + 1, rest.data() + rest.size() - 4, deletions);
        segments[number] = std::max(segments[number], deletions);
      }
      next_segment_ = std::max(next_segment_, number + 1);
    }
    for (const auto& [number, deletions] : segments) {
      if (claimed.contains(number)) continue;
      PIGMENT_RETURN_IF_ERROR(AdoptSegment(number, deletions, entries));
    }
    for (const auto& [position, payload] : log_.batches) {
      if (payload.size() < kUuidBytes) continue;
      Uuid id;
      const auto bytes = AsBytes(payload).first(kUuidBytes);
      std::copy(bytes.begin(), bytes.end(), id.bytes.begin());
      if (id.is_nil() || !known.insert(id).second) continue;
      CollectionEntry entry = StrayEntry(id, "recovered-" + id.ToString());
      entry.floor = position - 1;
      report_.messages.push_back(
          fmt::format("the log has batches of collection {}, now \"{}\" with distance l2",
                      id.ToString(), entry.name));
      entries.push_back(std::move(entry));
    }
    return Status::Ok();
  }

  CollectionEntry StrayEntry(const Uuid& id, std::string name) {
    recovered_.insert(id);
    CollectionEntry entry;
    entry.id = id;
    entry.name = std::move(name);
    entry.tenant = kDefaultTenant;
    entry.database = kDefaultDatabase;
    entry.configuration_json = "{}";
    return entry;
  }

  Status AdoptSegment(uint32_t number, uint64_t deletions, std::vector<CollectionEntry>& entries) {
    PIGMENT_ASSIGN_OR_RETURN(const OpenedSegment opened,
                             OpenSegment(number, std::nullopt, std::nullopt));
    if (!opened.segment) return Status::Ok();
    const SegmentInfo& info = opened.segment->info();
    PIGMENT_ASSIGN_OR_RETURN(const Uuid id, Uuid::Random());
    CollectionEntry entry = StrayEntry(id, fmt::format("recovered-segment-{}", number));
    entry.metric = info.metric;
    entry.vector_element = info.vector_element;
    const std::string configuration =
        fmt::format(R"({{"hnsw":{{"space":"{}"}},"full_vectors":"{}"}})", MetricName(info.metric),
                    VectorElementName(info.vector_element));
    if (auto parsed = ParseConfiguration(configuration, nullptr, std::nullopt); parsed.ok())
      entry.configuration_json = std::move(parsed->json);
    entry.dimension = info.dimension;
    const uint64_t blocks = *opened.source->blocks();
    SegmentEntry segment{.segment = number,
                         .root = static_cast<uint32_t>(blocks - 1),
                         .file_bytes = blocks * kBlockBytes,
                         .rows = info.rows,
                         .deletions = deletions};
    if (deletions != 0) {
      const auto deleted =
          ReadDeletionsFile(*files_, fmt::format("{}/segments/{}.{}.del", from_, number, deletions),
                            {catalog_.store.bytes, number, deletions, info.rows});
      if (deleted.ok()) segment.deleted_rows = static_cast<uint32_t>(deleted->Count());
    }
    entry.segments.push_back(segment);
    // No batch of the log is known to be this collection's.
    entry.floor = log_.batches.empty() ? 0 : log_.batches.rbegin()->first;
    entry.next_ordinal = 1;
    for (uint32_t row = 0; row < info.rows; ++row) {
      const auto ordinal = opened.segment->ReadOrdinal(row);
      if (ordinal.ok()) entry.next_ordinal = std::max(entry.next_ordinal, *ordinal + 1);
    }
    report_.messages.push_back(
        fmt::format("segment {} belongs to no collection, now \"{}\"", number, entry.name));
    entries.push_back(std::move(entry));
    return Status::Ok();
  }

  // ---- Log and catalog

  // Positions stay: what is lost is an empty batch of no collection.
  Status WriteLog(const std::vector<CollectionEntry>& entries) {
    uint64_t last = log_.batches.empty() ? 0 : log_.batches.rbegin()->first;
    for (const CollectionEntry& entry : entries) last = std::max(last, entry.floor);
    const uint64_t after = LowestFloor(entries, last);
    std::string nothing(kUuidBytes, '\0');
    WriteBatch empty;
    empty.kind = WriteKind::kDelete;
    EncodeWriteBatch(empty, nothing);
    PIGMENT_ASSIGN_OR_RETURN(
        const std::unique_ptr<LogCopy> copy,
        LogCopy::Begin(target_.files(), target_.log(), catalog_.store.bytes, after));
    for (uint64_t position = after + 1; position <= last; ++position) {
      const auto found = log_.batches.find(position);
      const bool is_usable = found != log_.batches.end() && found->second.size() >= kUuidBytes &&
                             DecodeWriteBatch(AsBytes(found->second).subspan(kUuidBytes)).ok();
      ++(is_usable ? report_.log_batches : report_.log_batches_lost);
      PIGMENT_RETURN_IF_ERROR(copy->Add(AsBytes(is_usable ? found->second : nothing)));
    }
    if (report_.log_batches_lost > 0) {
      report_.messages.push_back(
          fmt::format("{} batches of the log are lost; those behind them were applied all the same",
                      report_.log_batches_lost));
    }
    report_.is_log_whole = log_.is_whole;
    report_.position = last;
    return copy->Finish();
  }

  Result<RepairReport> Publish(const std::vector<CollectionEntry>& entries) {
    for (const CollectionEntry& entry : entries) {
      PIGMENT_RETURN_IF_ERROR(catalog_.state.Apply(AsBytes(CatalogState::PutCollection(entry))));
    }
    if (next_segment_ > catalog_.state.next_segment()) {
      PIGMENT_RETURN_IF_ERROR(
          catalog_.state.Apply(AsBytes(CatalogState::ReserveSegments(next_segment_))));
    }
    PIGMENT_RETURN_IF_ERROR(target_.Finish(catalog_.store, catalog_.state.EncodeSnapshot()));
    return std::move(report_);
  }

  FileSystem* const files_;
  const std::string& from_;
  CopyTarget& target_;
  const CallControl& control_;
  RepairReport report_;
  SalvagedCatalog catalog_;
  SalvagedLog log_;
  uint32_t next_segment_ = 1;
  std::set<uint32_t> copied_;
  std::set<std::pair<uint32_t, uint64_t>> copied_deletions_;
  std::set<Uuid> recovered_;
  std::optional<ShelfWriter> shelf_;
  uint32_t shelf_number_ = 0;
};

}  // namespace

bool RepairReport::is_lossless() const {
  return catalog == CatalogState::kWhole && log_batches_lost == 0 && is_log_whole &&
         shelf_records_lost == 0 &&
         std::all_of(collections.begin(), collections.end(), [](const RepairedCollection& each) {
           return each.rows_lost == 0 && each.deletions_lost == 0;
         });
}

Result<RepairReport> RepairStore(const std::string& from, const std::string& to,
                                 const RepairOptions& options) {
  FileSystem* const files = options.from_files != nullptr ? options.from_files : DiskFiles();
  FileSystem* const to_files = options.to_files != nullptr ? options.to_files : DiskFiles();
  bool has_any = false;
  for (const char* name : {"/CATALOG", "/log", "/segments"}) {
    PIGMENT_ASSIGN_OR_RETURN(const bool exists, files->Exists(from + name));
    has_any = has_any || exists;
  }
  if (!has_any) return NotFound(fmt::format("store \"{}\" does not exist", from));
  PIGMENT_ASSIGN_OR_RETURN(const std::unique_ptr<CopyTarget> target,
                           CopyTarget::Begin(to_files, to));
  PIGMENT_ASSIGN_OR_RETURN(RepairReport report,
                           Repair(files, from, *target, options.control).Run());
  PIGMENT_ASSIGN_OR_RETURN(const CheckReport check,
                           CheckStore(to, {.files = to_files, .control = options.control}));
  for (const CheckFinding& finding : check.findings) {
    if (finding.severity != CheckSeverity::kError) continue;
    report.messages.push_back((finding.code == Code::kDataLoss
                                   ? "the new store is not whole: "
                                   : "the new store could not be checked: ") +
                              finding.message);
  }
  return report;
}

}  // namespace pigment
