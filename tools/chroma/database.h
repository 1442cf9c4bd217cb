// SPDX-License-Identifier: Apache-2.0
//
// A SQLite database that somebody else owns: opened so that nothing can be written, not even what a
// reader of SQLite usually writes beside it. One thread.

#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace pigment_tool {

class Database {
 public:
  // Where a journal is left of a writer that died, a copy in a temporary directory is opened.
  explicit Database(const std::string& path);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  bool HasTable(const std::string& table) const;
  bool HasColumn(const std::string& table, const std::string& column) const;
  // Throws ABORTED when the file is no more what it was when it was opened.
  void CheckUnchanged() const;

 private:
  friend class Statement;

  std::string Identity() const;

  std::string path_;
  std::string identity_;
  std::string copy_folder_;  // empty: none
  sqlite3* handle_ = nullptr;
};

// A query and where it is. Columns are numbered from 0.
class Statement {
 public:
  Statement(const Database& database, const std::string& sql);
  ~Statement() { sqlite3_finalize(handle_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  Statement& Bind(int parameter, const std::string& text);  // from 1 on
  Statement& Bind(int parameter, int64_t number);
  void Restart();
  bool Next();

  bool IsNull(int column) const { return sqlite3_column_type(handle_, column) == SQLITE_NULL; }
  bool IsBlob(int column) const { return sqlite3_column_type(handle_, column) == SQLITE_BLOB; }
  std::string Text(int column) const;  // fails (DATA_LOSS) on what is no UTF-8
  std::string Bytes(int column) const;
  int64_t Integer(int column) const { return sqlite3_column_int64(handle_, column); }
  double Float(int column) const { return sqlite3_column_double(handle_, column); }

 private:
  void Require(int result, int wanted) const;

  const Database& database_;
  sqlite3_stmt* handle_ = nullptr;
};

}  // namespace pigment_tool
