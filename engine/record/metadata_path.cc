// SPDX-License-Identifier: Apache-2.0
//
// Steps and separators: see the header.

#include "engine/record/metadata_path.h"

#include <algorithm>

namespace pigment {
namespace {

constexpr char kSeparator = '\0';
constexpr char kEscape = '\1';

// Calls `visit(step)` for each step of a stored path.
template <typename Visit>
void VisitSteps(std::string_view path, const Visit& visit) {
  path.remove_prefix(1);
  while (true) {
    const size_t end = path.find(kSeparator);
    visit(path.substr(0, end));
    if (end == std::string_view::npos) return;
    path.remove_prefix(end + 1);
  }
}

void AppendPointerStep(std::string_view step, std::string& out) {
  out += '/';
  for (const char byte : step) {
    if (byte == '~') {
      out += "~0";
    } else if (byte == '/') {
      out += "~1";
    } else {
      out += byte;
    }
  }
}

// False: a tilde that stands before neither 0 nor 1.
bool ReadPointerStep(std::string_view text, std::string& step) {
  step.clear();
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '~') {
      step += text[i];
    } else if (++i < text.size() && (text[i] == '0' || text[i] == '1')) {
      step += text[i] == '0' ? '~' : '/';
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace

bool IsMetadataKey(std::string_view key) {
  return !key.empty() && key[0] != '#' && key[0] != '$' && key != "chroma:document" &&
         key != kUriKey;
}

void AppendStep(std::string_view step, std::string& path) {
  if (path.size() > 1) path += kSeparator;
  for (const char byte : step) {
    if (byte == kSeparator || byte == kEscape) {
      path += kEscape;
      path += static_cast<char>(byte + 1);
    } else {
      path += byte;
    }
  }
}

std::string BeginBelow(std::string_view key) {
  std::string begin;
  if (IsStoredPath(key)) {
    begin = key;
  } else {
    begin = "$";
    AppendStep(key, begin);
  }
  return begin += kSeparator;
}

std::string StepText(std::string_view stored_step) {
  std::string text;
  for (size_t i = 0; i < stored_step.size(); ++i) {
    const bool is_escaped = stored_step[i] == kEscape && i + 1 < stored_step.size();
    text += is_escaped ? static_cast<char>(stored_step[++i] - 1) : stored_step[i];
  }
  return text;
}

std::string TopKey(std::string_view key) {
  if (!IsStoredPath(key)) return std::string(key);
  return StepText(key.substr(1, key.find(kSeparator) - 1));
}

size_t SharedSteps(std::string_view path, std::string_view other) {
  const auto end = std::mismatch(path.begin(), path.end(), other.begin(), other.end()).first;
  return path.substr(0, static_cast<size_t>(end - path.begin())).rfind(kSeparator);
}

std::string PointerOf(std::string_view key) {
  std::string text = "$";
  if (IsStoredPath(key)) {
    VisitSteps(key, [&](std::string_view step) { AppendPointerStep(StepText(step), text); });
  } else {
    AppendPointerStep(key, text);
  }
  return text;
}

std::string KeyText(std::string_view key) {
  return IsStoredPath(key) ? PointerOf(key) : std::string(key);
}

std::optional<std::string> StoredKeyOf(std::string_view pointer) {
  pointer.remove_prefix(1);
  std::string path = "$", step;
  size_t steps = 0;
  while (!pointer.empty()) {
    const size_t end = std::min(pointer.find('/', 1), pointer.size());
    if (!ReadPointerStep(pointer.substr(1, end - 1), step)) return std::nullopt;
    pointer.remove_prefix(end);
    if (++steps == 1 && !IsMetadataKey(step)) return std::nullopt;
    if (steps == 1 && pointer.empty()) return step;
    AppendStep(step, path);
  }
  return path;
}

bool HasPaths(const Metadata& metadata) {
  const auto found = metadata.lower_bound(std::string_view("$"));
  return found != metadata.end() && IsStoredPath(found->first);
}

}  // namespace pigment
