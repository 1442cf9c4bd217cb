// SPDX-License-Identifier: Apache-2.0
//
// Where collections live, as copy and import-chroma see it: a directory, or a database of
// PostgreSQL that has the extension. A reader gives records page by page, a writer takes them; both
// name their collection by id, so that one that is renamed meanwhile stays the one, and another of
// its name is never touched. One thread; readers and writers live no longer than their home. Errors
// are Failures.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tools/batch.h"
#include "tools/json.h"
#include "tools/options.h"
#include "tools/session.h"

namespace pigment_tool {

class CollectionReader {
 public:
  virtual ~CollectionReader() = default;

  // As pigment_collection_describe prints it, with the embedding function's name in the library.
  virtual const nlohmann::json& described() const = 0;
  // How many records there are now, for a bar of progress.
  virtual uint64_t Count() = 0;
  // The next page is behind this cursor of an earlier reader; empty: it is the first.
  virtual void GoTo(const std::string& cursor) = 0;
  // False, and no records, behind the last page. In insertion order, with everything.
  virtual bool Next(std::vector<Record>& page) = 0;
  // Behind the page that Next gave; empty when it was the last.
  virtual const std::string& cursor() const = 0;
};

class CollectionWriter {
 public:
  virtual ~CollectionWriter() = default;

  // The id of the collection that has the place's name, which is open from then on; empty: none.
  virtual std::string Find() = 0;
  // Tenant and database of the place, where they are missing.
  virtual void MakeParents() = 0;
  // Makes a collection as `described` says and returns its id. One that is there is ALREADY_EXISTS,
  // unless `may_take` and it holds nothing: a run that was killed may have made it.
  virtual std::string Make(const nlohmann::json& described, bool may_take) = 0;
  // In this order; each id once. Records to update may lack a vector.
  virtual void Write(WriteMode mode, const std::vector<Record>& records, WriteCounts& counts) = 0;
  virtual bool Contains(const std::string& id) = 0;
  virtual void Delete(const std::string& id) = 0;
  virtual uint64_t Count() = 0;
};

class Home {
 public:
  virtual ~Home() = default;
  virtual std::unique_ptr<CollectionReader> Read(const Place& place, const Filters& filters) = 0;
  virtual std::unique_ptr<CollectionWriter> Write(const Place& place) = 0;
  // Everything that was written is durable when it returns; nothing may be called afterwards.
  virtual void Finish() = 0;
  // Where a job that writes here keeps how far it is.
  virtual std::string PathOfJob(const std::string& kind, const nlohmann::json& identity) const = 0;
  // What the identity of such a job says of the home beside what it writes; null: its path is
  // enough.
  virtual nlohmann::json identity() const = 0;
};

// "postgresql://..." and "postgres://..." are databases, all else is a directory.
bool IsPostgres(const std::string& name);

struct Homes {
  std::shared_ptr<Home> from;
  std::shared_ptr<Home> to;
};
// To read from one and write to the other, which is made where it is a directory that is missing.
// One object when both are the same directory, for no process may read beside its own writing.
Homes OpenHomes(const std::string& from, const std::string& to);
// To write, and made as there.
std::shared_ptr<Home> OpenHome(const std::string& to);

std::shared_ptr<Home> OpenPostgres(const std::string& uri);
// What a build without libpq has in its place. Throws.
[[noreturn]] void RefusePostgres();

}  // namespace pigment_tool
