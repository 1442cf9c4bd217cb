// SPDX-License-Identifier: Apache-2.0
//
// StoreEngine: creating, changing, forking and deleting collections.

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "engine/base/planted_bugs.h"
#include "engine/collection/store_engine.h"

namespace pigment {

Status StoreEngine::CreateTenant(const std::string& name) {
  PIGMENT_ASSIGN_OR_RETURN(const Operation operation, Begin());
  std::lock_guard admin(admin_mutex_);
  return catalog()->CreateTenant(name);
}

Result<Catalog::DatabaseEntry> StoreEngine::CreateDatabase(const std::string& tenant,
                                                           const std::string& name) {
  PIGMENT_ASSIGN_OR_RETURN(const Operation operation, Begin());
  std::lock_guard admin(admin_mutex_);
  return catalog()->CreateDatabase(tenant, name);
}

Result<CollectionEntry> StoreEngine::CreateCollection(CollectionEntry entry) {
  PIGMENT_ASSIGN_OR_RETURN(const Operation operation, Begin());
  std::lock_guard admin(admin_mutex_);
  PIGMENT_ASSIGN_OR_RETURN(entry.id, Uuid::Random());
  // No batch of the log is this collection's, so it never pins the log before its first write.
  entry.floor = position();
  entry.next_ordinal = 1;
  entry.dimension = 0;
  entry.segments.clear();
  entry.shelf = {};
  PIGMENT_RETURN_IF_ERROR(SecureLog());
  const auto current = generation();
  PIGMENT_RETURN_IF_ERROR(current->catalog->CreateCollection(entry));
  return entry;
}

Result<CollectionEntry> StoreEngine::ForkCollection(const Uuid& source,
                                                    const std::string& new_name) {
  PIGMENT_ASSIGN_OR_RETURN(const Operation operation, Begin());
  PIGMENT_ASSIGN_OR_RETURN(const auto state, Find(source, ""));
  // What is in the log goes to a segment that both have; what is on a shelf both may name.
  const auto flush = [&] {
    return state->NeededAfter(position()) < position() ? state->FlushWithin() : Status::Ok();
  };
  // Most of the work without excluding anybody; what is written meanwhile is flushed below.
  PIGMENT_RETURN_IF_ERROR(flush());
  std::lock_guard admin(admin_mutex_);
  std::shared_lock loading(loading_mutex_);  // no shelf is written anew
  std::unique_lock gate(state->gate());
  PIGMENT_RETURN_IF_ERROR(state->CheckWritable());
  PIGMENT_RETURN_IF_ERROR(flush());
  // No merge replaces the segments between the look at the entry and the fork's hold on them.
  const auto held = state->HoldSegments();
  const auto current = generation();
  PIGMENT_ASSIGN_OR_RETURN(CollectionEntry entry, current->catalog->GetCollectionById(source));
  PIGMENT_ASSIGN_OR_RETURN(entry.id, Uuid::Random());
  entry.name = new_name;
  entry.floor = position();
  PIGMENT_RETURN_IF_ERROR(SecureLog());
  // Before the edit: nothing may fail between the fork's appearance and its hold on the files.
  Retention retention(segments_);
  for (const SegmentEntry& segment : entry.segments) retention.Add(segment);
  if (!PIGMENT_PLANTED(kForkSharesShelfUncounted)) retention.AddShelf(entry.shelf.file);
  PIGMENT_RETURN_IF_ERROR(current->catalog->CreateCollection(entry));
  retention.Keep();
  return entry;
}

Status StoreEngine::ModifyCollection(const Uuid& id,
                                     const std::function<Status(CollectionEntry&)>& change) {
  PIGMENT_ASSIGN_OR_RETURN(const Operation operation, Begin());
  const auto current = generation();
  std::lock_guard lock(entry_mutex_);
  PIGMENT_ASSIGN_OR_RETURN(const CollectionEntry before, current->catalog->GetCollectionById(id));
  CollectionEntry after = before;
  PIGMENT_RETURN_IF_ERROR(change(after));
  // What describes the stored records is not the caller's to change.
  after.id = before.id;
  after.tenant = before.tenant;
  after.database = before.database;
  after.metric = before.metric;
  after.vector_element = before.vector_element;
  after.dimension = before.dimension;
  after.floor = before.floor;
  after.next_ordinal = before.next_ordinal;
  after.segments = before.segments;
  after.shelf = before.shelf;
  PIGMENT_RETURN_IF_ERROR(SecureLog());  // what was written before must not go missing behind it
  PIGMENT_RETURN_IF_ERROR(current->catalog->UpdateCollection(after));
  if (const std::shared_ptr<CollectionState> state = FindLoaded(id)) state->Reconfigure(after);
  return Status::Ok();
}

Status StoreEngine::RemoveCollections(const std::function<bool(const CollectionEntry&)>& is_removed,
                                      const std::function<Status(Catalog&)>& edit) {
  PIGMENT_ASSIGN_OR_RETURN(const Operation operation, Begin());
  std::lock_guard admin(admin_mutex_);
  std::unique_lock loading(loading_mutex_);  // those that nobody uses stay so
  const auto current = generation();
  std::vector<CollectionEntry> entries;
  const auto find_entries = [&] {
    entries.clear();
    current->catalog->VisitCollections([&](const CollectionEntry& entry) {
      if (is_removed(entry)) entries.push_back(entry);
    });
  };
  find_entries();
  std::vector<std::shared_ptr<CollectionState>> states;
  for (const CollectionEntry& entry : entries) {
    if (auto state = FindLoaded(entry.id)) states.push_back(std::move(state));
  }
  // Writers hold one gate at a time and no other lock before it, so gates may be taken in any order
  // under admin_mutex_.
  std::vector<std::unique_lock<WriteGate>> gates;
  for (const auto& state : states) gates.emplace_back(state->gate());
  // Whatever wants memory comes before the edit.
  std::set<Uuid> loaded;
  std::vector<Status> farewells;
  farewells.reserve(states.size());
  for (const auto& state : states) {
    loaded.insert(state->id());
    farewells.push_back(state->NotFoundStatus());
  }
  {
    std::lock_guard lock(entry_mutex_);
    find_entries();  // a flush may have changed what they name
    PIGMENT_RETURN_IF_ERROR(SecureLog());
    PIGMENT_RETURN_IF_ERROR(edit(*current->catalog));
  }
  {
    std::lock_guard lock(generation_mutex_);
    for (const CollectionEntry& entry : entries) {
      const auto found = current->slots.find(entry.id);
      if (found == current->slots.end()) continue;
      ForgetBatches(found->second);
      current->slots.erase(found);
    }
  }
  for (size_t i = 0; i < states.size(); ++i) states[i]->MarkDeleted(farewells[i]);
  for (const CollectionEntry& entry : entries) {
    segments_.ReleaseShelf(entry.shelf.file);
    if (loaded.contains(entry.id)) continue;
    for (const SegmentEntry& segment : entry.segments) segments_.Release(segment);
  }
  return Status::Ok();
}

Status StoreEngine::DeleteCollection(const Scope& scope, const std::string& name) {
  PIGMENT_RETURN_IF_ERROR(Begin().status());
  PIGMENT_ASSIGN_OR_RETURN(const CollectionEntry found, generation()->catalog->GetCollection(
                                                            scope.tenant, scope.database, name));
  return RemoveCollections(
      [&found](const CollectionEntry& entry) { return entry.id == found.id; },
      [&found](Catalog& catalog) { return catalog.DeleteCollection(found.id); });
}

Status StoreEngine::DeleteDatabase(const std::string& tenant, const std::string& name) {
  return RemoveCollections(
      [&](const CollectionEntry& entry) {
        return entry.tenant == tenant && entry.database == name;
      },
      [&](Catalog& catalog) { return catalog.DeleteDatabase(tenant, name); });
}

Status StoreEngine::DeleteTenant(const std::string& name) {
  return RemoveCollections([&](const CollectionEntry& entry) { return entry.tenant == name; },
                           [&](Catalog& catalog) { return catalog.DeleteTenant(name); });
}

}  // namespace pigment
