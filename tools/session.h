// SPDX-License-Identifier: Apache-2.0
//
// What the subcommands share: owners of the library's handles, errors as exceptions of this program
// (main() turns them into an exit status), and the two forms of output. One thread. Public header
// only.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "pigment/pigment.h"

namespace pigment_tool {

// Exit statuses, as docs/operations.md lists them.
inline constexpr int kFine = 0;
inline constexpr int kFound = 1;   // it ran, and what it found is not well
inline constexpr int kUsage = 2;   // the command line
inline constexpr int kFailed = 3;  // it could not run to its end

struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

template <typename T, void (*kFree)(T*)>
struct Freer {
  void operator()(T* object) const { kFree(object); }
};
using Client = std::unique_ptr<pigment_client, Freer<pigment_client, pigment_client_free>>;
using Collection =
    std::unique_ptr<pigment_collection, Freer<pigment_collection, pigment_collection_free>>;

// Throws Failure with message and hint when `status` is one; frees `error`, which is looked at after
// the call that `status` comes from.
void Check(pigment_status status, pigment_error* const& error);

// The text of a buffer, which is freed.
std::string TakeText(pigment_buffer* buffer);
nlohmann::json TakeJson(pigment_buffer* buffer);

// A store that must be there. Reading works beside a writer.
Client OpenToRead(const std::string& directory);
Client OpenToWrite(const std::string& directory);
void Close(pigment_client* client);  // with the error that freeing would lose

// Which collections a command is about: all, or those of one name.
struct Selection {
  std::string collection;  // empty: all
  std::string tenant;      // empty: all, or the default one when a name is given
  std::string database;
};
struct Place {
  std::string tenant;
  std::string database;
  std::string name;
};
// Nothing of that name: throws.
void ForEachCollection(pigment_client* client, const Selection& selection,
                       const std::function<void(const Place&, pigment_collection*)>& visit);

// Rows under headings, columns aligned; numbers to the right.
class Table {
 public:
  explicit Table(std::vector<std::string> headings);
  void Add(const std::vector<nlohmann::json>& row);
  void Print() const;

 private:
  std::vector<std::vector<std::string>> rows_;
  std::vector<bool> is_number_;
};

std::string PrintBytes(uint64_t bytes);  // "12.3 MiB"
void PrintJson(const nlohmann::json& json);

}  // namespace pigment_tool
