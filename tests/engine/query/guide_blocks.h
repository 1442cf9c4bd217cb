// SPDX-License-Identifier: Apache-2.0
//
// The fenced blocks of a guide under docs/: what it shows is what its test runs. Header only.

#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

namespace pigment {

struct GuideBlock {
  std::string kind;  // what follows the opening fence
  std::vector<std::string> lines;

  std::string text() const {
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    return text;
  }
};

// In the order of the guide. `name` is that of a file in docs/.
inline std::vector<GuideBlock> ReadGuide(const std::string& name) {
  const std::string path = std::string(PIGMENT_SOURCE_DIR) + "/docs/" + name;
  std::ifstream file(path);
  EXPECT_TRUE(file.is_open()) << path;
  std::vector<GuideBlock> blocks;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("```")) {
      inside = !inside;
      if (inside) blocks.push_back({line.substr(3), {}});
    } else if (inside) {
      blocks.back().lines.push_back(line);
    }
  }
  EXPECT_FALSE(inside) << path << ": a block does not end";
  return blocks;
}

}  // namespace pigment
