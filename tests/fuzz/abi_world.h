// SPDX-License-Identifier: Apache-2.0
//
// The objects that a sequence of calls has made so far, and how each call is checked: a failure has
// an error that says something and nulls its outputs, a success has none. One thread.

#pragma once

#include <unistd.h>

#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "pigment/pigment_host.h"
#include "tests/fuzz/abi_input.h"

namespace abi_fuzz {

// A folder for stores on disk, emptied between inputs and removed at exit.
class Scratch {
 public:
  Scratch()
      : path_((std::filesystem::temp_directory_path() /
               ("pigment-abi-fuzz." + std::to_string(getpid())))
                  .string()) {
    std::filesystem::create_directories(path_);
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  void Empty() {
    if (!used_) return;
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
    std::filesystem::create_directories(path_);
    used_ = false;
  }
  std::string Path(const std::string& name) {
    used_ = true;
    return path_ + "/" + name;
  }

 private:
  std::string path_;
  bool used_ = false;
};

inline Scratch& TheScratch() {
  static Scratch scratch;
  return scratch;
}

// Pages of a host: what builders wrote, at the place they were told.
struct PageFile {
  std::vector<std::unique_ptr<char[]>> pages;
  unsigned fail_after = 0;  // calls until a callback fails; 0: never
  bool Fails() { return fail_after != 0 && --fail_after == 0; }
};

struct BuiltSegment {
  PageFile* file;
  uint32_t root;
  uint32_t id;
};

struct World {
  World() = default;
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  ~World() {
    for (auto* one : searches) pigment_host_search_free(one);
    for (auto* one : text_queries) pigment_text_query_free(one);
    for (auto* one : text_analyzers) pigment_text_analyzer_free(one);
    for (auto* one : pending_caches) pigment_pending_cache_free(one);
    for (auto* one : segments) pigment_segment_free(one);
    for (auto* one : builders) pigment_segment_builder_free(one);
    for (auto* one : filters) pigment_filter_free(one);
    for (auto* one : results) pigment_result_free(one);
    for (auto* one : buffers) pigment_buffer_free(one);
    // Clients before their collections: the parent may go first.
    for (auto* one : clients) pigment_client_free(one);
    for (auto* one : collections) pigment_collection_free(one);
    for (auto* one : cancels) pigment_cancel_free(one);
    for (auto* one : errors) pigment_error_free(one);
  }

  std::vector<pigment_client*> clients;
  std::vector<pigment_collection*> collections;
  std::vector<pigment_result*> results;
  std::vector<pigment_buffer*> buffers;
  std::vector<pigment_cancel*> cancels;
  std::vector<pigment_error*> errors;
  std::vector<pigment_filter*> filters;
  std::vector<pigment_segment_builder*> builders;
  std::vector<pigment_segment*> segments;
  std::vector<pigment_host_search*> searches;
  std::vector<pigment_pending_cache*> pending_caches;
  std::vector<pigment_text_analyzer*> text_analyzers;
  std::vector<pigment_text_query*> text_queries;
  std::deque<PageFile> files;
  std::vector<BuiltSegment> built;
  std::map<pigment_segment_builder*, PageFile*> builder_files;
  std::map<pigment_segment_builder*, uint32_t> builder_ids;
  std::map<pigment_segment_builder*, size_t> builder_dimensions;
  std::map<pigment_segment*, uint64_t> segment_rows;
  std::map<pigment_pending_cache*, PageFile*> pending_files;
};

// One of the live objects, null, or (readable memory of) something else.
template <typename T>
T* Choose(const std::vector<T*>& live, Input& input) {
  static const uint64_t not_a_handle[32] = {0x1234};
  if (live.empty() || input.OneIn(24)) {
    return input.OneIn(6) ? reinterpret_cast<T*>(const_cast<uint64_t*>(not_a_handle)) : nullptr;
  }
  return live[input.Below(live.size())];
}

// Takes a live object out, to be freed; null when there is none.
template <typename T>
T* Remove(std::vector<T*>& live, Input& input) {
  if (live.empty() || input.OneIn(16)) return nullptr;
  const size_t at = input.Below(live.size());
  T* object = live[at];
  live.erase(live.begin() + static_cast<ptrdiff_t>(at));
  return object;
}

// Where a call puts its error: sometimes nowhere.
class ErrorSlot {
 public:
  ErrorSlot(World& world, Input& input) : world_(world), wanted_(!input.OneIn(8)) {}

  pigment_error** out() { return wanted_ ? &error_ : nullptr; }

  // Checks status against error; keeps the error for the accessors.
  bool Ok(pigment_status status) {
    if (!wanted_) return status == PIGMENT_OK;
    Require((status == PIGMENT_OK) == (error_ == nullptr),
            "a failure has an error, a success has none");
    if (error_ == nullptr) return true;
    Require(pigment_error_status(error_) == status, "status and error agree");
    Require(pigment_error_message(error_)[0] != '\0', "an error says something");
    Require(status != PIGMENT_INTERNAL, pigment_error_message(error_));  // no argument makes one
    world_.errors.push_back(error_);
    if (world_.errors.size() > 16) {
      pigment_error_free(world_.errors.front());
      world_.errors.erase(world_.errors.begin());
    }
    error_ = nullptr;
    return false;
  }

 private:
  World& world_;
  bool wanted_;
  pigment_error* error_ = nullptr;
};

// The object that a call made: kept on success, null after failure.
template <typename T>
void KeepMade(std::vector<T*>& live, T* made, bool ok) {
  Require(ok || made == nullptr, "a failure nulls its output");
  if (made != nullptr) live.push_back(made);
}

// Sometimes null instead.
template <typename T>
const T* Maybe(const T& value, Arguments& a) {
  return a.input().OneIn(32) ? nullptr : &value;
}
template <typename T>
T* MaybeOut(T& value, Arguments& a) {
  return a.input().OneIn(24) ? nullptr : &value;
}

struct Entry {
  const char* name;
  void (*run)(World&, Arguments&);
  uint64_t calls = 0;
};

// A handle of the host interface: null or live.
template <typename T>
T* LiveOrNull(const std::vector<T*>& live, Input& input) {
  return live.empty() || input.OneIn(24) ? nullptr : live[input.Below(live.size())];
}

}  // namespace abi_fuzz
