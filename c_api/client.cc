// SPDX-License-Identifier: Apache-2.0
//
// Opening and closing a store.

#include "c_api/client.h"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "c_api/call_options.h"
#include "engine/base/limits.h"
#include "engine/record/text.h"

namespace pigment::abi {

ClientCore::ClientCore(std::shared_ptr<Store> store, const Tracing& tracing)
    : store_(std::move(store)), tracing_(tracing), opened_by_(getpid()) {}

Result<std::shared_ptr<ClientCore>> ClientCore::Open(const std::optional<std::string>& path,
                                                     const StoreOptions& options) {
  PIGMENT_ASSIGN_OR_RETURN(std::shared_ptr<Store> store, Store::Open(path, options));
  return std::shared_ptr<ClientCore>(new ClientCore(std::move(store), options.tracing));
}

ClientCore::~ClientCore() {
  if (forked()) {
    // Destroying it would wait for threads that this process does not have.
    new (std::nothrow) std::shared_ptr<Store>(std::move(store_));
    return;
  }
  try {
    static_cast<void>(Close().ok());
  } catch (...) {
    // Nobody is left to hear of it; what was acknowledged is in the log.
  }
}

bool ClientCore::forked() const { return getpid() != opened_by_; }

Status ClientCore::CheckUsable() const {
  if (forked()) {
    return FailedPrecondition(Detail::kForked,
                              "client was opened by process " + std::to_string(opened_by_) +
                                  " and is used in its child " + std::to_string(getpid()))
        .WithHint("open a client of its own in the child");
  }
  if (closed_.load(std::memory_order_acquire))
    return FailedPrecondition(Detail::kClosed, "client is closed");
  return Status::Ok();
}

Status ClientCore::Close() {
  if (forked()) return CheckUsable();
  const std::lock_guard lock(close_mutex_);
  if (closed_.exchange(true, std::memory_order_acq_rel)) return Status::Ok();
  return store_->Close();
}

Result<Scope> ReadScope(const pigment_scope* scope) {
  PIGMENT_ASSIGN_OR_RETURN(const pigment_scope read, ReadOptionalStruct(scope, "scope"));
  PIGMENT_ASSIGN_OR_RETURN(const auto tenant,
                           ReadOptionalText(read.tenant, read.tenant_size, "scope.tenant"));
  PIGMENT_ASSIGN_OR_RETURN(const auto database,
                           ReadOptionalText(read.database, read.database_size, "scope.database"));
  Scope out;
  if (tenant && !tenant->empty()) out.tenant = std::string(*tenant);
  if (database && !database->empty()) out.database = std::string(*database);
  return out;
}

Result<Page> ReadPage(int64_t limit, int64_t offset, size_t size) {
  if (offset < 0)
    return InvalidArgument("offset must not be negative, got " + std::to_string(offset));
  Page page;
  page.first = static_cast<uint64_t>(offset) < size ? static_cast<size_t>(offset) : size;
  const size_t left = size - page.first;
  page.end = page.first +
             (limit < 0 || static_cast<uint64_t>(limit) > left ? left : static_cast<size_t>(limit));
  return page;
}

namespace {

constexpr int32_t kSpanKinds = PIGMENT_SPAN_QUERY | PIGMENT_SPAN_SEGMENT | PIGMENT_SPAN_JOB;
static_assert(PIGMENT_SPAN_QUERY == static_cast<int>(SpanKind::kQuery));
static_assert(PIGMENT_SPAN_SEGMENT == static_cast<int>(SpanKind::kSegment));
static_assert(PIGMENT_SPAN_JOB == static_cast<int>(SpanKind::kJob));

Result<Tracing> ReadTracing(const pigment_tracing* tracing) {
  PIGMENT_ASSIGN_OR_RETURN(const pigment_tracing read, ReadOptionalStruct(tracing, "tracing"));
  if ((read.kinds & ~kSpanKinds) != 0) {
    return InvalidArgument("argument tracing.kinds is " + std::to_string(read.kinds) +
                           ", which has unknown bits");
  }
  if (read.kinds == 0) return Tracing{};
  PIGMENT_RETURN_IF_ERROR(
      CheckNotNull({{reinterpret_cast<const void*>(read.begin), "tracing.begin"},
                    {reinterpret_cast<const void*>(read.end), "tracing.end"}}));
  return Tracing{
      .kinds = read.kinds, .begin = read.begin, .end = read.end, .user_data = read.user_data};
}

Result<StoreOptions> ReadOpenOptions(const pigment_open_options* options) {
  constexpr size_t kSizeOfAbi1 = offsetof(pigment_open_options, reserve_bytes);
  PIGMENT_ASSIGN_OR_RETURN(const pigment_open_options read,
                           ReadOptionalStruct(options, "options", kSizeOfAbi1));
  PIGMENT_RETURN_IF_ERROR(
      CheckEnum(read.sync_mode, PIGMENT_SYNC_FULL, PIGMENT_SYNC_OFF, "options.sync_mode"));
  StoreOptions out;
  out.sync_mode = static_cast<SyncMode>(read.sync_mode);
  if (read.sync_interval_ms != 0) out.sync_interval_ms = read.sync_interval_ms;
  out.memory_budget_bytes = read.memory_budget_bytes;
  if (read.flush_rows_max != 0) out.flush_rows_max = read.flush_rows_max;
  if (read.flush_bytes_max != 0) out.flush_bytes_max = read.flush_bytes_max;
  out.read_only = IsTrue(read.read_only);
  out.create = !IsTrue(read.must_exist) && !out.read_only;
  if (read.background_threads < -1 || read.background_threads > kBackgroundThreadsMax) {
    const std::string reason = "options.background_threads is " +
                               std::to_string(read.background_threads) + ", expected -1 to " +
                               std::to_string(kBackgroundThreadsMax);
    return read.background_threads < 0 ? InvalidArgument(reason)
                                       : BeyondLimit(limit::kBackgroundThreadsMax, reason);
  }
  if (read.background_threads != 0) {
    out.background_threads = static_cast<uint32_t>(std::max(read.background_threads, 0));
  }
  if (read.reserve_bytes != 0) {
    out.reserve_bytes = read.reserve_bytes == UINT64_MAX ? 0 : read.reserve_bytes;
  }
  out.erase_log = IsTrue(read.erase_log);
  out.map_files = IsTrue(read.map_files);
  return out;
}

Status CheckPath(const std::optional<std::string>& path, const StoreOptions& options) {
  if (!path) {
    if (options.create) return Status::Ok();
    return InvalidArgument(
        "a store in memory cannot be opened read_only or with must_exist: no path was given");
  }
  if (const size_t nul = path->find('\0'); nul != std::string::npos) {
    return InvalidArgument("argument path has a NUL at byte " + std::to_string(nul) + ": " +
                           Quoted(*path));
  }
  return Status::Ok();
}

static_assert(PIGMENT_SYNC_FULL == static_cast<int>(SyncMode::kFull));
static_assert(PIGMENT_SYNC_INTERVAL == static_cast<int>(SyncMode::kInterval));
static_assert(PIGMENT_SYNC_OFF == static_cast<int>(SyncMode::kOff));

}  // namespace
}  // namespace pigment::abi

using pigment::Status;
using pigment::abi::Call;
using pigment::abi::CheckHandle;
using pigment::abi::CheckNotNull;
using pigment::abi::ClientCore;

pigment_collection::pigment_collection(std::shared_ptr<ClientCore> client,
                                       std::shared_ptr<pigment::Collection> opened,
                                       std::shared_ptr<pigment::abi::EmbeddingFunction> embedding)
    : core(std::move(client)), collection(std::move(opened)), function(std::move(embedding)) {
  metric = collection->entry().metric;
  if (function) function->Adopt();
}

pigment_collection::~pigment_collection() {
  // As in ClientCore: in a forked child the engine's objects are left alone.
  if (core->forked())
    new (std::nothrow) std::shared_ptr<pigment::Collection>(std::move(collection));
}

void pigment_open_options_init(pigment_open_options* options) {
  if (options == nullptr) return;
  *options = pigment_open_options{};
  options->struct_size = sizeof *options;
}

pigment_status pigment_client_open(const char* path, size_t path_size,
                                   const pigment_open_options* options, pigment_client** client,
                                   pigment_error** error) {
  return pigment_client_open_traced(path, path_size, options, nullptr, client, error);
}

pigment_status pigment_client_open_traced(const char* path, size_t path_size,
                                          const pigment_open_options* options,
                                          const pigment_tracing* tracing, pigment_client** client,
                                          pigment_error** error) {
  return Call(
      error,
      [&] {
        if (client != nullptr) *client = nullptr;
      },
      [&]() -> Status {
        PIGMENT_RETURN_IF_ERROR(CheckNotNull({{client, "client"}}));
        PIGMENT_ASSIGN_OR_RETURN(const std::string_view bytes,
                                 pigment::abi::ReadBytes(path, path_size, "path"));
        PIGMENT_ASSIGN_OR_RETURN(pigment::StoreOptions read,
                                 pigment::abi::ReadOpenOptions(options));
        PIGMENT_ASSIGN_OR_RETURN(read.tracing, pigment::abi::ReadTracing(tracing));
        std::optional<std::string> directory;
        if (!bytes.empty()) directory = std::string(bytes);
        PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckPath(directory, read));
        auto made = std::make_unique<pigment_client>();
        PIGMENT_ASSIGN_OR_RETURN(made->core, ClientCore::Open(directory, read));
        *client = made.release();
        return Status::Ok();
      });
}

pigment_status pigment_client_close(pigment_client* client, pigment_error** error) {
  return Call(error, [&]() -> Status {
    PIGMENT_RETURN_IF_ERROR(CheckHandle(client, "client"));
    return client->core->Close();
  });
}

void pigment_client_free(pigment_client* client) {
  if (pigment::abi::IsHandle(client)) delete client;
}

pigment_status pigment_client_flush(pigment_client* client, pigment_error** error) {
  return pigment_client_flush_with(client, nullptr, error);
}

pigment_status pigment_client_flush_with(pigment_client* client,
                                         const pigment_call_options* options,
                                         pigment_error** error) {
  return Call(error, [&]() -> Status {
    PIGMENT_RETURN_IF_ERROR(CheckHandle(client, "client"));
    PIGMENT_ASSIGN_OR_RETURN(const auto context, pigment::abi::ReadCallOptions(options));
    PIGMENT_RETURN_IF_ERROR(client->core->CheckUsable());
    return client->core->store().Flush(context.control);
  });
}

pigment_status pigment_client_position(pigment_client* client, uint64_t* position,
                                       pigment_error** error) {
  return Call(
      error,
      [&] {
        if (position != nullptr) *position = 0;
      },
      [&]() -> Status {
        PIGMENT_RETURN_IF_ERROR(CheckHandle(client, "client"));
        PIGMENT_RETURN_IF_ERROR(CheckNotNull({{position, "position"}}));
        PIGMENT_RETURN_IF_ERROR(client->core->CheckUsable());
        *position = client->core->store().position();
        return Status::Ok();
      });
}

pigment_status pigment_client_refresh(pigment_client* client, uint64_t* position,
                                      pigment_error** error) {
  return Call(
      error,
      [&] {
        if (position != nullptr) *position = 0;
      },
      [&]() -> Status {
        PIGMENT_RETURN_IF_ERROR(CheckHandle(client, "client"));
        PIGMENT_RETURN_IF_ERROR(client->core->CheckUsable());
        PIGMENT_ASSIGN_OR_RETURN(const uint64_t reached, client->core->store().Refresh());
        if (position != nullptr) *position = reached;
        return Status::Ok();
      });
}
