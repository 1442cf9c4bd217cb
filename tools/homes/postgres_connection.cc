// SPDX-License-Identifier: Apache-2.0
//
// Statements through libpq.

#if PIGMENT_TOOL_HAS_LIBPQ

#include "tools/homes/postgres_connection.h"

#include <poll.h>

#include <array>
#include <cstdio>
#include <utility>

#include "tools/homes/postgres_values.h"
#include "tools/output.h"

namespace pigment_tool {
namespace {

constexpr int kBinary = 1;
constexpr int kLookMs = 200;  // how long an interrupt between two looks may wait

std::string Trimmed(const char* text) {
  std::string trimmed = text != nullptr ? text : "";
  while (trimmed.ends_with('\n')) trimmed.pop_back();
  return trimmed;
}

Failure FailureOf(pigment_status status, const std::string& text) {
  const char* const name = pigment_status_name(status);
  return Failure(status, std::string(name != nullptr ? name : "unknown status") + ": " + text);
}

Failure FailureOf(const PGresult* result) {
  const std::string sqlstate = Trimmed(PQresultErrorField(result, PG_DIAG_SQLSTATE));
  std::string text = Trimmed(PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY));
  if (text.empty()) text = Trimmed(PQresultErrorMessage(result));
  const std::string detail = Trimmed(PQresultErrorField(result, PG_DIAG_MESSAGE_DETAIL));
  const std::string hint = Trimmed(PQresultErrorField(result, PG_DIAG_MESSAGE_HINT));
  if (!detail.empty()) text += " (" + detail + ")";
  if (!hint.empty()) text += "\nhint: " + hint;
  if (IsInterrupted()) return FailureOf(PIGMENT_CANCELLED, text);
  // A connection that is lost in the middle has no SQLSTATE.
  return FailureOf(sqlstate.empty() ? PIGMENT_UNAVAILABLE : StatusOfSqlState(sqlstate), text);
}

void PrintNotice(void*, const PGresult* notice) {
  const std::string text = Trimmed(PQresultErrorField(notice, PG_DIAG_MESSAGE_PRIMARY));
  std::fprintf(stderr, "pigment: the server says: %s\n", Printable(text).c_str());
}

}  // namespace

Parameter TextParameter(std::string text) { return {kTypeText, std::move(text)}; }

Parameter TextOrNull(const std::string& text) {
  if (text.empty()) return {kTypeText, std::nullopt};
  return TextParameter(text);
}

std::optional<std::string_view> Answer::Text(size_t row, int column) const {
  const int at = static_cast<int>(row);
  if (PQgetisnull(result_.get(), at, column) == 1) return std::nullopt;
  return std::string_view(PQgetvalue(result_.get(), at, column),
                          static_cast<size_t>(PQgetlength(result_.get(), at, column)));
}

Connection::Connection(const std::string& uri) {
  const std::array<const char*, 4> names = {"dbname", "client_encoding",
                                            "fallback_application_name", nullptr};
  const std::array<const char*, 4> values = {uri.c_str(), "UTF8", "pigment", nullptr};
  connection_.reset(PQconnectdbParams(names.data(), values.data(), /*expand_dbname=*/1));
  if (connection_ == nullptr) throw std::bad_alloc();
  if (PQstatus(connection_.get()) != CONNECTION_OK) FailHere(PIGMENT_UNAVAILABLE);
  PQsetNoticeReceiver(connection_.get(), PrintNotice, nullptr);
}

Answer Connection::Run(const std::string& sql, const std::vector<Parameter>& parameters) {
  std::vector<Oid> types;
  std::vector<const char*> values;
  std::vector<int> sizes;
  for (const Parameter& parameter : parameters) {
    types.push_back(parameter.type);
    values.push_back(parameter.value ? parameter.value->data() : nullptr);
    sizes.push_back(parameter.value ? static_cast<int>(parameter.value->size()) : 0);
  }
  const std::vector<int> formats(parameters.size(), kBinary);
  if (PQsendQueryParams(connection_.get(), sql.c_str(), static_cast<int>(parameters.size()),
                        types.data(), values.data(), sizes.data(), formats.data(), kBinary) == 0) {
    FailHere(PIGMENT_UNAVAILABLE);
  }
  Wait();
  Answer answer(nullptr);
  std::optional<Failure> failure;
  while (PGresult* const result = PQgetResult(connection_.get())) {
    const ExecStatusType status = PQresultStatus(result);
    const bool is_fine = status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK;
    if (!is_fine && !failure) failure.emplace(FailureOf(result));
    answer = Answer(result);
    Wait();
  }
  if (failure) throw Failure(*failure);
  return answer;
}

std::string Connection::RunForText(const std::string& sql,
                                   const std::vector<Parameter>& parameters) {
  const Answer answer = Run(sql, parameters);
  if (answer.rows() == 0) return "";
  return std::string(answer.Text(0, 0).value_or(""));
}

nlohmann::json Connection::identity() const {
  PGconn* const connection = connection_.get();
  return {{"host", Trimmed(PQhost(connection))},
          {"port", Trimmed(PQport(connection))},
          {"database", Trimmed(PQdb(connection))},
          {"user", Trimmed(PQuser(connection))}};
}

void Connection::FailHere(pigment_status status) const {
  throw FailureOf(status, Trimmed(PQerrorMessage(connection_.get())));
}

// Until there is a result. A statement that is interrupted is cancelled once, and answers then.
void Connection::Wait() {
  bool is_cancelled = false;
  while (PQisBusy(connection_.get()) == 1) {
    if (IsInterrupted() && !is_cancelled) {
      is_cancelled = true;
      std::array<char, 256> said{};
      PGcancel* const cancel = PQgetCancel(connection_.get());
      if (cancel != nullptr) PQcancel(cancel, said.data(), said.size());
      PQfreeCancel(cancel);
    }
    pollfd socket{PQsocket(connection_.get()), POLLIN, 0};
    poll(&socket, 1, kLookMs);
    if (PQconsumeInput(connection_.get()) == 0) FailHere(PIGMENT_UNAVAILABLE);
  }
}

}  // namespace pigment_tool

#endif
