// SPDX-License-Identifier: Apache-2.0
//
// Collections of a directory, through the library.

#include "tools/homes/directory_home.h"

#include <optional>
#include <utility>

#include "tools/create.h"
#include "tools/job.h"
#include "tools/pages.h"
#include "tools/rows.h"

namespace pigment_tool {
namespace {

class Reader final : public CollectionReader {
 public:
  Reader(pigment_client* client, const Place& place, const Filters& filters)
      : collection_(OpenCollection(client, place)),
        described_(Describe(collection_.get())),
        filters_(filters) {
    GoTo("");
  }

  const nlohmann::json& described() const override { return described_; }
  uint64_t Count() override { return pages_->Count(); }
  void GoTo(const std::string& cursor) override {
    pages_.emplace(collection_.get(), filters_, cursor);
  }
  bool Next(std::vector<Record>& page) override {
    page.clear();
    const ResultHandle result = pages_->Next();
    if (result == nullptr) return false;
    const Rows rows(result.get());
    page.reserve(rows.size());
    for (uint64_t row = 0; row < rows.size(); ++row) page.push_back(rows[row].ToRecord());
    return true;
  }
  const std::string& cursor() const override { return pages_->cursor(); }

 private:
  Collection collection_;
  nlohmann::json described_;
  const Filters& filters_;
  std::optional<Pages> pages_;
};

class Writer final : public CollectionWriter {
 public:
  Writer(pigment_client* client, Place place) : client_(client), place_(std::move(place)) {}

  std::string Find() override {
    try {
      collection_ = OpenCollection(client_, place_);
    } catch (const Failure& failure) {
      if (failure.status != PIGMENT_NOT_FOUND) throw;
      return "";
    }
    return Id();
  }
  void MakeParents() override { pigment_tool::MakeParents(client_, place_); }
  std::string Make(const nlohmann::json& described, bool may_take) override {
    collection_ = may_take ? MakeLikeOrTake(client_, place_, described)
                           : MakeLike(client_, place_, described);
    return Id();
  }
  void Write(WriteMode mode, const std::vector<Record>& records, WriteCounts& counts) override {
    for (const Record& record : records) {
      if (batch_.Add(record)) continue;
      batch_.WriteTo(collection_.get(), mode, counts);
      batch_.Add(record);
    }
    batch_.WriteTo(collection_.get(), mode, counts);
  }
  bool Contains(const std::string& id) override {
    const Texts ids = One(id);
    const pigment_text_column column = ids.column();
    uint8_t present = 0;
    pigment_error* error = nullptr;
    Check(pigment_collection_contains(collection_.get(), 1, &column, nullptr, &present, &error),
          error);
    return present != 0;
  }
  void Delete(const std::string& id) override {
    const Texts ids = One(id);
    pigment_delete_request request{};
    request.struct_size = sizeof request;
    request.ids_count = 1;
    request.ids = ids.column();
    pigment_error* error = nullptr;
    Check(pigment_collection_delete(collection_.get(), &request, nullptr, nullptr, &error), error);
  }
  uint64_t Count() override { return CountOf(collection_.get()); }

 private:
  static Texts One(const std::string& id) {
    Texts ids;
    ids.Add(id);
    return ids;
  }
  std::string Id() const { return Describe(collection_.get()).at("id"); }

  pigment_client* client_;
  Place place_;
  Collection collection_;
  Batch batch_;
};

}  // namespace

DirectoryHome::DirectoryHome(std::string directory, bool to_write)
    : directory_(std::move(directory)),
      client_(to_write ? OpenOrMake(directory_) : OpenToRead(directory_)) {}

std::unique_ptr<CollectionReader> DirectoryHome::Read(const Place& place, const Filters& filters) {
  return std::make_unique<Reader>(client_.get(), place, filters);
}

std::unique_ptr<CollectionWriter> DirectoryHome::Write(const Place& place) {
  return std::make_unique<Writer>(client_.get(), place);
}

void DirectoryHome::Finish() { Close(client_.get()); }

std::string DirectoryHome::PathOfJob(const std::string& kind,
                                     const nlohmann::json& identity) const {
  return JobPath(directory_, kind, identity);
}

}  // namespace pigment_tool
