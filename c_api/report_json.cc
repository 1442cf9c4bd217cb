// SPDX-License-Identifier: Apache-2.0
//
// Printing reports: see the header.

#include "c_api/report_json.h"

#include <string_view>

#include "c_api/json_text.h"
#include "engine/record/text.h"
#include "pigment/pigment.h"

namespace pigment::abi {
namespace {

// One JSON object, member by member.
class ObjectWriter {
 public:
  ObjectWriter& Add(std::string_view name, uint64_t value) {
    return AddRaw(name, std::to_string(value));
  }
  ObjectWriter& AddSigned(std::string_view name, int64_t value) {
    return AddRaw(name, std::to_string(value));
  }
  ObjectWriter& AddFlag(std::string_view name, bool value) {
    return AddRaw(name, value ? "true" : "false");
  }
  ObjectWriter& AddText(std::string_view name, std::string_view value) {
    return AddRaw(name, QuoteJson(value));
  }
  ObjectWriter& AddRaw(std::string_view name, std::string_view json) {
    text_ += (text_.empty() ? "{" : ",") + QuoteJson(name) + ":";
    text_ += json;
    return *this;
  }
  std::string Take() { return (text_.empty() ? "{" : std::move(text_)) + "}"; }

 private:
  std::string text_;
};

template <typename T, typename Describe>
std::string ArrayOf(const std::vector<T>& items, const Describe& describe) {
  std::string json = "[";
  for (const T& item : items) json += (json.size() > 1 ? "," : "") + describe(item);
  return json + "]";
}

std::string DescribeFinding(const CheckFinding& finding) {
  const CodeInfo* const code = FindCodeInfo(static_cast<int32_t>(finding.code));
  return ObjectWriter()
      .AddText("severity", CheckSeverityName(finding.severity))
      .AddText("code", code != nullptr ? code->name : "UNKNOWN")
      .AddSigned("detail", static_cast<int32_t>(finding.detail))
      .AddText("collection", finding.collection)
      .AddText("file", finding.file)
      .AddSigned("offset", finding.offset)
      .AddText("message", finding.message)
      .Take();
}

std::string DescribeLog(const LogStatistics& log) {
  const char* const mode = log.sync_mode == SyncMode::kFull       ? "full"
                           : log.sync_mode == SyncMode::kInterval ? "interval"
                                                                  : "off";
  return ObjectWriter()
      .AddText("sync_mode", mode)
      .Add("position", log.position)
      .Add("synced_position", log.synced_position)
      .Add("files", log.files)
      .Add("bytes", log.bytes)
      .Add("allocated_bytes", log.allocated_bytes)
      .Add("batches", log.batches)
      .Add("refused_batches", log.refused_batches)
      .Add("groups", log.groups)
      .Add("syncs", log.syncs)
      .AddSigned("sync_ns", log.sync_ns)
      .Add("waiting_calls", log.waiting_calls)
      .Add("purges", log.purges)
      .Add("purged_files", log.purged_files)
      .Add("erased_bytes", log.erased_bytes)
      .AddText("poison", log.poison.message())
      .Take();
}

std::string DescribeMaintenance(const MaintenanceStatistics& maintenance) {
  return ObjectWriter()
      .Add("merges", maintenance.merges)
      .Add("failures", maintenance.failures)
      .Add("rows", maintenance.rows)
      .Add("bytes", maintenance.bytes)
      .Add("running", maintenance.running)
      .Add("queued", maintenance.queued)
      .Add("waiting_writers", maintenance.waiting_writers)
      .Add("writer_waits", maintenance.writer_waits)
      .AddText("last_error", maintenance.last_error.message())
      .Take();
}

}  // namespace

std::string DescribeBackup(const BackupSummary& summary) {
  return ObjectWriter()
      .Add("position", summary.position)
      .Add("collections", summary.collections)
      .Add("files", summary.files)
      .Add("bytes", summary.bytes)
      .Take();
}

std::string DescribeCheck(const CheckReport& report) {
  const CheckTotals& totals = report.totals;
  return ObjectWriter()
      .AddFlag("clean", report.is_clean())
      .Add("position", report.position)
      .Add("errors", report.errors)
      .Add("warnings", report.warnings)
      .AddRaw("findings", ArrayOf(report.findings, DescribeFinding))
      .Add("findings_left_out", report.findings_left_out)
      .AddRaw("totals", ObjectWriter()
                            .Add("collections", totals.collections)
                            .Add("files", totals.files)
                            .Add("bytes", totals.bytes)
                            .Add("segments", totals.segments)
                            .Add("rows", totals.rows)
                            .Add("live_rows", totals.live_rows)
                            .Add("log_batches", totals.log_batches)
                            .Add("rows_queried", totals.rows_queried)
                            .Take())
      .Take();
}

std::string DescribeRepair(const RepairReport& report) {
  const auto collection = [](const RepairedCollection& each) {
    return ObjectWriter()
        .AddText("name", each.name)
        .AddFlag("recovered", each.is_recovered)
        .Add("rows", each.rows)
        .Add("rows_lost", each.rows_lost)
        .Add("deletions_lost", each.deletions_lost)
        .Add("segments_rewritten", each.segments_rewritten)
        .Take();
  };
  const char* const catalog =
      report.catalog == RepairReport::CatalogState::kWhole     ? "whole"
      : report.catalog == RepairReport::CatalogState::kDamaged ? "damaged"
                                                               : "lost";
  return ObjectWriter()
      .AddFlag("lossless", report.is_lossless())
      .AddText("catalog", catalog)
      .Add("position", report.position)
      .Add("log_batches", report.log_batches)
      .Add("log_batches_lost", report.log_batches_lost)
      .AddFlag("log_whole", report.is_log_whole)
      .Add("shelf_records_lost", report.shelf_records_lost)
      .AddRaw("collections", ArrayOf(report.collections, collection))
      .AddRaw("messages", ArrayOf(report.messages,
                                  [](const std::string& text) { return QuoteJson(text); }))
      .Take();
}

std::string DescribeSegments(const std::vector<SegmentDescription>& segments) {
  return ArrayOf(segments, [](const SegmentDescription& segment) {
    return ObjectWriter()
        .Add("segment", segment.number)
        .AddText("kind", segment.kind)
        .Add("rows", segment.rows)
        .Add("live_rows", segment.live_rows)
        .Add("bytes", segment.bytes)
        .Add("deletions_bytes", segment.deletions_bytes)
        .Add("dimension", segment.dimension)
        .AddFlag("codes", segment.has_codes)
        .AddFlag("shared", segment.is_shared)
        .Take();
  });
}

std::string DescribeStatistics(const StoreCondition& condition, const LoadingStatistics& statistics,
                               const MaintenanceStatistics& maintenance) {
  const FormatVersions& formats = condition.formats;
  const auto migration = [](const Catalog::Migration& each) {
    return ObjectWriter()
        .Add("number", each.number)
        .AddText("name", each.name)
        .AddText("version", each.version)
        .Take();
  };
  return ObjectWriter()
      .AddText("version", pigment_version())
      .AddFlag("read_only", condition.is_read_only)
      .Add("position", condition.position)
      .AddRaw("log", condition.log ? DescribeLog(*condition.log) : "null")
      .AddRaw("catalog", ObjectWriter()
                             .Add("collections", condition.catalog.collections)
                             .Add("bytes", condition.catalog.bytes)
                             .Add("loaded_collections", statistics.loaded_collections)
                             .Add("shelved_collections", statistics.shelved_collections)
                             .Add("shelved_bytes", statistics.shelved_bytes)
                             .Add("waiting_batches", statistics.waiting_batches)
                             .Take())
      .AddRaw("memory", ObjectWriter()
                            .Add("used_bytes", condition.memory_used_bytes)
                            .Add("limit_bytes", condition.memory_limit_bytes)
                            .Add("tail_bytes", condition.tail_bytes)
                            .Take())
      .AddRaw("maintenance", DescribeMaintenance(maintenance))
      .AddRaw("formats", ObjectWriter()
                             .Add("log", formats.log)
                             .Add("catalog", formats.catalog)
                             .Add("block", formats.block)
                             .Add("segment", formats.segment)
                             .Add("deletions", formats.deletions)
                             .Take())
      .AddRaw("migrations", ArrayOf(condition.migrations, migration))
      .Take();
}

}  // namespace pigment::abi
