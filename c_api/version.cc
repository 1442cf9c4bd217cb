// SPDX-License-Identifier: Apache-2.0
//
// Which library this is. Any thread; strings are static.

#include <array>
#include <cstdio>

#include "engine/base/build_info.h"
#include "engine/vector/distance.h"
#include "pigment/pigment.h"

static_assert(PIGMENT_VERSION_MAJOR == pigment::kVersionMajor,
              "pigment.h differs from CMakeLists.txt");
static_assert(PIGMENT_VERSION_MINOR == pigment::kVersionMinor,
              "pigment.h differs from CMakeLists.txt");
static_assert(PIGMENT_VERSION_PATCH == pigment::kVersionPatch,
              "pigment.h differs from CMakeLists.txt");
static_assert(PIGMENT_ABI_VERSION == pigment::kAbiVersion, "pigment.h differs from CMakeLists.txt");

namespace {

struct BuildInfo {
  std::array<char, 256> text{};
  BuildInfo() noexcept {
    const std::string_view simd = pigment::SimdTargetName();
    std::snprintf(text.data(), text.size(), "pigment %s, revision %s, %s, %s%s%s, SIMD %.*s",
                  pigment::kVersion, pigment::kGitDescribe, pigment::kCompiler, pigment::kBuildType,
                  pigment::kSanitizers[0] != '\0' ? ", sanitizers " : "", pigment::kSanitizers,
                  static_cast<int>(simd.size()), simd.data());
  }
};

}  // namespace

int32_t pigment_abi_version(void) { return PIGMENT_ABI_VERSION; }

const char* pigment_version(void) { return pigment::kVersion; }

const char* pigment_build_info(void) {
  static const BuildInfo info;
  return info.text.data();
}
