// SPDX-License-Identifier: Apache-2.0
//
// hnswlib's files.

#include "tools/chroma/hnsw_vectors.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tools/chroma/pickle.h"
#include "tools/session.h"

namespace pigment_tool {
namespace {

constexpr size_t kHeaderBytes = 52;

[[noreturn]] void Damaged(const std::string& path, const std::string& what) {
  throw Failure(PIGMENT_DATA_LOSS, "\"" + path + "\" " + what);
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file) throw Failure(PIGMENT_NOT_FOUND, "cannot read \"" + path + "\"");
  return bytes;
}

int Open(const std::string& path, uint64_t bytes_min) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status {};
  if (file < 0 || fstat(file, &status) != 0) {
    if (file >= 0) close(file);
    throw Failure(PIGMENT_NOT_FOUND, "cannot read \"" + path + "\": " + std::strerror(errno));
  }
  if (static_cast<uint64_t>(status.st_size) < bytes_min) {
    close(file);
    Damaged(path, "has " + std::to_string(status.st_size) + " bytes, its header says " +
                      std::to_string(bytes_min));
  }
  return file;
}

uint64_t Number(const std::string& bytes, size_t at) {
  uint64_t number;
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

}  // namespace

HnswVectors::HnswVectors(const std::string& folder, bool is_normalized)
    : folder_(folder), is_normalized_(is_normalized) {
  const std::string pickle = folder + "/index_metadata.pickle";
  if (!std::filesystem::exists(pickle)) return;  // nothing was written to the files yet
  try {
    ReadHeader(folder + "/header.bin");
    data_ = Open(folder + "/data_level0.bin", elements_ * element_bytes_);
    if (is_normalized) lengths_ = Open(folder + "/length.bin", elements_ * sizeof(float));
    ReadPickle(pickle);
  } catch (...) {
    if (data_ >= 0) close(data_);
    if (lengths_ >= 0) close(lengths_);
    throw;
  }
}

HnswVectors::~HnswVectors() {
  if (data_ >= 0) close(data_);
  if (lengths_ >= 0) close(lengths_);
}

void HnswVectors::ReadHeader(const std::string& path) {
  const std::string bytes = ReadFile(path);
  if (bytes.size() < kHeaderBytes) Damaged(path, "ends early");
  uint32_t version;
  std::memcpy(&version, bytes.data(), sizeof version);
  if (version != 1) Damaged(path, "has version " + std::to_string(version) + ", known is 1");
  elements_ = Number(bytes, 20);
  element_bytes_ = Number(bytes, 28);
  label_offset_ = Number(bytes, 36);
  vector_offset_ = Number(bytes, 44);
  const bool is_sound =
      element_bytes_ >= sizeof(uint64_t) && element_bytes_ <= 1 << 20 &&
      vector_offset_ < label_offset_ && label_offset_ <= element_bytes_ - sizeof(uint64_t) &&
      (label_offset_ - vector_offset_) % sizeof(float) == 0 && elements_ <= uint64_t{1} << 40;
  if (!is_sound) Damaged(path, "says sizes that cannot be");
}

void HnswVectors::ReadAt(int file, uint64_t offset, void* to, size_t size) const {
  auto* at = static_cast<char*>(to);
  while (size > 0) {
    const ssize_t got = pread(file, at, size, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) Damaged(folder_, "has a file that ends early");
    at += got;
    offset += static_cast<uint64_t>(got);
    size -= static_cast<size_t>(got);
  }
}

std::unordered_map<uint64_t, uint64_t> HnswVectors::SlotsByLabel() const {
  std::unordered_map<uint64_t, uint64_t> slots;
  for (uint64_t slot = 0; slot < elements_; ++slot) {
    uint64_t label;
    ReadAt(data_, slot * element_bytes_ + label_offset_, &label, sizeof label);
    slots[label] = slot;
  }
  return slots;
}

void HnswVectors::ReadPickle(const std::string& path) {
  const Pickle pickle(ReadFile(path), path);
  const PickleValue* const labels = pickle.root().Find("id_to_label");
  if (labels == nullptr || labels->kind != PickleValue::Kind::kDictionary) {
    Damaged(path, "has no labels");
  }
  const auto by_label = SlotsByLabel();
  for (const auto& [id, label] : labels->container->items) {
    const auto slot = by_label.find(static_cast<uint64_t>(label.integer));
    if (id.kind != PickleValue::Kind::kText || label.kind != PickleValue::Kind::kInteger ||
        slot == by_label.end()) {
      Damaged(path, "names a label that data_level0.bin has not");
    }
    slots_[std::string(id.text)] = slot->second;
  }
  const PickleValue* const position = pickle.root().Find("max_seq_id");
  if (position != nullptr && position->kind == PickleValue::Kind::kInteger) {
    log_position_ = position->integer;
  }
}

bool HnswVectors::Find(const std::string& id, std::vector<float>& vector) const {
  const auto slot = slots_.find(id);
  if (slot == slots_.end()) return false;
  vector.resize((label_offset_ - vector_offset_) / sizeof(float));
  ReadAt(data_, slot->second * element_bytes_ + vector_offset_, vector.data(),
         vector.size() * sizeof(float));
  if (is_normalized_) {
    float length;
    ReadAt(lengths_, slot->second * sizeof length, &length, sizeof length);
    for (float& value : vector) value *= length;
  }
  return true;
}

}  // namespace pigment_tool
