// SPDX-License-Identifier: Apache-2.0
//
// CatalogHarness: a catalog in a simulated file system, and entries to put into it.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/base/bytes.h"
#include "engine/base/memory_files.h"
#include "engine/catalog/catalog.h"
#include "engine/catalog/catalog_state.h"
#include "tests/support/status_matchers.h"

namespace pigment {

struct CatalogHarness {
  CatalogHarness() {
    EXPECT_OK(files.MakeDirectory("db"));
    EXPECT_OK(files.SyncDirectory("."));
  }

  Status Open(bool read_only = false) {
    catalog.reset();
    Result<std::unique_ptr<Catalog>> opened = Catalog::Open(&files, "db", read_only);
    if (!opened.ok()) return opened.status();
    catalog = std::move(*opened);
    return Status::Ok();
  }

  static Uuid Id(uint8_t number) {
    Uuid id;
    id.bytes[0] = std::byte{number};
    id.bytes[15] = std::byte{1};
    return id;
  }

  static CollectionEntry Entry(uint8_t number, const std::string& name) {
    CollectionEntry entry;
    entry.id = Id(number);
    entry.name = name;
    entry.tenant = kDefaultTenant;
    entry.database = kDefaultDatabase;
    entry.configuration_json = "{\"hnsw\":{}}";
    return entry;
  }

  static CollectionEntry FullEntry(uint8_t number, const std::string& name) {
    CollectionEntry entry = Entry(number, name);
    entry.metadata = Metadata{
        {"text", std::string("with\0nul", 8)}, {"count", int64_t{-3}}, {"flag", true}, {"x", 2.5}};
    entry.schema_json = "{}";
    entry.embedding_function_name = "lexical-1";
    entry.embedding_function_config_json = "{\"dimension\":256}";
    entry.metric = Metric::kCosine;
    entry.dimension = 256;
    entry.floor = uint64_t{1} << 40;
    entry.next_ordinal = 77;
    entry.segments = {{.segment = 3,
                       .root = 9,
                       .file_bytes = 81920,
                       .rows = 500,
                       .deletions = 2,
                       .deleted_rows = 7},
                      {.segment = 4,
                       .root = 1,
                       .file_bytes = 8192,
                       .rows = 5,
                       .deletions = 0,
                       .deleted_rows = 0}};
    return entry;
  }

  // Everything that the catalog says, as one text: equal texts are equal catalogs.
  std::string Dump() const {
    std::string dump;
    for (const std::string& tenant : catalog->ListTenants()) {
      dump += "tenant " + tenant + "\n";
      for (const auto& database : *catalog->ListDatabases(tenant)) {
        dump += "  database " + database.name + " " + database.id.ToString() + "\n";
        for (const CollectionEntry& entry : *catalog->ListCollections(tenant, database.name)) {
          dump += "    " + entry.name + " " + CatalogState::PutCollection(entry) + "\n";
        }
      }
    }
    return dump;
  }

  std::vector<std::string> Names() { return *files.List("db"); }

  std::string Contents(const std::string& name) {
    const auto file = files.Open("db/" + name, OpenMode::kRead);
    std::string bytes(*(*file)->Size(), '\0');
    EXPECT_OK((*file)->ReadAt(0, std::as_writable_bytes(std::span(bytes))));
    return bytes;
  }

  void Replace(const std::string& name, std::string_view bytes) {
    const auto file = files.Open("db/" + name, OpenMode::kReadWrite);
    EXPECT_OK((*file)->Truncate(0));
    EXPECT_OK((*file)->WriteAt(0, AsBytes(bytes)));
  }

  MemoryFileSystem files{MemoryFileSystem::Kind::kSimulated};
  std::unique_ptr<Catalog> catalog;  // dies before the files
};

}  // namespace pigment
