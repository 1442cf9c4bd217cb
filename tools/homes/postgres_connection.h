// SPDX-License-Identifier: Apache-2.0
//
// A session of a PostgreSQL server, through libpq. One thread. A statement ends when the program is
// interrupted. What the server says is text from outside: notices are printed as one line each.

#pragma once

#if PIGMENT_TOOL_HAS_LIBPQ

#include <libpq-fe.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/json.h"
#include "tools/session.h"

namespace pigment_tool {

struct Parameter {
  uint32_t type;                     // OID
  std::optional<std::string> value;  // in binary form; absent: NULL
};
inline constexpr uint32_t kTypeText = 25;
inline constexpr uint32_t kTypeJsonb = 3802;
inline constexpr uint32_t kTypeTextArray = 1009;
inline constexpr uint32_t kTypeJsonbArray = 3807;

Parameter TextParameter(std::string text);
Parameter TextOrNull(const std::string& text);  // empty: NULL

// Rows in binary form; what Text gives is valid as long as this.
class Answer {
 public:
  explicit Answer(PGresult* result) : result_(result) {}
  size_t rows() const { return static_cast<size_t>(PQntuples(result_.get())); }
  std::optional<std::string_view> Text(size_t row, int column) const;

 private:
  struct Clear {
    void operator()(PGresult* result) const { PQclear(result); }
  };
  std::unique_ptr<PGresult, Clear> result_;
};

class Connection {
 public:
  // What the URI leaves out libpq takes from where it always does. Throws Failure.
  explicit Connection(const std::string& uri);

  // One statement; its error is a Failure with the status of its SQLSTATE.
  Answer Run(const std::string& sql, const std::vector<Parameter>& parameters = {});
  std::string RunForText(const std::string& sql, const std::vector<Parameter>& parameters);

  // {"host","port","database","user"}
  nlohmann::json identity() const;

 private:
  struct Finish {
    void operator()(PGconn* connection) const { PQfinish(connection); }
  };

  [[noreturn]] void FailHere(pigment_status status) const;
  void Wait();

  std::unique_ptr<PGconn, Finish> connection_;
};

}  // namespace pigment_tool

#endif
