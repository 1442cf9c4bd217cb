// SPDX-License-Identifier: Apache-2.0
//
// One connection to PostgreSQL and one prepared statement, executed with the parameters of a file.
// Client and server share a core, so what a client takes is missing from the rate: hence no
// scripting language. The server is found by libpq's environment. One thread.
//
//   postgres_client --statement SQL [--set SQL]... [--parameters FILE --width N] [--k N]
//                   [--seconds S] [--seconds-max S] [--warm N] [--mode repeat|once|transaction]
//                   [--cpu N] [--times FILE] [--answers FILE]
//
// The file of parameters has `width` values for each execution, each as a 32-bit length and its
// bytes in the server's binary format. Mode `repeat` goes through them until each was used and
// `seconds` are over; `once` uses each once, `transaction` as well, between BEGIN and COMMIT. All
// end after `seconds-max`. When it has connected, prepared and executed `warm` times it prints
// "ready" and waits for a line; then it works, and prints figures as JSON. `times` gets
// microseconds as doubles, `answers` k 32-bit numbers for each execution of the first round, -1
// for rows that are missing.

#include <arpa/inet.h>
#include <libpq-fe.h>
#include <sched.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace pigment_bench {
namespace {

constexpr const char* kPrepared = "measured";

[[noreturn]] void Fail(const std::string& message) {
  std::fprintf(stderr, "postgres_client: %s\n", message.c_str());
  std::exit(1);
}

enum class Mode { kRepeat, kOnce, kTransaction };

struct Options {
  std::string statement;
  std::vector<std::string> sets;
  std::string parameters, times, answers;
  size_t width = 0, k = 0, warm = 0;
  double seconds = 1, seconds_max = 1e9;
  Mode mode = Mode::kRepeat;
  int cpu = -1;
};

Mode ParseMode(std::string_view text) {
  if (text == "repeat") return Mode::kRepeat;
  if (text == "once") return Mode::kOnce;
  if (text == "transaction") return Mode::kTransaction;
  Fail("no mode \"" + std::string(text) + "\"; there are: repeat once transaction");
}

Options Parse(int count, char** arguments) {
  Options options;
  for (int i = 1; i < count; i += 2) {
    const std::string name = arguments[i];
    if (i + 1 == count) Fail(name + " lacks its value");
    const char* value = arguments[i + 1];
    if (name == "--statement")
      options.statement = value;
    else if (name == "--set")
      options.sets.emplace_back(value);
    else if (name == "--parameters")
      options.parameters = value;
    else if (name == "--width")
      options.width = std::strtoul(value, nullptr, 10);
    else if (name == "--k")
      options.k = std::strtoul(value, nullptr, 10);
    else if (name == "--seconds")
      options.seconds = std::strtod(value, nullptr);
    else if (name == "--seconds-max")
      options.seconds_max = std::strtod(value, nullptr);
    else if (name == "--warm")
      options.warm = std::strtoul(value, nullptr, 10);
    else if (name == "--mode")
      options.mode = ParseMode(value);
    else if (name == "--cpu")
      options.cpu = std::atoi(value);
    else if (name == "--times")
      options.times = value;
    else if (name == "--answers")
      options.answers = value;
    else
      Fail("no option \"" + name + "\"");
  }
  if (options.statement.empty()) Fail("--statement is missing");
  return options;
}

// What each execution is given; the pointers are into `bytes`.
struct Parameters {
  std::string bytes;
  size_t width = 0;
  std::vector<const char*> values;
  std::vector<int> lengths;
  std::vector<int> formats;

  size_t count() const { return width == 0 ? 1 : values.size() / width; }
};

Parameters ReadParameters(const Options& options) {
  Parameters parameters;
  parameters.width = options.width;
  parameters.formats.assign(options.width, 1);
  if (options.width == 0) return parameters;
  std::ifstream file(options.parameters, std::ios::binary);
  if (!file) Fail("cannot open " + options.parameters);
  parameters.bytes.assign(std::istreambuf_iterator<char>(file), {});
  const std::string& bytes = parameters.bytes;
  for (size_t at = 0; at < bytes.size();) {
    int32_t length;
    if (bytes.size() - at < sizeof length) Fail(options.parameters + " is cut short");
    std::memcpy(&length, bytes.data() + at, sizeof length);
    at += sizeof length;
    if (length < 0 || bytes.size() - at < static_cast<size_t>(length))
      Fail(options.parameters + " is cut short");
    parameters.values.push_back(bytes.data() + at);
    parameters.lengths.push_back(length);
    at += static_cast<size_t>(length);
  }
  if (parameters.values.empty() || parameters.values.size() % options.width != 0)
    Fail(options.parameters + " has " + std::to_string(parameters.values.size()) + " values");
  return parameters;
}

struct ResultDeleter {
  void operator()(PGresult* result) const { PQclear(result); }
};
using Result = std::unique_ptr<PGresult, ResultDeleter>;

class Connection {
 public:
  Connection() : connection_(PQconnectdb("")) {
    if (PQstatus(connection_) != CONNECTION_OK) Fail(PQerrorMessage(connection_));
  }
  ~Connection() { PQfinish(connection_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  int backend() const { return PQbackendPID(connection_); }

  void Run(const std::string& sql) { Check(Result(PQexec(connection_, sql.c_str()))); }

  void Prepare(const std::string& sql) {
    Check(Result(PQprepare(connection_, kPrepared, sql.c_str(), 0, nullptr)));
  }

  Result Execute(const Parameters& parameters, size_t which) {
    const size_t first = which * parameters.width;
    return Check(
        Result(PQexecPrepared(connection_, kPrepared, static_cast<int>(parameters.width),
                              parameters.values.data() + first, parameters.lengths.data() + first,
                              parameters.formats.data(), 1)));
  }

 private:
  Result Check(Result result) {
    const ExecStatusType status = PQresultStatus(result.get());
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) Fail(PQerrorMessage(connection_));
    return result;
  }

  PGconn* connection_;
};

void Pin(int cpu, int process) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(static_cast<size_t>(cpu), &cpus);
  if (sched_setaffinity(process, sizeof cpus, &cpus) != 0)
    Fail("cannot pin process " + std::to_string(process) + " to processor " + std::to_string(cpu));
}

void KeepAnswer(const PGresult* result, size_t k, std::vector<int32_t>* answers) {
  const size_t rows = static_cast<size_t>(PQntuples(result));
  if (rows > k) Fail("an answer has " + std::to_string(rows) + " rows");
  for (size_t row = 0; row < k; ++row) {
    int32_t id = -1;
    if (row < rows) {
      if (PQgetlength(result, static_cast<int>(row), 0) != sizeof id) Fail("an id is no int4");
      uint32_t sent;
      std::memcpy(&sent, PQgetvalue(result, static_cast<int>(row), 0), sizeof sent);
      id = static_cast<int32_t>(ntohl(sent));
    }
    answers->push_back(id);
  }
}

template <typename T>
void WriteFile(const std::string& path, const std::vector<T>& values) {
  if (path.empty()) return;
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(values.data()),
             static_cast<std::streamsize>(values.size() * sizeof(T)));
  if (!file.flush()) Fail("cannot write " + path);
}

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Figures {
  std::vector<double> times;  // microseconds
  std::vector<int32_t> answers;
  double seconds = 0;
};

Figures Work(Connection& connection, const Parameters& parameters, const Options& options) {
  Figures figures;
  figures.times.reserve(1 << 16);
  const size_t count = parameters.count();
  const double begin = Now();
  double before = begin;
  if (options.mode == Mode::kTransaction) connection.Run("BEGIN");
  for (size_t done = 0;; ++done) {
    const bool is_first_round = done < count;
    if (!is_first_round && (options.mode != Mode::kRepeat || before - begin >= options.seconds))
      break;
    if (done > 0 && before - begin >= options.seconds_max) break;
    const Result result = connection.Execute(parameters, done % count);
    if (is_first_round && options.k > 0) KeepAnswer(result.get(), options.k, &figures.answers);
    const double after = Now();
    figures.times.push_back((after - before) * 1e6);
    before = after;
  }
  if (options.mode == Mode::kTransaction) connection.Run("COMMIT");
  figures.seconds = Now() - begin;
  return figures;
}

void Main(const Options& options) {
  const Parameters parameters = ReadParameters(options);
  if (options.cpu >= 0) Pin(options.cpu, 0);
  Connection connection;
  if (options.cpu >= 0) Pin(options.cpu, connection.backend());
  for (const std::string& sql : options.sets) connection.Run(sql);
  connection.Prepare(options.statement);
  for (size_t i = 0; i < options.warm; ++i) connection.Execute(parameters, i % parameters.count());
  std::printf("ready\n");
  std::fflush(stdout);
  if (std::getchar() == EOF) Fail("nobody waits for figures");
  const Figures figures = Work(connection, parameters, options);
  WriteFile(options.times, figures.times);
  WriteFile(options.answers, figures.answers);
  std::printf("{\"executions\": %zu, \"seconds\": %.9f, \"backend\": %d}\n", figures.times.size(),
              figures.seconds, connection.backend());
}

}  // namespace
}  // namespace pigment_bench

int main(int count, char** arguments) {
  pigment_bench::Main(pigment_bench::Parse(count, arguments));
  return 0;
}
