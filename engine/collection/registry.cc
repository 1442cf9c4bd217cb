// SPDX-License-Identifier: Apache-2.0
//
// The open stores of this process: see the header.

#include "engine/collection/registry.h"

#include <fmt/format.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <compare>
#include <cstdlib>
#include <map>
#include <mutex>
#include <utility>

#include "engine/base/disk_files.h"
#include "engine/base/out_of_memory.h"

namespace pigment {

namespace {

struct StoreKey {
  pid_t process = 0;
  uint64_t device = 0;
  uint64_t inode = 0;
  FileSystem* files = nullptr;
  std::string path;  // empty on disk

  auto operator<=>(const StoreKey&) const = default;
};

}  // namespace

struct RegistrySlot {
  StoreKey key;
  std::mutex mutex;  // held while the engine opens or closes, so that others wait for the outcome
  std::shared_ptr<StoreEngine> engine;
  uint32_t opens = 0;
  bool is_retired = false;  // no longer in the registry: look again
};

namespace {

struct Registry {
  std::mutex mutex;  // guards the map; taken before no other lock
  std::map<StoreKey, std::shared_ptr<RegistrySlot>> slots;
};

// Never destroyed: stores may outlive the objects of static life.
Registry& TheRegistry() {
  static Registry* const registry = [] {
    auto* made = new Registry;
    // A child must not inherit the map's lock from a thread that it does not have.
    pthread_atfork([] { TheRegistry().mutex.lock(); }, [] { TheRegistry().mutex.unlock(); },
                   [] { TheRegistry().mutex.unlock(); });
    return made;
  }();
  return *registry;
}

Result<StoreKey> KeyOf(const std::string& path, const StoreOptions& options, FileSystem* files) {
  if (files) return StoreKey{.process = getpid(), .files = files, .path = path};
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) {
    if (errno != ENOENT) return ErrnoStatus(errno, "look at", path);
    if (options.read_only || !options.create)
      return NotFound(fmt::format("store \"{}\" does not exist", path));
    PIGMENT_RETURN_IF_ERROR(DiskFiles()->MakeDirectory(path));
    if (stat(path.c_str(), &status) != 0) return ErrnoStatus(errno, "look at", path);
  }
  if (!S_ISDIR(status.st_mode))
    return InvalidArgument(fmt::format("\"{}\" is not a directory", path));
  return StoreKey{.process = getpid(),
                  .device = status.st_dev,
                  .inode = status.st_ino,
                  .files = nullptr,
                  .path = {}};
}

Status CheckEqual(const std::string& path, const StoreOptions& open, const StoreOptions& asked) {
  const auto differ = [&path](std::string_view option, auto has, auto wants) {
    return FailedPrecondition(
        Detail::kNone,
        fmt::format("store \"{}\" is already open in this process with {} {}, got {}", path, option,
                    has, wants));
  };
  const auto mode = [](SyncMode mode) {
    return mode == SyncMode::kFull ? "full" : mode == SyncMode::kInterval ? "interval" : "off";
  };
  if (open.sync_mode != asked.sync_mode)
    return differ("sync_mode", mode(open.sync_mode), mode(asked.sync_mode));
  if (open.sync_interval_ms != asked.sync_interval_ms) {
    return differ("sync_interval_ms", open.sync_interval_ms, asked.sync_interval_ms);
  }
  if (open.memory_budget_bytes != asked.memory_budget_bytes) {
    return differ("memory_budget_bytes", open.memory_budget_bytes, asked.memory_budget_bytes);
  }
  if (open.map_files != asked.map_files)
    return differ("map_files", open.map_files, asked.map_files);
  if (open.tracing != asked.tracing) {
    const auto name = [](const Tracing& one) { return one.kinds == 0 ? "off" : "on"; };
    return differ("tracing", name(open.tracing),
                  open.tracing.kinds != 0 && asked.tracing.kinds != 0 ? "another table"
                                                                      : name(asked.tracing));
  }
  if (open.flush_rows_max != asked.flush_rows_max) {
    return differ("flush_rows_max", open.flush_rows_max, asked.flush_rows_max);
  }
  if (open.flush_bytes_max != asked.flush_bytes_max) {
    return differ("flush_bytes_max", open.flush_bytes_max, asked.flush_bytes_max);
  }
  if (open.index_rows_min != asked.index_rows_min)
    return differ("index_rows_min", open.index_rows_min, asked.index_rows_min);
  if (open.cluster_rows_min != asked.cluster_rows_min)
    return differ("cluster_rows_min", open.cluster_rows_min, asked.cluster_rows_min);
  if (open.log_file_bytes_max != asked.log_file_bytes_max) {
    return differ("log_file_bytes_max", open.log_file_bytes_max, asked.log_file_bytes_max);
  }
  if (open.background_threads != asked.background_threads)
    return differ("background_threads", open.background_threads, asked.background_threads);
  if (open.quiet_ms != asked.quiet_ms) return differ("quiet_ms", open.quiet_ms, asked.quiet_ms);
  if (open.reserve_bytes != asked.reserve_bytes)
    return differ("reserve_bytes", open.reserve_bytes, asked.reserve_bytes);
  if (open.erase_log != asked.erase_log)
    return differ("erase_log", open.erase_log, asked.erase_log);
  if (open.read_only != asked.read_only)
    return differ("read_only", open.read_only, asked.read_only);
  return Status::Ok();  // `create` says what to do with a directory that is missing; this one is
                        // there
}

// The host may change its working directory while the store is open.
Result<std::string> LastingPath(const std::string& path, FileSystem* files) {
  if (files || path.starts_with('/')) return path;
  char* const resolved = realpath(path.c_str(), nullptr);
  if (!resolved) return ErrnoStatus(errno, "resolve", path);
  std::string lasting(resolved);
  free(resolved);
  return lasting;
}

std::shared_ptr<RegistrySlot> SlotOf(const StoreKey& key) {
  Registry& registry = TheRegistry();
  std::lock_guard lock(registry.mutex);
  auto& slot = registry.slots[key];
  if (!slot) {
    slot = std::make_shared<RegistrySlot>();
    slot->key = key;
  }
  return slot;
}

// REQUIRES: the slot's mutex is held and its engine gone.
void Retire(RegistrySlot& slot) {
  slot.is_retired = true;
  Registry& registry = TheRegistry();
  std::lock_guard lock(registry.mutex);
  registry.slots.erase(slot.key);
}

}  // namespace

Result<RegisteredEngine> OpenRegistered(const std::string& path, const StoreOptions& options,
                                        FileSystem* files) {
  for (;;) {
    PIGMENT_ASSIGN_OR_RETURN(const StoreKey key, KeyOf(path, options, files));
    const std::shared_ptr<RegistrySlot> slot = SlotOf(key);
    std::lock_guard lock(slot->mutex);
    if (slot->is_retired) continue;
    if (slot->opens > 0) {
      PIGMENT_RETURN_IF_ERROR(CheckEqual(path, slot->engine->options(), options));
    } else {
      // Borrowed file systems outlive their stores; the disk lives for ever.
      std::shared_ptr<FileSystem> borrowed(files ? files : DiskFiles(), [](FileSystem*) {});
      PIGMENT_ASSIGN_OR_RETURN(const std::string directory, LastingPath(path, files));
      auto engine = StoreEngine::Open(std::move(borrowed), directory, options,
                                      options.read_only ? "" : DescribeThisProcess());
      if (!engine.ok()) {
        Retire(*slot);
        return engine.status();
      }
      slot->engine = *std::move(engine);
    }
    ++slot->opens;
    return RegisteredEngine{slot->engine, slot};
  }
}

Status CloseRegistered(const RegisteredEngine& registered) {
  if (!registered.slot) return registered.engine->Close();
  std::lock_guard lock(registered.slot->mutex);
  if (--registered.slot->opens > 0) return registered.engine->Sync();
  const Status status = CatchOutOfMemory([&] { return registered.engine->Close(); });
  registered.slot->engine.reset();
  Retire(*registered.slot);
  return status;
}

}  // namespace pigment
