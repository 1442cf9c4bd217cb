// SPDX-License-Identifier: Apache-2.0
//
// Files of jobs.

#include "tools/job.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include "tools/session.h"

namespace pigment_tool {
namespace {

[[noreturn]] void Fail(const std::string& what, const std::string& path) {
  throw Failure(PIGMENT_UNAVAILABLE,
                "cannot " + what + " \"" + path + "\": " + std::strerror(errno));
}

// FNV-1a: names of files, nothing else depends on it.
uint32_t HashOf(const std::string& text) {
  uint32_t hash = 2166136261u;
  for (const char letter : text) hash = (hash ^ static_cast<unsigned char>(letter)) * 16777619u;
  return hash;
}

}  // namespace

Job::Job(std::string path, nlohmann::json identity)
    : path_(std::move(path)), identity_(std::move(identity)) {
  std::ifstream file(path_);
  if (!file) return;
  const auto saved = nlohmann::json::parse(file, nullptr, /*allow_exceptions=*/false);
  if (!saved.is_object() || saved.value("job", nlohmann::json()) != identity_) return;
  const auto progress = saved.find("progress");
  if (progress == saved.end() || !progress->is_object()) return;
  progress_ = *progress;
  is_resumed_ = true;
}

void Job::Save(nlohmann::json progress) {
  progress_ = std::move(progress);
  const std::string text = nlohmann::json({{"job", identity_}, {"progress", progress_}}).dump(1);
  const std::string fresh = path_ + ".new";
  const int file = open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) Fail("write", fresh);
  const bool is_written =
      write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const bool is_durable = is_written && fdatasync(file) == 0;
  if (close(file) != 0 || !is_durable) Fail("write", fresh);
  if (std::rename(fresh.c_str(), path_.c_str()) != 0) Fail("replace", path_);
  next_ = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
}

void Job::Finish() { unlink(path_.c_str()); }

std::string JobPath(const std::string& directory, const std::string& kind,
                    const nlohmann::json& identity) {
  std::string name = std::filesystem::absolute(directory).lexically_normal().string();
  while (name.size() > 1 && name.ends_with('/')) name.pop_back();
  std::array<char, 16> hash{};
  std::snprintf(hash.data(), hash.size(), "%08x", HashOf(identity.dump()));
  return name + "." + kind + "-" + hash.data();
}

nlohmann::json FileIdentity(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) {
    throw Failure(errno == ENOENT ? PIGMENT_NOT_FOUND : PIGMENT_PERMISSION_DENIED,
                  "cannot read \"" + path + "\": " + std::strerror(errno));
  }
  return {{"path", std::filesystem::absolute(path).lexically_normal().string()},
          {"bytes", status.st_size},
          {"changed_ns", status.st_mtim.tv_sec * 1'000'000'000LL + status.st_mtim.tv_nsec}};
}

}  // namespace pigment_tool
