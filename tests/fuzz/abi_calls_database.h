// SPDX-License-Identifier: Apache-2.0
//
// One fuzzed call for every function of pigment.h: here those of clients and collections.

#pragma once

#include <algorithm>
#include <limits>

#include "tests/fuzz/abi_calls_arrow.h"
#include "tests/fuzz/abi_calls_records.h"
#include "tests/fuzz/abi_calls_shared.h"
#include "tests/fuzz/abi_world.h"

namespace abi_fuzz {

// ---- Embedding functions
// ---------------------------------------------------------------------------------------------

// How the callback behaves, chosen when the function is made. Freed by the library or by its maker,
// never by both.
struct EmbedBehaviour {
  uint8_t mode;
  uint8_t dimension;
};
inline void ReleaseBehaviour(void* user_data) { delete static_cast<EmbedBehaviour*>(user_data); }

inline pigment_status FuzzedEmbed(void* user_data, int32_t, size_t count,
                                  const pigment_text_column*, pigment_embedding_sink* sink) {
  const EmbedBehaviour& how = *static_cast<const EmbedBehaviour*>(user_data);
  const size_t dimension = how.dimension % 5;
  std::vector<float> values((count + 2) * (dimension + 1), 0.5f);
  switch (how.mode % 8) {
    case 0:
      if (pigment_embedding_sink_put(sink, values.data(), count / 2, dimension) != PIGMENT_OK)
        return PIGMENT_ABORTED;
      return pigment_embedding_sink_put(sink, values.data(), count - count / 2, dimension);
    case 1:
      pigment_embedding_sink_fail(sink, "no \xff model", 9);
      return PIGMENT_UNAVAILABLE;
    case 2:
      return how.dimension == PIGMENT_INTERNAL ? 0 : how.dimension;
    case 3:
      return pigment_embedding_sink_put(sink, nullptr, count, dimension);
    case 4:
      values[0] = std::numeric_limits<float>::infinity();
      return pigment_embedding_sink_put(sink, values.data(), count, dimension);
    case 5:
      return pigment_embedding_sink_put(sink, values.data(), count + 1, dimension);
    case 6:
      return pigment_embedding_sink_put(sink, values.data(), count, size_t{1} << 40);
    default:
      return pigment_embedding_sink_put(sink, values.data(), count, 3);
  }
}

// A function for a call, or null. The library frees its user data when the call succeeds, else this
// does.
class FuzzedFunction {
 public:
  explicit FuzzedFunction(Arguments& a) {
    Input& in = a.input();
    if (!in.OneIn(3)) return;
    behaviour_ = new EmbedBehaviour{in.Byte(), in.Byte()};
    a.Size(function_);
    const Text name = a.Name(), config = a.Metadata(), space = a.Name();
    function_.name = name.data;
    function_.name_size = name.size;
    if (in.OneIn(3)) {
      function_.config_json = config.data;
      function_.config_json_size = config.size;
    }
    if (in.OneIn(4)) {
      function_.space = space.data;
      function_.space_size = space.size;
    }
    function_.embed = in.OneIn(16) ? nullptr : FuzzedEmbed;
    function_.release = ReleaseBehaviour;
    function_.user_data = behaviour_;
  }
  ~FuzzedFunction() { delete behaviour_; }

  const pigment_embedding_function* get() const {
    return behaviour_ != nullptr ? &function_ : nullptr;
  }
  void Settle(bool ok) {
    if (ok) behaviour_ = nullptr;
  }

 private:
  pigment_embedding_function function_{};
  EmbedBehaviour* behaviour_ = nullptr;
};

// A table of functions that check what they are told, or one that is refused.
inline pigment_tracing ATracing(Arguments& a) {
  Input& in = a.input();
  pigment_tracing tracing{};
  a.Size(tracing);
  tracing.kinds = in.OneIn(8) ? in.Enum(16) : static_cast<int32_t>(in.Below(8));
  if (!in.OneIn(16)) {
    tracing.begin = [](void*, uint64_t span, uint64_t, int32_t, const char* name, const char* id) {
      Require(span != 0 && name[0] != '\0' && id != nullptr, "a span has a number and a name");
    };
  }
  if (!in.OneIn(16)) {
    tracing.end = [](void*, uint64_t span, pigment_status, size_t count, const char* const* keys,
                     const int64_t*) {
      Require(span != 0, "a span has a number");
      for (size_t i = 0; i < count; ++i) Require(keys[i][0] != '\0', "a number has a name");
    };
  }
  return tracing;
}

inline void FuzzOpen(World& w, Arguments& a, bool is_traced) {
  Input& in = a.input();
  pigment_open_options options{};
  a.Size(options);
  options.sync_mode = in.OneIn(4) ? in.Enum(2) : PIGMENT_SYNC_OFF;
  options.flush_rows_max = static_cast<uint32_t>(in.OneIn(3) ? in.Below(5) : 0);
  if (in.OneIn(8)) options.flush_bytes_max = in.Number();
  if (in.OneIn(8)) options.sync_interval_ms = 1 + in.Byte();
  const uint8_t flags = in.OneIn(4) ? in.Byte() : 0;  // bools of any byte
  std::memcpy(&options.read_only, &flags, 1);
  if (in.OneIn(6)) std::memcpy(&options.must_exist, &flags, 1);
  Text path;
  switch (in.Byte() % 16) {
    case 0:
      path = a.Keep(TheScratch().Path(in.OneIn(2) ? "one" : "two"));
      break;
    case 1:
      path = a.Keep(TheScratch().Path(std::string("nul\0nul", 7)));
      break;
    case 2:
      path = a.Keep(TheScratch().Path("one/missing/deeper"));
      break;
    case 3:
      path = {nullptr, in.Below(9)};
      break;
    default:
      break;
  }
  pigment_client* client = reinterpret_cast<pigment_client*>(8);
  const bool wanted = !in.OneIn(24);
  ErrorSlot slot(w, in);
  const pigment_open_options* const given = in.OneIn(3) ? nullptr : &options;
  pigment_client** const out = wanted ? &client : nullptr;
  const pigment_tracing tracing = is_traced ? ATracing(a) : pigment_tracing{};
  const bool ok =
      slot.Ok(is_traced ? pigment_client_open_traced(path.data, path.size, given, Maybe(tracing, a),
                                                     out, slot.out())
                        : pigment_client_open(path.data, path.size, given, out, slot.out()));
  if (wanted) KeepMade(w.clients, client, ok);
  if (w.clients.size() > 6) {
    pigment_client_free(w.clients.front());
    w.clients.erase(w.clients.begin());
  }
}

// ---- The table
// -------------------------------------------------------------------------------------------------------

inline void AddFacts(std::vector<Entry>& t) {
  t.push_back({"pigment_abi_version", [](World&, Arguments&) {
                 Require(pigment_abi_version() == PIGMENT_ABI_VERSION, "ABI");
               }});
  t.push_back({"pigment_version",
               [](World&, Arguments&) { Require(pigment_version()[0] != '\0', "version"); }});
  t.push_back({"pigment_build_info",
               [](World&, Arguments&) { Require(pigment_build_info()[0] != '\0', "build"); }});
  t.push_back({"pigment_status_name",
               [](World&, Arguments& a) { pigment_status_name(a.input().Enum(18)); }});
  t.push_back({"pigment_status_sqlstate",
               [](World&, Arguments& a) { pigment_status_sqlstate(a.input().Enum(18)); }});
  t.push_back({"pigment_status_retryable",
               [](World&, Arguments& a) { pigment_status_retryable(a.input().Enum(18)); }});
  t.push_back({"pigment_status_fault",
               [](World&, Arguments& a) { pigment_status_fault(a.input().Enum(18)); }});
  t.push_back({"pigment_error_status",
               [](World& w, Arguments& a) { pigment_error_status(AnError(w, a)); }});
  t.push_back({"pigment_error_detail",
               [](World& w, Arguments& a) { pigment_error_detail(AnError(w, a)); }});
  t.push_back({"pigment_error_message", [](World& w, Arguments& a) {
                 Require(pigment_error_message(AnError(w, a)) != nullptr, "a message");
               }});
  t.push_back({"pigment_error_hint", [](World& w, Arguments& a) {
                 Require(pigment_error_hint(AnError(w, a)) != nullptr, "a hint");
               }});
  t.push_back(
      {"pigment_error_row", [](World& w, Arguments& a) { pigment_error_row(AnError(w, a)); }});
  t.push_back({"pigment_error_file", [](World& w, Arguments& a) {
                 Require(pigment_error_file(AnError(w, a)) != nullptr, "a file");
               }});
  t.push_back({"pigment_error_offset",
               [](World& w, Arguments& a) { pigment_error_offset(AnError(w, a)); }});
  t.push_back({"pigment_error_free",
               [](World& w, Arguments& a) { pigment_error_free(Remove(w.errors, a.input())); }});
  t.push_back(
      {"pigment_now_ns", [](World&, Arguments&) { Require(pigment_now_ns() > 0, "a clock"); }});
}

inline void AddSmallObjects(std::vector<Entry>& t) {
  t.push_back({"pigment_limits",
               FuzzBuffer<[](World&, Arguments&, pigment_buffer** json, pigment_error** error) {
                 return pigment_limits(json, error);
               }>});
  t.push_back({"pigment_buffer_data", [](World& w, Arguments& a) {
                 size_t size = 77;
                 const char* data =
                     pigment_buffer_data(Choose(w.buffers, a.input()), MaybeOut(size, a));
                 if (data != nullptr && size != 77)
                   Require(data[size] == '\0', "a buffer ends with NUL");
               }});
  t.push_back({"pigment_buffer_free",
               [](World& w, Arguments& a) { pigment_buffer_free(Remove(w.buffers, a.input())); }});
  t.push_back({"pigment_cancel_new", [](World& w, Arguments& a) {
                 pigment_cancel* made = reinterpret_cast<pigment_cancel*>(8);
                 const bool wanted = !a.input().OneIn(24);
                 ErrorSlot slot(w, a.input());
                 const bool ok = slot.Ok(pigment_cancel_new(wanted ? &made : nullptr, slot.out()));
                 if (wanted) KeepMade(w.cancels, made, ok);
               }});
  t.push_back({"pigment_cancel_set", [](World& w, Arguments& a) {
                 if (a.input().OneIn(4)) pigment_cancel_set(Choose(w.cancels, a.input()));
               }});
  t.push_back({"pigment_cancel_is_set", [](World& w, Arguments& a) {
                 pigment_cancel_is_set(Choose(w.cancels, a.input()));
               }});
  t.push_back({"pigment_cancel_progress", [](World& w, Arguments& a) {
                 pigment_progress progress{};
                 a.Size(progress);
                 ErrorSlot slot(w, a.input());
                 slot.Ok(pigment_cancel_progress(Choose(w.cancels, a.input()),
                                                 MaybeOut(progress, a), slot.out()));
               }});
  t.push_back({"pigment_cancel_free",
               [](World& w, Arguments& a) { pigment_cancel_free(Remove(w.cancels, a.input())); }});
  t.push_back({"pigment_call_options_init", [](World&, Arguments& a) {
                 pigment_call_options options;
                 pigment_call_options_init(MaybeOut(options, a));
               }});
  t.push_back({"pigment_open_options_init", [](World&, Arguments& a) {
                 pigment_open_options options;
                 pigment_open_options_init(MaybeOut(options, a));
               }});
  t.push_back({"pigment_collection_options_init", [](World&, Arguments& a) {
                 pigment_collection_options options;
                 pigment_collection_options_init(MaybeOut(options, a));
               }});
  t.push_back({"pigment_text_search_request_init", [](World&, Arguments& a) {
                 pigment_text_search_request request;
                 pigment_text_search_request_init(MaybeOut(request, a));
               }});
  t.push_back({"pigment_query_request_init", [](World&, Arguments& a) {
                 pigment_query_request request;
                 pigment_query_request_init(MaybeOut(request, a));
               }});
}

inline void AddEmbedding(std::vector<Entry>& t) {
  t.push_back({"pigment_embedding_sink_put", [](World&, Arguments& a) {
                 const float value = 1;
                 Require(pigment_embedding_sink_put(nullptr, a.input().OneIn(2) ? &value : nullptr,
                                                    1, 1) != PIGMENT_OK,
                         "no sink, no success");
               }});
  t.push_back({"pigment_embedding_sink_fail", [](World&, Arguments& a) {
                 const Text text = a.AnyText();
                 pigment_embedding_sink_fail(nullptr, text.data, text.size);
               }});
  t.push_back({"pigment_embed_lexical", [](World& w, Arguments& a) {
                 const size_t count = a.input().Below(4);
                 const pigment_text_column texts = a.Column(count);
                 size_t dimension = a.input().Below(20);
                 std::vector<float> values(count * dimension + 1);
                 float* out = values.data();
                 if (a.input().OneIn(16)) out = nullptr;
                 if (a.input().OneIn(16)) dimension = size_t{1} << 40;
                 ErrorSlot slot(w, a.input());
                 slot.Ok(pigment_embed_lexical(count, Maybe(texts, a), dimension, out, slot.out()));
               }});
  t.push_back({"pigment_embedding_function_lexical", [](World& w, Arguments& a) {
                 pigment_embedding_function function{};
                 a.Size(function);
                 const size_t dimension = a.input().OneIn(8)
                                              ? static_cast<size_t>(a.input().Number())
                                              : a.input().Below(40);
                 ErrorSlot slot(w, a.input());
                 const bool ok = slot.Ok(pigment_embedding_function_lexical(
                     dimension, MaybeOut(function, a), slot.out()));
                 if (!ok || function.embed == nullptr || w.clients.empty()) return;
                 auto options = pigment_collection_options{};
                 options.struct_size = sizeof options;
                 options.embedding_function = &function;
                 options.get_or_create = true;
                 pigment_collection* made = nullptr;
                 ErrorSlot second(w, a.input());
                 const bool created = second.Ok(pigment_client_create_collection(
                     w.clients.back(), nullptr, "words", 5, &options, &made, second.out()));
                 KeepMade(w.collections, made, created);
               }});
}

inline void AddClient(std::vector<Entry>& t) {
  t.push_back({"pigment_client_open", [](World& w, Arguments& a) { FuzzOpen(w, a, false); }});
  t.push_back({"pigment_client_open_traced", [](World& w, Arguments& a) { FuzzOpen(w, a, true); }});
  t.push_back({"pigment_client_close", [](World& w, Arguments& a) {
                 if (!a.input().OneIn(6)) return;
                 ErrorSlot slot(w, a.input());
                 slot.Ok(pigment_client_close(AClient(w, a), slot.out()));
               }});
  t.push_back({"pigment_client_free", [](World& w, Arguments& a) {
                 if (a.input().OneIn(6)) pigment_client_free(Remove(w.clients, a.input()));
               }});
  t.push_back({"pigment_client_flush", [](World& w, Arguments& a) {
                 ErrorSlot slot(w, a.input());
                 slot.Ok(pigment_client_flush(AClient(w, a), slot.out()));
               }});
  t.push_back({"pigment_client_flush_with", [](World& w, Arguments& a) {
                 const CallOptions options(w, a);
                 ErrorSlot slot(w, a.input());
                 slot.Ok(pigment_client_flush_with(AClient(w, a), options.get(), slot.out()));
               }});
  t.push_back({"pigment_client_position", [](World& w, Arguments& a) {
                 uint64_t position = 77;
                 ErrorSlot slot(w, a.input());
                 slot.Ok(pigment_client_position(AClient(w, a), MaybeOut(position, a), slot.out()));
               }});
  t.push_back({"pigment_client_refresh", [](World& w, Arguments& a) {
                 uint64_t position = 77;
                 ErrorSlot slot(w, a.input());
                 slot.Ok(pigment_client_refresh(AClient(w, a), MaybeOut(position, a), slot.out()));
               }});
}

// A folder for copies; sometimes one that is a store, sometimes no path at all.
inline Text ACopyPath(Arguments& a) {
  static constexpr const char* kNames[] = {"one", "copy", "other", "one/missing/deeper"};
  Input& in = a.input();
  if (in.OneIn(12)) return {nullptr, in.Below(9)};
  return a.Keep(TheScratch().Path(kNames[in.Below(std::size(kNames))]));
}

// kCall(world, arguments, options, result, error).
template <auto kCall>
void FuzzCompact(World& w, Arguments& a) {
  const CallOptions options(w, a);
  pigment_compaction result{};
  a.Size(result);
  pigment_compaction* out = MaybeOut(result, a);
  ErrorSlot slot(w, a.input());
  slot.Ok(kCall(w, a, options.get(), out, slot.out()));
}

inline void FuzzContains(World& w, Arguments& a) {
  const CallOptions options(w, a);
  const size_t count = a.input().Below(6);
  const pigment_text_column ids = a.Column(count);
  uint8_t present[6] = {7, 7, 7, 7, 7, 7};
  ErrorSlot slot(w, a.input());
  slot.Ok(pigment_collection_contains(ACollection(w, a), count,
                                      a.input().OneIn(24) ? nullptr : &ids, options.get(),
                                      a.input().OneIn(24) ? nullptr : present, slot.out()));
}

inline void AddMaintenance(std::vector<Entry>& t) {
  t.push_back({"pigment_client_backup", FuzzReport<[](World& w, Arguments& a, auto... rest) {
                 const Text path = ACopyPath(a);
                 return pigment_client_backup(AClient(w, a), path.data, path.size, rest...);
               }>});
  t.push_back({"pigment_client_check", FuzzReport<[](World& w, Arguments& a, auto... rest) {
                 return pigment_client_check(AClient(w, a), a.input().OneIn(2), rest...);
               }>});
  t.push_back({"pigment_check", FuzzReport<[](World&, Arguments& a, auto... rest) {
                 const Text path = ACopyPath(a);
                 return pigment_check(path.data, path.size, a.input().OneIn(2), rest...);
               }>});
  t.push_back({"pigment_repair", FuzzReport<[](World&, Arguments& a, auto... rest) {
                 const Text from = ACopyPath(a), to = ACopyPath(a);
                 return pigment_repair(from.data, from.size, to.data, to.size, rest...);
               }>});
  t.push_back({"pigment_client_statistics",
               FuzzBuffer<[](World& w, Arguments& a, pigment_buffer** json, pigment_error** error) {
                 return pigment_client_statistics(AClient(w, a), json, error);
               }>});
  t.push_back({"pigment_collection_segments",
               FuzzBuffer<[](World& w, Arguments& a, pigment_buffer** json, pigment_error** error) {
                 return pigment_collection_segments(ACollection(w, a), json, error);
               }>});
  t.push_back({"pigment_client_compact", FuzzCompact<[](World& w, Arguments& a, auto... rest) {
                 return pigment_client_compact(AClient(w, a), rest...);
               }>});
  t.push_back({"pigment_collection_compact", FuzzCompact<[](World& w, Arguments& a, auto... rest) {
                 return pigment_collection_compact(ACollection(w, a), rest...);
               }>});
  t.push_back({"pigment_collection_contains", FuzzContains});
}

inline void AddNamespaces(std::vector<Entry>& t) {
  t.push_back({"pigment_client_create_tenant", [](World& w, Arguments& a) {
                 const Text name = a.Name();
                 ErrorSlot slot(w, a.input());
                 slot.Ok(
                     pigment_client_create_tenant(AClient(w, a), name.data, name.size, slot.out()));
               }});
  t.push_back({"pigment_client_get_tenant",
               FuzzBuffer<[](World& w, Arguments& a, pigment_buffer** json, pigment_error** e) {
                 const Text name = a.Name();
                 return pigment_client_get_tenant(AClient(w, a), name.data, name.size, json, e);
               }>});
  t.push_back({"pigment_client_list_tenants",
               FuzzBuffer<[](World& w, Arguments& a, pigment_buffer** json, pigment_error** e) {
                 return pigment_client_list_tenants(AClient(w, a), json, e);
               }>});
  t.push_back({"pigment_client_delete_tenant", [](World& w, Arguments& a) {
                 const Text name = a.Name();
                 ErrorSlot slot(w, a.input());
                 slot.Ok(
                     pigment_client_delete_tenant(AClient(w, a), name.data, name.size, slot.out()));
               }});
  t.push_back({"pigment_client_create_database", [](World& w, Arguments& a) {
                 const Text tenant = a.input().OneIn(3) ? a.Name() : Text{}, name = a.Name();
                 ErrorSlot slot(w, a.input());
                 slot.Ok(pigment_client_create_database(AClient(w, a), tenant.data, tenant.size,
                                                        name.data, name.size, slot.out()));
               }});
  t.push_back({"pigment_client_get_database",
               FuzzBuffer<[](World& w, Arguments& a, pigment_buffer** json, pigment_error** e) {
                 const Text tenant = a.input().OneIn(3) ? a.Name() : Text{}, name = a.Name();
                 return pigment_client_get_database(AClient(w, a), tenant.data, tenant.size,
                                                    name.data, name.size, json, e);
               }>});
  t.push_back({"pigment_client_list_databases",
               FuzzBuffer<[](World& w, Arguments& a, pigment_buffer** json, pigment_error** e) {
                 const Text tenant = a.input().OneIn(3) ? a.Name() : Text{};
                 return pigment_client_list_databases(AClient(w, a), tenant.data, tenant.size,
                                                      static_cast<int64_t>(a.input().Number()),
                                                      static_cast<int64_t>(a.input().Number()),
                                                      json, e);
               }>});
  t.push_back({"pigment_client_delete_database", [](World& w, Arguments& a) {
                 const Text tenant = a.input().OneIn(3) ? a.Name() : Text{}, name = a.Name();
                 ErrorSlot slot(w, a.input());
                 slot.Ok(pigment_client_delete_database(AClient(w, a), tenant.data, tenant.size,
                                                        name.data, name.size, slot.out()));
               }});
}

inline pigment_status FuzzCreate(World& w, Arguments& a, pigment_collection** made,
                                 pigment_error** error) {
  FuzzedFunction function(a);
  const FuzzedScope scope(a);
  pigment_collection_options options{};
  a.Size(options);
  const Text name = a.Name(), metadata = a.Metadata(), configuration = a.Configuration();
  Input& in = a.input();
  if (in.OneIn(3)) {
    options.metadata_json = metadata.data;
    options.metadata_json_size = metadata.size;
  }
  if (in.OneIn(3)) {
    options.configuration_json = configuration.data;
    options.configuration_json_size = configuration.size;
  }
  const Text schema = a.Schema();
  if (in.OneIn(4)) {
    options.schema_json = schema.data;
    options.schema_json_size = schema.size;
  }
  options.embedding_function = function.get();
  const uint8_t flag = in.OneIn(3) ? in.Byte() : 1;
  std::memcpy(&options.get_or_create, &flag, 1);
  const bool with_options = !in.OneIn(6);
  const pigment_status status =
      pigment_client_create_collection(AClient(w, a), scope.get(), name.data, name.size,
                                       with_options ? &options : nullptr, made, error);
  function.Settle(status == PIGMENT_OK && with_options);
  return status;
}

inline void AddCollections(std::vector<Entry>& t) {
  t.push_back({"pigment_client_create_collection", FuzzMake<FuzzCreate>});
  t.push_back({"pigment_client_get_collection",
               FuzzMake<[](World& w, Arguments& a, pigment_collection** found, pigment_error** e) {
                 FuzzedFunction function(a);
                 const FuzzedScope scope(a);
                 const Text name = a.Name();
                 const pigment_status status = pigment_client_get_collection(
                     AClient(w, a), scope.get(), name.data, name.size, function.get(), found, e);
                 function.Settle(status == PIGMENT_OK);
                 return status;
               }>});
  t.push_back({"pigment_client_get_collection_by_id",
               FuzzMake<[](World& w, Arguments& a, pigment_collection** found, pigment_error** e) {
                 FuzzedFunction function(a);
                 Text id = a.Name();
                 pigment_buffer* json = nullptr;
                 if (!w.collections.empty() &&
                     pigment_collection_describe(w.collections.back(), &json, nullptr) ==
                         PIGMENT_OK) {
                   if (!a.input().OneIn(4))
                     id = a.Keep(std::string(pigment_buffer_data(json, nullptr)).substr(7, 36));
                   pigment_buffer_free(json);
                 }
                 const pigment_status status = pigment_client_get_collection_by_id(
                     AClient(w, a), id.data, id.size, function.get(), found, e);
                 function.Settle(status == PIGMENT_OK);
                 return status;
               }>});
  t.push_back({"pigment_client_list_collections",
               FuzzBuffer<[](World& w, Arguments& a, pigment_buffer** json, pigment_error** e) {
                 const FuzzedScope scope(a);
                 return pigment_client_list_collections(
                     AClient(w, a), scope.get(), static_cast<int64_t>(a.input().Number()),
                     static_cast<int64_t>(a.input().Number()), json, e);
               }>});
  t.push_back({"pigment_client_count_collections", [](World& w, Arguments& a) {
                 const FuzzedScope scope(a);
                 uint64_t count = 77;
                 ErrorSlot slot(w, a.input());
                 slot.Ok(pigment_client_count_collections(AClient(w, a), scope.get(),
                                                          MaybeOut(count, a), slot.out()));
               }});
  t.push_back({"pigment_client_delete_collection", [](World& w, Arguments& a) {
                 const FuzzedScope scope(a);
                 const Text name = a.Name();
                 ErrorSlot slot(w, a.input());
                 slot.Ok(pigment_client_delete_collection(AClient(w, a), scope.get(), name.data,
                                                          name.size, slot.out()));
               }});
  t.push_back({"pigment_collection_describe",
               FuzzBuffer<[](World& w, Arguments& a, pigment_buffer** json, pigment_error** e) {
                 return pigment_collection_describe(ACollection(w, a), json, e);
               }>});
  t.push_back(
      {"pigment_collection_modify", [](World& w, Arguments& a) {
         pigment_modify_options options{};
         a.Size(options);
         const Text name = a.Name(), metadata = a.Metadata(), configuration = a.Configuration();
         if (a.input().OneIn(2)) {
           options.name = name.data;
           options.name_size = name.size;
         }
         if (a.input().OneIn(2)) {
           options.metadata_json = metadata.data;
           options.metadata_json_size = metadata.size;
         }
         if (a.input().OneIn(2)) {
           options.configuration_json = configuration.data;
           options.configuration_json_size = configuration.size;
         }
         ErrorSlot slot(w, a.input());
         slot.Ok(pigment_collection_modify(ACollection(w, a), Maybe(options, a), slot.out()));
       }});
  t.push_back({"pigment_collection_fork",
               FuzzMake<[](World& w, Arguments& a, pigment_collection** fork, pigment_error** e) {
                 const Text name = a.Name();
                 return pigment_collection_fork(ACollection(w, a), name.data, name.size, fork, e);
               }>});
  t.push_back({"pigment_collection_flush", [](World& w, Arguments& a) {
                 ErrorSlot slot(w, a.input());
                 slot.Ok(pigment_collection_flush(ACollection(w, a), slot.out()));
               }});
  t.push_back({"pigment_collection_flush_with", [](World& w, Arguments& a) {
                 const CallOptions options(w, a);
                 ErrorSlot slot(w, a.input());
                 slot.Ok(
                     pigment_collection_flush_with(ACollection(w, a), options.get(), slot.out()));
               }});
  t.push_back({"pigment_collection_free", [](World& w, Arguments& a) {
                 if (a.input().OneIn(3)) pigment_collection_free(Remove(w.collections, a.input()));
               }});
}

inline void AddDatabaseCalls(std::vector<Entry>& table) {
  AddFacts(table);
  AddSmallObjects(table);
  AddEmbedding(table);
  AddClient(table);
  AddMaintenance(table);
  AddNamespaces(table);
  AddCollections(table);
  AddRecords(table);
  AddResults(table);
  AddArrow(table);
}

}  // namespace abi_fuzz
