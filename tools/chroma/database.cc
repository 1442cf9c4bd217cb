// SPDX-License-Identifier: Apache-2.0
//
// SQLite, to read.

#include "tools/chroma/database.h"

#include <cstdlib>
#include <filesystem>

#include "tools/job.h"
#include "tools/json_text.h"
#include "tools/session.h"

namespace pigment_tool {
namespace {

namespace fs = std::filesystem;

// Characters that mean something in SQLite's names of files.
std::string AsUri(const std::string& path) {
  std::string uri = "file:";
  for (const char letter : fs::absolute(path).string()) {
    if (letter == '%')
      uri += "%25";
    else if (letter == '?')
      uri += "%3f";
    else if (letter == '#')
      uri += "%23";
    else
      uri += letter;
  }
  return uri;
}

bool HasBytes(const std::string& path) {
  std::error_code none;
  const auto size = fs::file_size(path, none);
  return !none && size > 0;
}

std::string CopyAway(const std::string& path) {
  std::string folder = (fs::temp_directory_path() / "pigment-chroma-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) {
    throw Failure(PIGMENT_UNAVAILABLE,
                  "cannot make a directory in \"" + fs::temp_directory_path().string() + "\"");
  }
  for (const char* const suffix : {"", "-journal", "-wal"}) {
    if (!fs::exists(path + suffix)) continue;
    std::error_code error;
    fs::copy_file(path + suffix, folder + "/copy" + suffix, error);
    if (!error) continue;
    fs::remove_all(folder);
    throw Failure(PIGMENT_UNAVAILABLE, "cannot copy \"" + path + suffix + "\": " + error.message());
  }
  return folder;
}

}  // namespace

Database::Database(const std::string& path) : path_(path), identity_(Identity()) {
  std::string uri = AsUri(path) + "?mode=ro&immutable=1";
  int flags = SQLITE_OPEN_READONLY;
  if (HasBytes(path + "-journal") || HasBytes(path + "-wal")) {
    copy_folder_ = CopyAway(path);
    uri = AsUri(copy_folder_ + "/copy") + "?mode=rw";
    flags = SQLITE_OPEN_READWRITE;
  }
  const int result = sqlite3_open_v2(uri.c_str(), &handle_,
                                     flags | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, nullptr);
  if (result != SQLITE_OK) {
    const std::string why = sqlite3_errmsg(handle_);
    sqlite3_close(handle_);
    if (!copy_folder_.empty()) fs::remove_all(copy_folder_);
    throw Failure(PIGMENT_DATA_LOSS, "cannot open \"" + path + "\": " + why);
  }
  // What a stranger's schema may make of a query: nothing but reading tables.
  sqlite3_db_config(handle_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(handle_, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(handle_, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
}

Database::~Database() {
  sqlite3_close(handle_);
  std::error_code none;
  if (!copy_folder_.empty()) fs::remove_all(copy_folder_, none);
}

std::string Database::Identity() const { return FileIdentity(path_).dump(); }

void Database::CheckUnchanged() const {
  if (Identity() == identity_) return;
  throw Failure(PIGMENT_ABORTED, "\"" + path_ + "\" has changed meanwhile: nobody may write to it");
}

bool Database::HasTable(const std::string& table) const {
  Statement found(*this, "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?");
  return found.Bind(1, table).Next();
}

bool Database::HasColumn(const std::string& table, const std::string& column) const {
  Statement found(*this, "SELECT 1 FROM pragma_table_info(?) WHERE name = ?");
  return found.Bind(1, table).Bind(2, column).Next();
}

Statement::Statement(const Database& database, const std::string& sql) : database_(database) {
  Require(sqlite3_prepare_v2(database.handle_, sql.c_str(), -1, &handle_, nullptr), SQLITE_OK);
}

void Statement::Require(int result, int wanted) const {
  if (result == wanted) return;
  throw Failure(PIGMENT_DATA_LOSS,
                "\"" + database_.path_ + "\": " + sqlite3_errmsg(database_.handle_));
}

Statement& Statement::Bind(int parameter, const std::string& text) {
  Require(sqlite3_bind_text(handle_, parameter, text.data(), static_cast<int>(text.size()),
                            SQLITE_TRANSIENT),
          SQLITE_OK);
  return *this;
}

Statement& Statement::Bind(int parameter, int64_t number) {
  Require(sqlite3_bind_int64(handle_, parameter, number), SQLITE_OK);
  return *this;
}

void Statement::Restart() { sqlite3_reset(handle_); }

bool Statement::Next() {
  const int result = sqlite3_step(handle_);
  if (result == SQLITE_DONE) return false;
  Require(result, SQLITE_ROW);
  return true;
}

std::string Statement::Text(int column) const {
  std::string text = Bytes(column);
  if (!IsUtf8(text)) {
    throw Failure(PIGMENT_DATA_LOSS, "\"" + database_.path_ + "\": a value of \"" +
                                         sqlite3_column_name(handle_, column) + "\" is no UTF-8");
  }
  return text;
}

std::string Statement::Bytes(int column) const {
  const void* const bytes = sqlite3_column_blob(handle_, column);
  const int size = sqlite3_column_bytes(handle_, column);
  if (bytes == nullptr || size <= 0) return {};
  return std::string(static_cast<const char*>(bytes), static_cast<size_t>(size));
}

}  // namespace pigment_tool
