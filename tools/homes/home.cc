// SPDX-License-Identifier: Apache-2.0
//
// Which home a name means.

#include "tools/homes/home.h"

#include <filesystem>

#include "tools/homes/directory_home.h"

namespace pigment_tool {
namespace {

bool IsSameDirectory(const std::string& one, const std::string& other) {
  std::error_code none;
  return std::filesystem::equivalent(one, other, none);
}

std::shared_ptr<Home> Open(const std::string& name, bool to_write) {
  if (IsPostgres(name)) return OpenPostgres(name);
  return std::make_shared<DirectoryHome>(name, to_write);
}

}  // namespace

bool IsPostgres(const std::string& name) {
  return name.starts_with("postgresql://") || name.starts_with("postgres://");
}

Homes OpenHomes(const std::string& from, const std::string& to) {
  if (!IsPostgres(from) && !IsPostgres(to) && IsSameDirectory(from, to)) {
    const std::shared_ptr<Home> both = Open(to, true);
    return {both, both};
  }
  const std::shared_ptr<Home> source = Open(from, false);  // first: a missing one makes no target
  return {source, Open(to, true)};
}

std::shared_ptr<Home> OpenHome(const std::string& to) { return Open(to, true); }

#if !PIGMENT_TOOL_HAS_LIBPQ
std::shared_ptr<Home> OpenPostgres(const std::string&) { RefusePostgres(); }
#endif

void RefusePostgres() {
  throw Failure(PIGMENT_UNIMPLEMENTED,
                "this pigment was built without libpq and reaches no PostgreSQL\n"
                "hint: build it where libpq-dev is installed");
}

}  // namespace pigment_tool
