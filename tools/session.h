// SPDX-License-Identifier: Apache-2.0
//
// What the subcommands share: owners of the library's handles, errors as exceptions of this program
// (main() turns them into an exit status), stores and collections. One thread. Public header only.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "pigment/pigment.h"
#include "tools/json.h"

namespace pigment_tool {

// Exit statuses, as docs/operations.md lists them. From 3 on they are the codes of pigment_status.
inline constexpr int kFine = 0;
inline constexpr int kFound = 1;          // it ran, and what it found is not well
inline constexpr int kUsage = 2;          // the command line
inline constexpr int kInterrupted = 130;  // as shells say of SIGINT

// `status` is never PIGMENT_OK.
struct Failure : std::runtime_error {
  Failure(pigment_status status, const std::string& message)
      : std::runtime_error(message), status(status) {}
  pigment_status status;
};
int ExitStatusOf(pigment_status status);

template <typename T, void (*kFree)(T*)>
struct Freer {
  void operator()(T* object) const { kFree(object); }
};
using Client = std::unique_ptr<pigment_client, Freer<pigment_client, pigment_client_free>>;
using Collection =
    std::unique_ptr<pigment_collection, Freer<pigment_collection, pigment_collection_free>>;
using ResultHandle = std::unique_ptr<pigment_result, Freer<pigment_result, pigment_result_free>>;

// Throws Failure with message and hint when `status` is one; frees `error`, which is looked at
// after the call that `status` comes from.
void Check(pigment_status status, pigment_error* const& error);

// The text of a buffer, which is freed.
std::string TakeText(pigment_buffer* buffer);
nlohmann::json TakeJson(pigment_buffer* buffer);

// A store that must be there. Reading works beside a writer.
Client OpenToRead(const std::string& directory);
Client OpenToWrite(const std::string& directory);
Client OpenOrMake(const std::string& directory);  // to write; made where there is none
void Close(pigment_client* client);               // with the error that freeing would lose

// From here on SIGINT and SIGTERM end calls that are given CallOptions(), and loops that look. A
// second one ends the program as ever, or does nothing more where something must be put right.
enum class Repeated { kEndsAll, kIgnored };
void CatchInterrupts(Repeated repeated = Repeated::kEndsAll);
bool IsInterrupted();
pigment_call_options CallOptions();

// Which collections a command is about: all, or those of one name.
struct Selection {
  std::string collection;  // empty: all
  std::string tenant;      // empty: all, or the default one when a name is given
  std::string database;
};
struct Place {
  std::string tenant;  // empty: the default one
  std::string database;
  std::string name;
};
pigment_scope ScopeOf(const Place& place);  // borrows from `place`
// Nothing of that name: throws.
void ForEachCollection(pigment_client* client, const Selection& selection,
                       const std::function<void(const Place&, pigment_collection*)>& visit);

// With the built-in embedding function where the collection has it, so that texts can be given.
Collection OpenCollection(pigment_client* client, const Place& place);
nlohmann::json Describe(pigment_collection* collection);
uint64_t CountOf(pigment_collection* collection);
// "hnsw cosine": what a description says of the index, wherever the configuration says it.
std::string IndexOf(const nlohmann::json& described);
// From here on a client that only reads sees what was written until now.
void Refresh(pigment_client* client);

// An embedding function that a catalog stored: its name and configuration are kept, and a text for
// it is an error, for nothing here knows how to compute it. The built-in one works. `stored` is
// {"name","config"}.
class StoredFunction {
 public:
  StoredFunction(const nlohmann::json& stored, size_t dimension);
  StoredFunction(const StoredFunction&) = delete;
  StoredFunction& operator=(const StoredFunction&) = delete;
  const pigment_embedding_function* get() const { return &function_; }

 private:
  std::string name_;
  std::string config_;
  pigment_embedding_function function_{};
};

}  // namespace pigment_tool
