// SPDX-License-Identifier: Apache-2.0
//
// What the handles of the database interface hold. A client, its collections and whatever else
// needs the open store share one ClientCore; the store closes with pigment_client_close, or when
// the last holder goes. Any thread.
//
//   pigment_client ──┐
//                    ├─> ClientCore ──> Store (shared by all opens of one directory)
//   pigment_collection ──> Collection, EmbeddingFunction

#pragma once

#include <sys/types.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "c_api/embedding.h"
#include "c_api/error.h"
#include "engine/collection/store.h"

namespace pigment::abi {

class ClientCore {
 public:
  static Result<std::shared_ptr<ClientCore>> Open(const std::optional<std::string>& path,
                                                  const StoreOptions& options);
  // Closes when nobody did. In a forked child it leaves everything alone: the threads and locks are
  // the parent's.
  ~ClientCore();
  ClientCore(const ClientCore&) = delete;
  ClientCore& operator=(const ClientCore&) = delete;

  // Ok, or kFailedPrecondition with kForked or kClosed.
  Status CheckUsable() const;
  bool forked() const;
  Status Close();

  Store& store() const { return *store_; }
  const Tracing& tracing() const { return tracing_; }

 private:
  ClientCore(std::shared_ptr<Store> store, const Tracing& tracing);

  std::shared_ptr<Store> store_;
  const Tracing tracing_;
  const pid_t opened_by_;
  std::atomic<bool> closed_{false};
  std::mutex close_mutex_;  // a second Close waits for the first
};

// Tenant and database of a call; text that a caller gave, copied.
Result<Scope> ReadScope(const pigment_scope* scope);

// The part [first, end) of a list of `size` that limit (below 0: none) and offset (below 0:
// refused) leave.
struct Page {
  size_t first = 0;
  size_t end = 0;
};
Result<Page> ReadPage(int64_t limit, int64_t offset, size_t size);

}  // namespace pigment::abi

struct pigment_client : pigment::abi::Handle<pigment::abi::HandleKind::kClient> {
  std::shared_ptr<pigment::abi::ClientCore> core;
};

struct pigment_collection : pigment::abi::Handle<pigment::abi::HandleKind::kCollection> {
  pigment_collection(std::shared_ptr<pigment::abi::ClientCore> client,
                     std::shared_ptr<pigment::Collection> opened,
                     std::shared_ptr<pigment::abi::EmbeddingFunction> embedding);
  ~pigment_collection();

  std::shared_ptr<pigment::abi::ClientCore> core;  // first: outlives the collection
  std::shared_ptr<pigment::Collection> collection;
  std::shared_ptr<pigment::abi::EmbeddingFunction> function;  // may be null
  pigment::Metric metric;                                     // fixed when the collection was made
};
