// SPDX-License-Identifier: Apache-2.0
//
// The format: numpy.lib.format. "\x93NUMPY", version, length of the head, the head as a Python
// dictionary, padded so that rows begin at a multiple of 64.

#include "tools/npy.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string_view>

#include "tools/half.h"
#include "tools/session.h"

namespace pigment_tool {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kHeadBytes = 128;  // of files that are written here
constexpr size_t kPendingMax = 1 << 18;

[[noreturn]] void Wrong(const std::string& path, const std::string& what) {
  throw Failure(PIGMENT_INVALID_ARGUMENT, "\"" + path + "\" " + what);
}

// What follows `key`: in the dictionary, without spaces; empty when it is not there.
std::string_view ValueOf(std::string_view head, std::string_view key) {
  const size_t at = head.find("'" + std::string(key) + "'");
  if (at == std::string_view::npos) return {};
  const size_t colon = head.find(':', at);
  if (colon == std::string_view::npos) return {};
  const size_t begin = head.find_first_not_of(' ', colon + 1);
  return begin == std::string_view::npos ? std::string_view() : head.substr(begin);
}

template <typename T>
T Load(const unsigned char* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

}  // namespace

static_assert(std::endian::native == std::endian::little, "files are little-endian");

NpyReader::NpyReader(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status {};
  if (file < 0 || fstat(file, &status) != 0) {
    throw Failure(PIGMENT_NOT_FOUND, "cannot read \"" + path + "\": " + std::strerror(errno));
  }
  size_ = static_cast<size_t>(status.st_size);
  void* const mapped =
      size_ == 0 ? MAP_FAILED : mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0);
  close(file);
  if (mapped == MAP_FAILED) Wrong(path, "is no file of NumPy: it cannot be mapped");
  data_ = static_cast<const unsigned char*>(mapped);
  try {
    ParseHeader(path);
  } catch (...) {
    munmap(const_cast<unsigned char*>(data_), size_);
    throw;
  }
}

NpyReader::~NpyReader() { munmap(const_cast<unsigned char*>(data_), size_); }

void NpyReader::ParseHeader(const std::string& path) {
  const std::string_view bytes(reinterpret_cast<const char*>(data_), size_);
  if (size_ < 12 || !bytes.starts_with(kMagic)) Wrong(path, "is no file of NumPy");
  const size_t length_bytes = bytes[6] == 1 ? 2 : 4;
  const size_t length = length_bytes == 2 ? Load<uint16_t>(data_ + 8) : Load<uint32_t>(data_ + 8);
  begin_ = 8 + length_bytes + length;
  if (begin_ > size_) Wrong(path, "ends in its head");
  const std::string_view head = bytes.substr(8 + length_bytes, length);
  const std::string_view type = ValueOf(head, "descr");
  if (type.size() < 5 || type[0] != '\'' || type[1] != '<' || type[4] != '\'') {
    Wrong(path, "has elements that are no little-endian numbers");
  }
  kind_ = type[2];
  width_ = static_cast<size_t>(type[3] - '0');
  const std::string_view kind = type.substr(2, 2);
  if (kind != "f2" && kind != "f4" && kind != "f8" && kind != "i4" && kind != "i8") {
    Wrong(path, "has elements of type " + std::string(kind) + "; f2, f4, f8, i4, i8 can be read");
  }
  if (!ValueOf(head, "fortran_order").starts_with("False")) {
    Wrong(path, "is stored column by column; save numpy.ascontiguousarray of it");
  }
  // "(rows, dimension)"
  std::string_view shape = ValueOf(head, "shape");
  uint64_t sizes[2] = {0, 0};
  if (!shape.starts_with('(')) Wrong(path, "has no shape");
  shape.remove_prefix(1);
  for (int i = 0; i < 2; ++i) {
    shape.remove_prefix(std::min(shape.size(), shape.find_first_not_of(' ')));
    const auto parsed = std::from_chars(shape.data(), shape.data() + shape.size(), sizes[i]);
    if (parsed.ec != std::errc()) Wrong(path, "is no matrix of two dimensions");
    shape.remove_prefix(static_cast<size_t>(parsed.ptr - shape.data()));
    if (shape.empty() || shape[0] != (i == 0 ? ',' : ')')) {
      Wrong(path, "is no matrix of two dimensions");
    }
    shape.remove_prefix(1);
  }
  rows_ = sizes[0];
  dimension_ = sizes[1];
  const size_t there = (size_ - begin_) / width_;
  if (rows_ > 0 && (dimension_ == 0 || dimension_ > there || rows_ > there / dimension_)) {
    Wrong(path, "says " + std::to_string(rows_) + " rows of " + std::to_string(dimension_) +
                    " numbers and holds " + std::to_string(there) + " numbers");
  }
}

void NpyReader::Read(uint64_t row, std::vector<float>& vector) const {
  vector.resize(dimension_);
  const unsigned char* at = data_ + begin_ + row * dimension_ * width_;
  for (size_t i = 0; i < dimension_; ++i, at += width_) {
    if (kind_ == 'f') {
      vector[i] = width_ == 4   ? Load<float>(at)
                  : width_ == 8 ? static_cast<float>(Load<double>(at))
                                : FromHalf(Load<uint16_t>(at));
    } else {
      vector[i] = width_ == 4 ? static_cast<float>(Load<int32_t>(at))
                              : static_cast<float>(Load<int64_t>(at));
    }
  }
}

NpyWriter::NpyWriter(const std::string& path, uint64_t rows, size_t dimension)
    : path_(path), rows_(rows), dimension_(dimension) {
  file_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file_ < 0) Fail();
  const size_t bytes = kHeadBytes + rows * dimension * sizeof(float);
  if (ftruncate(file_, static_cast<off_t>(bytes)) != 0) Fail();
  WriteHead(0);
  if (lseek(file_, static_cast<off_t>(bytes), SEEK_SET) < 0) Fail();
}

NpyWriter::~NpyWriter() { close(file_); }

void NpyWriter::Fail() const {
  throw Failure(errno == ENOSPC ? PIGMENT_RESOURCE_EXHAUSTED : PIGMENT_UNAVAILABLE,
                "cannot write \"" + path_ + "\": " + std::strerror(errno));
}

void NpyWriter::WriteHead(uint64_t rows) {
  std::string head =
      std::string(kMagic) + '\x01' + '\0' + static_cast<char>(kHeadBytes - 10) + '\0';
  head += "{'descr': '<f4', 'fortran_order': False, 'shape': (" + std::to_string(rows) + ", " +
          std::to_string(dimension_) + "), }";
  head.resize(kHeadBytes - 1, ' ');
  head += '\n';
  if (pwrite(file_, head.data(), head.size(), 0) != static_cast<ssize_t>(head.size())) Fail();
}

void NpyWriter::Add(std::span<const float> vector) {
  if (dimension_ == 0) dimension_ = vector.size();
  pending_.insert(pending_.end(), vector.begin(), vector.end());
  ++rows_;
  if (pending_.size() >= kPendingMax) Sync();
}

void NpyWriter::Sync() {
  const char* data = reinterpret_cast<const char*>(pending_.data());
  size_t left = pending_.size() * sizeof(float);
  while (left > 0) {
    const ssize_t written = write(file_, data, left);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) Fail();
    data += written;
    left -= static_cast<size_t>(written);
  }
  pending_.clear();
  if (fdatasync(file_) != 0) Fail();
}

void NpyWriter::Finish() {
  Sync();
  WriteHead(rows_);
  if (fdatasync(file_) != 0) Fail();
}

}  // namespace pigment_tool
