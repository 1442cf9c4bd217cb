// SPDX-License-Identifier: Apache-2.0
//
// The plain model of a whole store: tenants, databases, collections with metadata and records; and
// the files of a store as bytes, to begin many tests with the same one. Header only; one thread.

#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "engine/base/memory_files.h"
#include "tests/support/status_matchers.h"
#include "tests/support/store_model.h"

namespace pigment {

struct CollectionPlace {
  std::string tenant{kDefaultTenant};
  std::string database{kDefaultDatabase};
  std::string name;

  auto operator<=>(const CollectionPlace&) const = default;
};

struct StoreState {
  struct Contents {
    CollectionModel model;
    std::optional<Metadata> metadata;
  };
  std::map<std::string, std::set<std::string>> databases{
      {std::string(kDefaultTenant), {std::string(kDefaultDatabase)}}};
  std::map<CollectionPlace, Contents> collections;

  void RemoveDatabase(const std::string& tenant, const std::string& name) {
    databases[tenant].erase(name);
    std::erase_if(collections, [&](const auto& item) {
      return item.first.tenant == tenant && item.first.database == name;
    });
  }
  void RemoveTenant(const std::string& tenant) {
    databases.erase(tenant);
    std::erase_if(collections, [&](const auto& item) { return item.first.tenant == tenant; });
  }
};

// The first difference between what a store says and the model; empty: none. Reads everything.
inline std::string DifferenceOfStore(Store& store, const StoreState& state) {
  const auto text = [](const std::optional<Metadata>& metadata) {
    return metadata ? MetadataToJson(*metadata) : "none";
  };
  const auto catalog = store.catalog();
  if (!catalog.ok()) return catalog.status().ToString();
  std::vector<std::string> tenants;
  for (const auto& [tenant, databases] : state.databases) tenants.push_back(tenant);
  if ((*catalog)->ListTenants() != tenants) return "other tenants than the model has";
  size_t found = 0;
  for (const auto& [tenant, databases] : state.databases) {
    const auto listed = (*catalog)->ListDatabases(tenant);
    if (!listed.ok()) return listed.status().ToString();
    std::set<std::string> names;
    for (const auto& database : *listed) names.insert(database.name);
    if (names != databases) return "other databases of \"" + tenant + "\" than the model has";
    for (const std::string& database : databases) {
      const auto collections = (*catalog)->ListCollections(tenant, database);
      if (!collections.ok()) return collections.status().ToString();
      found += collections->size();
    }
  }
  if (found != state.collections.size()) {
    return std::to_string(found) + " collections, the model has " +
           std::to_string(state.collections.size());
  }
  for (const auto& [place, contents] : state.collections) {
    const auto collection = store.GetCollection({place.tenant, place.database}, place.name);
    if (!collection.ok()) return collection.status().ToString();
    if (text((*collection)->entry().metadata) != text(contents.metadata))
      return "\"" + place.name + "\" has metadata " + text((*collection)->entry().metadata);
    if (std::string difference = DifferenceOfAll(**collection, contents.model);
        !difference.empty()) {
      return "\"" + place.name + "\": " + difference;
    }
  }
  return "";
}

// Names below a directory with their bytes; directories end in a slash, parents before children.
using StoreImage = std::map<std::string, std::string>;

inline StoreImage CaptureImage(FileSystem& files, const std::string& directory) {
  StoreImage image{{directory + "/", ""}};
  for (const std::string& name : files.List(directory).value()) {
    const std::string path = directory + "/" + name;
    if (files.List(path).ok()) {
      image.merge(CaptureImage(files, path));
      continue;
    }
    const auto file = files.Open(path, OpenMode::kRead).value();
    std::string bytes(file->Size().value(), '\0');
    EXPECT_OK(file->ReadAt(0, std::as_writable_bytes(std::span(bytes))));
    image[path] = std::move(bytes);
  }
  return image;
}

// Everything of the image is durable in `files` afterwards.
inline void RestoreImage(const StoreImage& image, FileSystem& files) {
  for (const auto& [path, bytes] : image) {
    if (path.back() == '/') {
      EXPECT_OK(files.MakeDirectory(path.substr(0, path.size() - 1)));
      continue;
    }
    const auto file = files.Open(path, OpenMode::kCreate).value();
    EXPECT_OK(file->WriteAt(0, std::as_bytes(std::span(bytes))));
    EXPECT_OK(file->Sync());
  }
  for (const auto& [path, bytes] : image) {
    if (path.back() == '/') EXPECT_OK(files.SyncDirectory(path));
  }
  EXPECT_OK(files.SyncDirectory(""));
}

// Options for tests that count operations: what a thread of the store does would come at any time.
inline StoreOptions DeterministicOptions() {
  StoreOptions options;
  options.background_threads = 0;
  return options;
}

}  // namespace pigment
