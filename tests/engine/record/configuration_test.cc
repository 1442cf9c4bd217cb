// SPDX-License-Identifier: Apache-2.0
//
// Tests of engine/record/configuration.h.

#include "engine/record/configuration.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/support/status_matchers.h"

namespace pigment {
namespace {

constexpr const char* kHnswDefaults =
    R"({"hnsw":{"space":"l2","ef_construction":100,"ef_search":100,"max_neighbors":16,"batch_size":100,)"
    R"("sync_threshold":1000,"resize_factor":1.2},"spann":null})";
constexpr const char* kSpannDefaults =
    R"({"hnsw":null,"spann":{"space":"l2","search_nprobe":64,"write_nprobe":32,"search_rng_factor":1.0,)"
    R"("search_rng_epsilon":10.0,"write_rng_factor":1.0,"write_rng_epsilon":5.0,"nreplica_count":8,"split_threshold":50,)"
    R"("merge_threshold":25,"reassign_neighbor_count":64,"num_samples_kmeans":1000,"initial_lambda":100.0,)"
    R"("num_centers_to_merge_to":8,"center_drift_threshold":0.125,"ef_construction":200,"ef_search":200,)"
    R"("max_neighbors":64}})";

Result<Configuration> ParseAlone(std::string_view json) {
  return ParseConfiguration(json, nullptr, std::nullopt);
}

TEST(Configuration, DefaultsAreChromas) {
  for (const char* json : {"null", "{}", R"({"hnsw":{}})", R"({"hnsw":null,"spann":null})",
                           R"({"hnsw":{},"spann":null})", R"({"embedding_function":null})"}) {
    const Result<Configuration> parsed = ParseAlone(json);
    ASSERT_TRUE(parsed.ok()) << json << parsed.status().ToString();
    EXPECT_EQ(parsed->json, kHnswDefaults) << json;
    EXPECT_EQ(parsed->metric, Metric::kL2);
  }
  EXPECT_EQ(ParseConfiguration(std::nullopt, nullptr, std::nullopt)->json, kHnswDefaults);
  EXPECT_EQ(ParseAlone(R"({"spann":{}})")->json, kSpannDefaults);
}

TEST(Configuration, ReadsBackAsItPrints) {
  for (const char* json :
       {R"({"hnsw":{"space":"cosine","ef_search":7,"num_threads":3,"resize_factor":1.2}})",
        R"({"spann":{"space":"ip"}})", kHnswDefaults, kSpannDefaults}) {
    const Result<Configuration> once = ParseAlone(json);
    ASSERT_TRUE(once.ok()) << once.status().ToString();
    const Result<Configuration> twice = ParseAlone(once->json);
    ASSERT_TRUE(twice.ok()) << twice.status().ToString();
    EXPECT_EQ(twice->json, once->json);
    EXPECT_EQ(twice->metric, once->metric);
  }
  EXPECT_EQ(
      ParseAlone(R"({"hnsw":{"space":"cosine","ef_search":7,"num_threads":3,"resize_factor":1.2}})")
          ->json,
      R"({"hnsw":{"space":"cosine","ef_construction":100,"ef_search":7,"max_neighbors":16,"num_threads":3,)"
      R"("batch_size":100,"sync_threshold":1000,"resize_factor":1.2},"spann":null})");
}

TEST(Configuration, TheSpaceComesFromConfigurationThenMetadataThenFunctionThenL2) {
  const Metadata metadata{{"hnsw:space", std::string("ip")}};
  EXPECT_EQ(ParseConfiguration(R"({"hnsw":{"space":"cosine"}})", &metadata, "l2")->metric,
            Metric::kCosine);
  EXPECT_EQ(ParseConfiguration("{}", &metadata, "l2")->metric, Metric::kIp);
  EXPECT_EQ(ParseConfiguration(R"({"spann":{}})", &metadata, "l2")->metric, Metric::kIp);
  EXPECT_EQ(ParseConfiguration("{}", nullptr, "cosine")->metric, Metric::kCosine);
  EXPECT_EQ(ParseConfiguration("{}", nullptr, std::nullopt)->metric, Metric::kL2);
}

TEST(Configuration, LegacyMetadataKeysHaveEffectAndLoseToTheConfiguration) {
  const Metadata metadata{{"a", std::string("x")},
                          {"hnsw:M", int64_t{8}},
                          {"hnsw:batch_size", int64_t{50}},
                          {"hnsw:construction_ef", int64_t{11}},
                          {"hnsw:num_threads", int64_t{2}},
                          {"hnsw:resize_factor", 1.2},
                          {"hnsw:search_ef", int64_t{12}},
                          {"hnsw:sync_threshold", int64_t{60}},
                          {"other", true}};
  EXPECT_EQ(
      ParseConfiguration(std::nullopt, &metadata, std::nullopt)->json,
      R"({"hnsw":{"space":"l2","ef_construction":11,"ef_search":12,"max_neighbors":8,"num_threads":2,)"
      R"("batch_size":50,"sync_threshold":60,"resize_factor":1.2},"spann":null})");
  EXPECT_EQ(
      ParseConfiguration(R"({"hnsw":{"max_neighbors":9,"ef_search":13}})", &metadata, std::nullopt)
          ->json,
      R"({"hnsw":{"space":"l2","ef_construction":11,"ef_search":13,"max_neighbors":9,"num_threads":2,)"
      R"("batch_size":50,"sync_threshold":60,"resize_factor":1.2},"spann":null})");
}

TEST(Configuration, LegacyMetadataKeysAreRefusedByName) {
  const auto message = [](std::string_view json, Metadata metadata) {
    return ParseConfiguration(json, &metadata, std::nullopt).status().message();
  };
  EXPECT_EQ(message("{}", {{"hnsw:foo", int64_t{1}}}),
            "unknown hnsw parameter: metadata key \"hnsw:foo\"");
  EXPECT_EQ(message("{}", {{"hnsw:space", std::string("foo")}}),
            "unknown space \"foo\", expected one of l2, cosine, ip");
  EXPECT_EQ(message("{}", {{"hnsw:space", int64_t{1}}}),
            "metadata key \"hnsw:space\" takes a string");
  EXPECT_EQ(message("{}", {{"hnsw:M", 16.0}}),
            "metadata key \"hnsw:M\" takes an integer of 2 to 10000, got {\"hnsw:M\":16.0}");
  EXPECT_EQ(message("{}", {{"hnsw:M", int64_t{1}}}),
            "metadata key \"hnsw:M\" takes an integer of 2 to 10000, got 1");
  EXPECT_EQ(message(R"({"spann":{}})", {{"hnsw:M", int64_t{16}}}),
            "metadata key \"hnsw:M\" has no effect with a spann configuration");
}

struct ConfigurationRefusal {
  const char* json;
  const char* message;
};

TEST(Configuration, RefusalsNameTheParameterAndTheValue) {
  for (const ConfigurationRefusal& r : {
           ConfigurationRefusal{R"({"hnsw":{"space":"foo"}})",
                                "unknown space \"foo\", expected one of l2, cosine, ip"},
           {R"({"hnsw":{"space":"l1"}})", "unknown space \"l1\", expected one of l2, cosine, ip"},
           {R"({"hnsw":{"space":""}})", "unknown space \"\", expected one of l2, cosine, ip"},
           {R"({"hnsw":{"space":2}})", "hnsw parameter \"space\" takes a string, got 2"},
           {R"({"hnsw":{},"spann":{}})", "hnsw and spann cannot both be given"},
           {R"({"hnsw":{"foo":1}})", "unknown hnsw parameter \"foo\""},
           {R"({"spann":{"sync_threshold":5}})", "unknown spann parameter \"sync_threshold\""},
           {R"({"ivf":{}})",
            "unknown key \"ivf\" in the configuration, expected hnsw, spann, full_vectors, "
            "text_index or nested_metadata"},
           {R"({"embedding_function":{"name":"x"}})",
            "unknown key \"embedding_function\" in the configuration, expected hnsw, spann, "
            "full_vectors, text_index or nested_metadata"},
           {R"({"full_vectors":"f8"})", "full_vectors takes \"f32\" or \"f16\", got \"f8\""},
           {R"({"full_vectors":16})", "full_vectors takes \"f32\" or \"f16\", got 16"},
           {R"({"full_vectors":null})", "full_vectors takes \"f32\" or \"f16\", got null"},
           {R"({"hnsw":[]})", "hnsw must be an object, got an empty list"},
           {"[]", "configuration must be an object, got an empty list"},
           {"{", "configuration is not valid JSON at byte 2, near \"{\""},
           {R"({"hnsw":{"ef_search":0}})",
            "hnsw parameter \"ef_search\" takes an integer of 1 to 2147483647, got 0"},
           {R"({"hnsw":{"ef_search":-1}})",
            "hnsw parameter \"ef_search\" takes an integer of 1 to 2147483647, got -1"},
           {R"({"hnsw":{"ef_search":1.0}})",
            "hnsw parameter \"ef_search\" takes an integer of 1 to 2147483647, got 1.0"},
           {R"({"hnsw":{"ef_search":99999999999999999999}})",
            "hnsw parameter \"ef_search\" takes an integer of 1 to 2147483647, got "
            "99999999999999999999"},
           {R"({"hnsw":{"ef_search":null}})",
            "hnsw parameter \"ef_search\" takes an integer of 1 to 2147483647, got null"},
           {R"({"hnsw":{"max_neighbors":1}})",
            "hnsw parameter \"max_neighbors\" takes an integer of 2 to 10000, got 1"},
           {R"({"hnsw":{"resize_factor":0.5}})",
            "hnsw parameter \"resize_factor\" has no effect and takes only 1.2, got 0.5"},
           {R"({"hnsw":{"resize_factor":"x"}})",
            "hnsw parameter \"resize_factor\" has no effect and takes only 1.2, got \"x\""},
           {R"({"spann":{"split_threshold":24}})",
            "spann parameter \"split_threshold\" takes an integer of 25 to 200, got 24"},
           {R"({"spann":{"split_threshold":201}})",
            "spann parameter \"split_threshold\" takes an integer of 25 to 200, got 201"},
           {R"({"spann":{"merge_threshold":11}})",
            "spann parameter \"merge_threshold\" has no effect and takes only 25, got 11"},
           {R"({"spann":{"write_nprobe":9}})",
            "spann parameter \"write_nprobe\" has no effect and takes only 32, got 9"},
       }) {
    const Result<Configuration> parsed = ParseAlone(r.json);
    ASSERT_FALSE(parsed.ok()) << r.json;
    EXPECT_EQ(parsed.status().code(), Code::kInvalidArgument);
    EXPECT_EQ(parsed.status().message(), r.message) << r.json;
  }
  EXPECT_EQ(ParseConfiguration("{}", nullptr, "dot").status().message(),
            "unknown space \"dot\", expected one of l2, cosine, ip");
}

TEST(Configuration, UpdatesChangeWhatMayChange) {
  EXPECT_EQ(
      UpdateConfiguration(kHnswDefaults, R"({"hnsw":{"ef_search":5,"num_threads":2,"batch_size":3,)"
                                         R"("sync_threshold":4,"resize_factor":1.2}})")
          ->json,
      R"({"hnsw":{"space":"l2","ef_construction":100,"ef_search":5,"max_neighbors":16,"num_threads":2,)"
      R"("batch_size":3,"sync_threshold":4,"resize_factor":1.2},"spann":null})");
  const std::string spann = ParseAlone(R"({"spann":{"space":"ip","split_threshold":30}})")->json;
  const Result<Configuration> updated =
      UpdateConfiguration(spann, R"({"spann":{"search_nprobe":3}})");
  ASSERT_TRUE(updated.ok()) << updated.status().ToString();
  EXPECT_EQ(updated->metric, Metric::kIp);
  EXPECT_NE(updated->json.find(R"("search_nprobe":3,"write_nprobe":32,)"), std::string::npos)
      << updated->json;
  EXPECT_NE(updated->json.find(R"("split_threshold":30,)"), std::string::npos) << updated->json;
}

TEST(Configuration, NestedMetadataIsSaidOnceAndForAll) {
  const auto nested = ParseAlone(R"({"nested_metadata":true,"hnsw":{"ef_search":7}})");
  ASSERT_OK(nested);
  EXPECT_TRUE(nested->nested_metadata);
  EXPECT_TRUE(nested->json.ends_with(R"(,"spann":null,"nested_metadata":true})")) << nested->json;
  EXPECT_TRUE(ReadNestedMetadata(nested->json));
  EXPECT_EQ(ParseAlone(nested->json)->json, nested->json);
  EXPECT_EQ(ParseAlone(R"({"nested_metadata":false})")->json, kHnswDefaults);
  EXPECT_FALSE(ReadNestedMetadata(kHnswDefaults));
  for (const char* wrong : {"1", "null", "\"true\""}) {
    EXPECT_TRUE(ParseAlone(fmt::format(R"({{"nested_metadata":{}}})", wrong))
                    .status()
                    .message()
                    .starts_with("nested_metadata takes true or false, got "))
        << wrong;
  }

  EXPECT_TRUE(UpdateConfiguration(nested->json, R"({"hnsw":{"ef_search":8}})")->nested_metadata);
  EXPECT_EQ(UpdateConfiguration(nested->json, R"({"nested_metadata":true})")->json, nested->json);
  EXPECT_EQ(UpdateConfiguration(kHnswDefaults, R"({"nested_metadata":false})")->json,
            kHnswDefaults);
  EXPECT_EQ(UpdateConfiguration(nested->json, R"({"nested_metadata":false})").status().message(),
            "nested_metadata of a collection cannot be changed: it is true, got false");
  EXPECT_EQ(UpdateConfiguration(kHnswDefaults, R"({"nested_metadata":true})").status().message(),
            "nested_metadata of a collection cannot be changed: it is false, got true");
}

TEST(Configuration, SaysWhatItsParametersMean) {
  const IndexSettings standard = ParseAlone("{}")->index;
  EXPECT_EQ(standard.kind, IndexKind::kHnsw);
  EXPECT_EQ(standard.max_neighbors + standard.ef_construction + standard.threads +
                standard.flush_rows + standard.search_width + standard.split_threshold,
            0u);
  // A default that is given is no other than one that is not.
  EXPECT_EQ(ParseAlone(R"({"hnsw":{"ef_search":100,"max_neighbors":16}})")->index.search_width, 0u);
  const IndexSettings hnsw =
      ParseAlone(R"({"hnsw":{"ef_search":70,"max_neighbors":8,"num_threads":3,)"
                 R"("ef_construction":200,"sync_threshold":5000}})")
          ->index;
  EXPECT_EQ(hnsw.search_width, 70u);
  EXPECT_EQ(hnsw.max_neighbors, 8u);
  EXPECT_EQ(hnsw.threads, 3u);
  EXPECT_EQ(hnsw.ef_construction, 200u);
  EXPECT_EQ(hnsw.flush_rows, 5000u);
  EXPECT_EQ(ParseAlone(R"({"hnsw":{"batch_size":7000,"sync_threshold":5000}})")->index.flush_rows,
            7000u);
  EXPECT_EQ(ParseAlone(R"({"hnsw":{"batch_size":50}})")->index.flush_rows, 1000u);
  const auto spann = ParseAlone(R"({"spann":{"search_nprobe":20,"split_threshold":80}})");
  EXPECT_EQ(spann->index.kind, IndexKind::kSpann);
  EXPECT_EQ(spann->index.search_width, 20u);
  EXPECT_EQ(spann->index.split_threshold, 80u);
  EXPECT_EQ(ReadIndexSettings(spann->json).search_width, 20u);
  // What an earlier version took and stored is read all the same.
  std::string stored = kSpannDefaults;
  const std::string standard_nprobe = R"("write_nprobe":32)";
  stored.replace(stored.find(standard_nprobe), standard_nprobe.size(), R"("write_nprobe":9)");
  EXPECT_EQ(ReadIndexSettings(stored).kind, IndexKind::kSpann);
  EXPECT_OK(UpdateConfiguration(stored, R"({"spann":{"search_nprobe":3}})"));
  EXPECT_EQ(ReadIndexSettings("{").kind, IndexKind::kHnsw);
}

TEST(Configuration, SaysInWhatVectorsAreKeptBesideWhatChromaSays) {
  std::string halves = kHnswDefaults;
  halves.replace(halves.size() - 1, 1, R"(,"full_vectors":"f16"})");
  const auto parsed = ParseAlone(R"({"full_vectors":"f16"})");
  ASSERT_OK(parsed);
  EXPECT_EQ(parsed->json, halves);
  EXPECT_EQ(parsed->vector_element, VectorElement::kF16);
  EXPECT_EQ(ParseAlone(halves)->json, halves);
  EXPECT_EQ(ParseAlone(R"({"hnsw":{},"full_vectors":"f32"})")->json, kHnswDefaults);
  EXPECT_EQ(ParseAlone(R"({"spann":{},"full_vectors":"f16"})")->vector_element,
            VectorElement::kF16);
  const auto updated = UpdateConfiguration(halves, R"({"hnsw":{"ef_search":7}})");
  ASSERT_OK(updated);
  EXPECT_EQ(updated->vector_element, VectorElement::kF16);
  EXPECT_NE(updated->json.find(R"("full_vectors":"f16")"), std::string::npos);
  EXPECT_EQ(UpdateConfiguration(halves, R"({"full_vectors":"f32"})").status().message(),
            "full_vectors of a collection cannot be changed: it is f16, got f32");
}

constexpr const char* kTextDefaults =
    R"({"analyzer":{"language":"none","stop_words":false},"k1":1.2,"b":0.75})";

TEST(Configuration, ATextIndexReadsBackAsItHasEffect) {
  std::string defaults = kHnswDefaults;
  defaults.replace(defaults.size() - 1, 1, fmt::format(R"(,"text_index":{}}})", kTextDefaults));
  EXPECT_EQ(ParseAlone(R"({"text_index":{}})")->json, defaults);
  EXPECT_EQ(ParseAlone(defaults)->json, defaults);
  EXPECT_EQ(ParseAlone(R"({"text_index":null})")->json, kHnswDefaults);
  EXPECT_FALSE(ParseAlone("{}")->text_index);
  const auto parsed = ParseAlone(
      R"({"text_index":{"analyzer":{"language":"german","stop_words":["und","\"ö"]},"k1":0,"b":1}})");
  ASSERT_OK(parsed);
  EXPECT_EQ(parsed->text_index->analyzer.language, "german");
  EXPECT_EQ(parsed->text_index->analyzer.given_stop_words,
            (std::vector<std::string>{"und", "\"ö"}));
  EXPECT_EQ(parsed->text_index->k1, 0);
  EXPECT_EQ(parsed->text_index->b, 1);
  const auto stored = ReadTextIndexSettings(parsed->json);
  ASSERT_TRUE(stored);
  EXPECT_EQ(stored->analyzer, parsed->text_index->analyzer);
  EXPECT_FALSE(ReadTextIndexSettings(kHnswDefaults));
}

TEST(Configuration, RefusalsOfATextIndexNameTheKeyAndTheValue) {
  for (const ConfigurationRefusal& r : {
           ConfigurationRefusal{R"({"text_index":1})",
                                "text_index must be an object or null, got 1"},
           {R"({"text_index":{"k2":1}})",
            "unknown key \"k2\" in text_index, expected analyzer, k1 or b"},
           {R"({"text_index":{"k1":-0.1}})", "text_index k1 takes a number of 0 to 100, got -0.1"},
           {R"({"text_index":{"k1":"1"}})", "text_index k1 takes a number of 0 to 100, got \"1\""},
           {R"({"text_index":{"b":1.01}})", "text_index b takes a number of 0 to 1, got 1.01"},
           {R"({"text_index":{"analyzer":[]}})",
            "text_index analyzer must be an object, got an empty list"},
           {R"({"text_index":{"analyzer":{"stem":1}}})",
            "unknown key \"stem\" in the text_index analyzer, expected language or stop_words"},
           {R"({"text_index":{"analyzer":{"stop_words":[""]}}})",
            "text_index analyzer stop_words takes strings of 1 to 256 bytes, got \"\""},
           {R"({"text_index":{"analyzer":{"stop_words":"the"}}})",
            "text_index analyzer stop_words takes true, false or a list of strings, got \"the\""},
           {R"({"text_index":{"analyzer":{"language":"tamil","stop_words":true}}})",
            "text_index analyzer stop_words: true takes one of the languages danish, dutch, "
            "english, "
            "finnish, french, german, italian, norwegian, portuguese, russian, spanish, swedish, "
            "got "
            "\"tamil\""},
       }) {
    EXPECT_EQ(ParseAlone(r.json).status().message(), r.message) << r.json;
  }
  EXPECT_NE(ParseAlone(R"({"text_index":{"analyzer":{"language":"English"}}})")
                .status()
                .message()
                .find("text_index analyzer language takes one of none, arabic,"),
            std::string::npos);
}

TEST(Configuration, OfATextIndexOnlyParametersOfScoresMayChange) {
  const std::string stored = ParseAlone(R"({"text_index":{"k1":2}})")->json;
  const auto changed = UpdateConfiguration(stored, R"({"text_index":{"b":0.5}})");
  ASSERT_OK(changed);
  EXPECT_EQ(changed->text_index->k1, 2);
  EXPECT_EQ(changed->text_index->b, 0.5);
  EXPECT_EQ(ReadTextIndexSettings(changed->json)->b, 0.5);
  EXPECT_OK(UpdateConfiguration(
      stored, R"({"text_index":{"analyzer":{"language":"none"},"k1":1},"hnsw":{"ef_search":7}})"));
  EXPECT_EQ(UpdateConfiguration(stored, R"({"hnsw":{"ef_search":7}})")->text_index->k1, 2);
  for (const auto& [current, change] :
       {std::pair<std::string, std::string>{stored, R"({"text_index":null})"},
        {stored, R"({"text_index":{"analyzer":{"language":"german"}}})"},
        {kHnswDefaults, R"({"text_index":{}})"}}) {
    const Status status = UpdateConfiguration(current, change).status();
    EXPECT_EQ(status.code(), Code::kInvalidArgument) << change;
    EXPECT_TRUE(status.message().starts_with(
        "text_index of a collection can be neither added, removed nor analyzed otherwise"))
        << status.message();
  }
}

TEST(Configuration, UpdatesOfTheRestAreRefusedByName) {
  for (const ConfigurationRefusal& r : {
           ConfigurationRefusal{"{}", "the change of the configuration is empty"},
           {R"({"hnsw":{}})", "the change of the configuration is empty"},
           {R"({"hnsw":{"space":"cosine"}})",
            "the space of a collection cannot be changed: it is l2, got cosine"},
           {R"({"hnsw":{"max_neighbors":5}})",
            "hnsw parameter \"max_neighbors\" cannot be changed once the collection exists"},
           {R"({"hnsw":{"ef_construction":5}})",
            "hnsw parameter \"ef_construction\" cannot be changed once the collection exists"},
           {R"({"spann":{"search_nprobe":5}})",
            "the index kind of a collection cannot be changed: it is hnsw, got spann"},
           {R"({"hnsw":{"ef_search":0}})",
            "hnsw parameter \"ef_search\" takes an integer of 1 to 2147483647, got 0"},
           {R"({"hnsw":{"foo":0}})", "unknown hnsw parameter \"foo\""},
       }) {
    EXPECT_EQ(UpdateConfiguration(kHnswDefaults, r.json).status().message(), r.message) << r.json;
  }
  EXPECT_EQ(
      UpdateConfiguration(kSpannDefaults, R"({"spann":{"split_threshold":30}})").status().message(),
      "spann parameter \"split_threshold\" cannot be changed once the collection exists");
}

}  // namespace
}  // namespace pigment
