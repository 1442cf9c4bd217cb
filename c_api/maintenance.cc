// SPDX-License-Identifier: Apache-2.0
//
// What an administrator asks of a store: backup, check, repair, compaction, segments, statistics;
// and which ids are there.

#include <string>
#include <vector>

#include "c_api/call_options.h"
#include "c_api/client.h"
#include "c_api/columns.h"
#include "c_api/read.h"
#include "c_api/report_json.h"
#include "engine/collection/contains.h"

namespace pigment::abi {
namespace {

Result<std::string> ReadPath(const char* path, size_t size, std::string_view argument) {
  PIGMENT_ASSIGN_OR_RETURN(const std::string_view bytes, ReadBytes(path, size, argument));
  if (bytes.empty()) return InvalidArgument("argument " + std::string(argument) + " is empty");
  if (const size_t nul = bytes.find('\0'); nul != std::string_view::npos) {
    return InvalidArgument("argument " + std::string(argument) + " has a NUL at byte " +
                           std::to_string(nul));
  }
  return std::string(bytes);
}

// Null is allowed: the caller wants the work and not the numbers.
Status CheckResult(const pigment_compaction* result) {
  return result == nullptr ? Status::Ok() : ReadStruct(result, "result").status();
}

void Store(const CompactionResult& from, pigment_compaction* to) {
  if (to == nullptr) return;
  WriteStruct({.struct_size = sizeof(pigment_compaction),
               .records = from.records,
               .segments_in = from.segments_in,
               .segments_out = from.segments_out,
               .bytes_before = from.bytes_before,
               .bytes_after = from.bytes_after},
              to);
}

// Outputs of a caller's struct are cleared only where it is one.
void Clear(pigment_compaction* result) {
  if (CheckResult(result).ok()) Store({}, result);
}

}  // namespace
}  // namespace pigment::abi

using pigment::Status;
using pigment::abi::Call;
using pigment::abi::CheckHandle;
using pigment::abi::CheckNotNull;
using pigment::abi::ClearBuffer;
using pigment::abi::NewBuffer;
using pigment::abi::ReadCallOptions;
using pigment::abi::ReadPath;

pigment_status pigment_client_compact(pigment_client* client, const pigment_call_options* options,
                                      pigment_compaction* result, pigment_error** error) {
  return Call(
      error, [&] { pigment::abi::Clear(result); },
      [&]() -> Status {
        PIGMENT_RETURN_IF_ERROR(CheckHandle(client, "client"));
        PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckResult(result));
        PIGMENT_ASSIGN_OR_RETURN(const auto context, ReadCallOptions(options));
        PIGMENT_RETURN_IF_ERROR(client->core->CheckUsable());
        PIGMENT_ASSIGN_OR_RETURN(const pigment::CompactionResult done,
                                 client->core->store().Compact(context.control));
        pigment::abi::Store(done, result);
        return Status::Ok();
      });
}

pigment_status pigment_collection_compact(pigment_collection* collection,
                                          const pigment_call_options* options,
                                          pigment_compaction* result, pigment_error** error) {
  return Call(
      error, [&] { pigment::abi::Clear(result); },
      [&]() -> Status {
        PIGMENT_RETURN_IF_ERROR(CheckHandle(collection, "collection"));
        PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckResult(result));
        PIGMENT_ASSIGN_OR_RETURN(const auto context, ReadCallOptions(options));
        PIGMENT_RETURN_IF_ERROR(collection->core->CheckUsable());
        PIGMENT_ASSIGN_OR_RETURN(const pigment::CompactionResult done,
                                 collection->collection->Compact(context.control));
        pigment::abi::Store(done, result);
        return Status::Ok();
      });
}

pigment_status pigment_collection_segments(pigment_collection* collection, pigment_buffer** json,
                                           pigment_error** error) {
  return Call(
      error, [&] { ClearBuffer(json); },
      [&]() -> Status {
        PIGMENT_RETURN_IF_ERROR(CheckHandle(collection, "collection"));
        PIGMENT_RETURN_IF_ERROR(CheckNotNull({{json, "json"}}));
        PIGMENT_RETURN_IF_ERROR(collection->core->CheckUsable());
        PIGMENT_ASSIGN_OR_RETURN(const auto segments, collection->collection->Segments());
        *json = NewBuffer(pigment::abi::DescribeSegments(segments));
        return Status::Ok();
      });
}

pigment_status pigment_client_statistics(pigment_client* client, pigment_buffer** json,
                                         pigment_error** error) {
  return Call(
      error, [&] { ClearBuffer(json); },
      [&]() -> Status {
        PIGMENT_RETURN_IF_ERROR(CheckHandle(client, "client"));
        PIGMENT_RETURN_IF_ERROR(CheckNotNull({{json, "json"}}));
        PIGMENT_RETURN_IF_ERROR(client->core->CheckUsable());
        PIGMENT_ASSIGN_OR_RETURN(const auto condition, client->core->store().Condition());
        PIGMENT_ASSIGN_OR_RETURN(const auto statistics, client->core->store().loading());
        PIGMENT_ASSIGN_OR_RETURN(const auto maintenance, client->core->store().maintenance());
        *json = NewBuffer(pigment::abi::DescribeStatistics(condition, statistics, maintenance));
        return Status::Ok();
      });
}

pigment_status pigment_client_backup(pigment_client* client, const char* path, size_t path_size,
                                     const pigment_call_options* options, pigment_buffer** json,
                                     pigment_error** error) {
  return Call(
      error, [&] { ClearBuffer(json); },
      [&]() -> Status {
        PIGMENT_RETURN_IF_ERROR(CheckHandle(client, "client"));
        PIGMENT_ASSIGN_OR_RETURN(const auto context, ReadCallOptions(options));
        PIGMENT_ASSIGN_OR_RETURN(const std::string target, ReadPath(path, path_size, "path"));
        PIGMENT_RETURN_IF_ERROR(client->core->CheckUsable());
        pigment::BackupOptions backup;
        backup.control = context.control;
        PIGMENT_ASSIGN_OR_RETURN(const auto summary, client->core->store().Backup(target, backup));
        if (json != nullptr) *json = NewBuffer(pigment::abi::DescribeBackup(summary));
        return Status::Ok();
      });
}

pigment_status pigment_client_check(pigment_client* client, bool full,
                                    const pigment_call_options* options, pigment_buffer** json,
                                    pigment_error** error) {
  return Call(
      error, [&] { ClearBuffer(json); },
      [&]() -> Status {
        PIGMENT_RETURN_IF_ERROR(CheckHandle(client, "client"));
        PIGMENT_RETURN_IF_ERROR(CheckNotNull({{json, "json"}}));
        PIGMENT_ASSIGN_OR_RETURN(const auto context, ReadCallOptions(options));
        PIGMENT_RETURN_IF_ERROR(client->core->CheckUsable());
        PIGMENT_ASSIGN_OR_RETURN(const auto report,
                                 client->core->store().Check({.files = nullptr,
                                                              .full = pigment::abi::IsTrue(full),
                                                              .control = context.control}));
        *json = NewBuffer(pigment::abi::DescribeCheck(report));
        return Status::Ok();
      });
}

pigment_status pigment_check(const char* path, size_t path_size, bool full,
                             const pigment_call_options* options, pigment_buffer** json,
                             pigment_error** error) {
  return Call(
      error, [&] { ClearBuffer(json); },
      [&]() -> Status {
        PIGMENT_RETURN_IF_ERROR(CheckNotNull({{json, "json"}}));
        PIGMENT_ASSIGN_OR_RETURN(const auto context, ReadCallOptions(options));
        PIGMENT_ASSIGN_OR_RETURN(const std::string directory, ReadPath(path, path_size, "path"));
        PIGMENT_ASSIGN_OR_RETURN(const auto report,
                                 pigment::CheckStore(directory, {.files = nullptr,
                                                                 .full = pigment::abi::IsTrue(full),
                                                                 .control = context.control}));
        *json = NewBuffer(pigment::abi::DescribeCheck(report));
        return Status::Ok();
      });
}

pigment_status pigment_repair(const char* from, size_t from_size, const char* to, size_t to_size,
                              const pigment_call_options* options, pigment_buffer** json,
                              pigment_error** error) {
  return Call(
      error, [&] { ClearBuffer(json); },
      [&]() -> Status {
        PIGMENT_RETURN_IF_ERROR(CheckNotNull({{json, "json"}}));
        PIGMENT_ASSIGN_OR_RETURN(const auto context, ReadCallOptions(options));
        PIGMENT_ASSIGN_OR_RETURN(const std::string source, ReadPath(from, from_size, "from"));
        PIGMENT_ASSIGN_OR_RETURN(const std::string target, ReadPath(to, to_size, "to"));
        pigment::RepairOptions repair;
        repair.control = context.control;
        PIGMENT_ASSIGN_OR_RETURN(const auto report, pigment::RepairStore(source, target, repair));
        *json = NewBuffer(pigment::abi::DescribeRepair(report));
        return Status::Ok();
      });
}

pigment_status pigment_collection_contains(pigment_collection* collection, size_t count,
                                           const pigment_text_column* ids,
                                           const pigment_call_options* options, uint8_t* present,
                                           pigment_error** error) {
  return Call(error, [&]() -> Status {
    PIGMENT_RETURN_IF_ERROR(CheckHandle(collection, "collection"));
    PIGMENT_RETURN_IF_ERROR(CheckNotNull({{ids, "ids"}, {present, "present"}}));
    PIGMENT_ASSIGN_OR_RETURN(const auto context, ReadCallOptions(options));
    PIGMENT_ASSIGN_OR_RETURN(const auto pinned,
                             pigment::abi::PinCollection(*collection, context.min_position));
    PIGMENT_ASSIGN_OR_RETURN(
        const pigment::abi::TextColumnView view,
        pigment::abi::ReadTextColumn(*ids, count, "ids", pigment::abi::TextKind::kUtf8, true));
    if (!view.given()) return Status::Ok();
    PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckAllPresent(view, "ids"));
    std::vector<std::string_view> texts;
    texts.reserve(count);
    for (size_t i = 0; i < count; ++i) texts.push_back(view[i]);
    PIGMENT_ASSIGN_OR_RETURN(const std::vector<bool> found,
                             pigment::ContainsIds(*pinned.version, texts, context.control));
    for (size_t i = 0; i < count; ++i) present[i] = found[i] ? 1 : 0;
    return Status::Ok();
  });
}
