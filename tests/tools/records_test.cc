// SPDX-License-Identifier: Apache-2.0
//
// Collections and records by the command line: made, filled, asked, deleted, and the same after a
// round trip.

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "pigment/pigment.h"
#include "tests/support/temporary_directory.h"
#include "tests/tools/run_tool.h"

namespace {

using tool_test::Ran;
using tool_test::ReadFile;
using tool_test::RunShell;
using tool_test::RunTool;
using tool_test::WriteFile;

constexpr const char* kLines =
    R"({"id":"a","document":"the red house","metadata":{"n":1,"f":1.0,"big":9007199254740993},"embedding":[0.1,1e-40,-0.0]}
{"id":"b","document_base64":"/w==","uri":"file:///b","embedding":[3.4028235e38,0.33333334,2]}

{"id":"c","metadata":{"n":2,"tags":["x","y"],"ok":true},"embedding":[1,2,3]}
)";

class Records : public ::testing::Test {
 protected:
  void SetUp() override { WriteFile(at("data.jsonl"), kLines); }
  std::string at(const std::string& name) const { return folder_ / name; }
  std::string db() const { return at("db"); }
  Ran Import(const std::string& more = "") {
    return RunTool("import " + db() + " docs " + at("data.jsonl") + " --create --json " + more);
  }
  std::string Export(const std::string& store, const std::string& collection) {
    const Ran ran = RunTool("export " + store + " " + collection + " -");
    EXPECT_EQ(ran.status, 0) << ran.output;
    return ran.output;
  }
  pigment::TemporaryDirectory folder_;
};

TEST_F(Records, AreTheSameToTheBitAfterExportAndImport) {
  ASSERT_EQ(
      Import().json(),
      nlohmann::json::parse(R"({"read":3,"inserted":3,"updated":0,"skipped":0,"resumed_at":0})"));
  const std::string first = Export(db(), "docs");
  EXPECT_NE(first.find(R"("big":9007199254740993,"f":1.0)"), std::string::npos) << first;
  EXPECT_NE(first.find(R"("embedding":[0.1,1e-40,-0.0])"), std::string::npos) << first;
  EXPECT_NE(first.find(R"("document_base64":"/w==")"), std::string::npos) << first;
  WriteFile(at("again.jsonl"), first);
  ASSERT_EQ(RunTool("import " + at("db2") + " docs " + at("again.jsonl") + " --create").status, 0);
  EXPECT_EQ(Export(at("db2"), "docs"), first);
}

TEST_F(Records, GoThroughAFileOfNumPy) {
  ASSERT_EQ(Import().status, 0);
  const std::string lines = at("out.jsonl");
  const std::string matrix = at("out.npy");
  const Ran out = RunTool("export --json " + db() + " docs " + lines + " --embeddings " + matrix);
  ASSERT_EQ(out.json().at("records"), 3) << out.output;
  EXPECT_EQ(ReadFile(lines).find("embedding"), std::string::npos);
  EXPECT_EQ(std::filesystem::file_size(matrix), 128u + 3 * 3 * 4);
  ASSERT_EQ(
      RunTool("import " + at("db2") + " docs " + lines + " --create --embeddings " + matrix).status,
      0);
  EXPECT_EQ(Export(at("db2"), "docs"), Export(db(), "docs"));
  // Alone it makes records whose ids are the numbers of its rows, and it can be asked with.
  ASSERT_EQ(RunTool("import " + at("db2") + " rows " + matrix + " --create").status, 0);
  EXPECT_EQ(RunTool("get --json " + at("db2") + " rows").json().at(2).at("id"), "2");
  const Ran asked = RunTool("query --json " + db() + " docs -n 1 --npy " + matrix);
  ASSERT_EQ(asked.status, 0) << asked.output;
  for (size_t i = 0; i < 3; ++i)
    EXPECT_EQ(asked.json().at(i).at(0).at("id"), std::string(1, "abc"[i]));
}

TEST_F(Records, OfAWrongLineAreNamedAndWhatIsBeforeStays) {
  WriteFile(at("data.jsonl"),
            "{\"id\":\"a\",\"embedding\":[1]}\n{\"id\":\"b\",\"embeding\":[1]}\n");
  const Ran ran = Import();
  EXPECT_EQ(ran.status, PIGMENT_INVALID_ARGUMENT);
  EXPECT_NE(ran.output.find("data.jsonl:2: unknown member"), std::string::npos) << ran.output;
  EXPECT_EQ(RunTool("count " + db() + " docs").output, "1\n");
  for (const char* const wrong :
       {"[]", "{\"id\":1}", "{}", "{\"id\":\"x\",\"embedding\":[]}",
        "{\"id\":\"x\",\"embedding\":[null]}", "{\"id\":\"x\",\"metadata\":[]}",
        "{\"id\":\"x\",\"document_base64\":\"*\"}", "{\"id\":\"x\"",
        "{\"id\":\"x\",\"embedding\":[1e39]}",
        "{\"id\":\"x\",\"embedding\":[1,2]}\n{\"id\":\"y\",\"embedding\":[1]}"}) {
    WriteFile(at("data.jsonl"), wrong);
    EXPECT_EQ(RunTool("import " + at("wrong") + " docs " + at("data.jsonl") + " --create").status,
              PIGMENT_INVALID_ARGUMENT)
        << wrong;
  }
}

TEST_F(Records, ThatAreNestedWithoutEndAreRefused) {
  const std::string deep = std::string(300'000, '[') + std::string(300'000, ']');
  WriteFile(at("data.jsonl"), "{\"id\":\"a\",\"embedding\":[1],\"metadata\":{\"k\":" + deep + "}}");
  const Ran ran = Import();
  EXPECT_EQ(ran.status, PIGMENT_INVALID_ARGUMENT);
  EXPECT_NE(ran.output.find("data.jsonl:1: JSON that is nested"), std::string::npos) << ran.output;
  WriteFile(at("deep.json"), "{\"hnsw\":" + deep + "}");
  EXPECT_EQ(
      RunTool("create " + db() + " deep --space l2 --configuration @" + at("deep.json")).status,
      PIGMENT_INVALID_ARGUMENT);
}

TEST_F(Records, OfAWrongMatrixAreRefused) {
  const std::string head = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }";
  const auto file = [&](const std::string& text, size_t bytes) {
    return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(text.size()) + '\0' + text +
           std::string(bytes, '\0');
  };
  const auto status = [&](const std::string& bytes) {
    WriteFile(at("m.npy"), bytes);
    return RunTool("import " + at("m") + " docs " + at("m.npy") + " --create").status;
  };
  const auto with = [&](const std::string& what, const std::string& by) {
    std::string text = head;
    return text.replace(text.find(what), what.size(), by);
  };
  EXPECT_EQ(status(file(head, 16)), 0);
  EXPECT_EQ(status(file(head, 15)), PIGMENT_INVALID_ARGUMENT) << "a byte is missing";
  EXPECT_EQ(status(file(with("(2, 2)", "(18446744073709551615, 4)"), 16)),
            PIGMENT_INVALID_ARGUMENT);
  EXPECT_EQ(status(file(with("(2, 2)", "(4,)"), 16)), PIGMENT_INVALID_ARGUMENT);
  EXPECT_EQ(status(file(with("False", "True"), 16)), PIGMENT_INVALID_ARGUMENT);
  EXPECT_EQ(status(file(with("<f4", ">f4"), 16)), PIGMENT_INVALID_ARGUMENT);
  EXPECT_EQ(status(file(with("<f4", "<U4"), 16)), PIGMENT_INVALID_ARGUMENT);
  EXPECT_EQ(status("\x93NUMPY"), PIGMENT_INVALID_ARGUMENT);
  EXPECT_EQ(status(""), PIGMENT_INVALID_ARGUMENT);
}

TEST_F(Records, AreWrittenByTheModeThatIsAskedFor) {
  ASSERT_EQ(Import().status, 0);
  EXPECT_EQ(Import().json().at("skipped"), 3) << "add leaves what is there";
  WriteFile(at("data.jsonl"),
            "{\"id\":\"a\",\"metadata\":{\"n\":7}}\n{\"id\":\"new\",\"metadata\":{\"n\":8}}\n");
  const auto updated = Import("--mode update").json();
  EXPECT_EQ(updated.at("updated"), 1);
  EXPECT_EQ(updated.at("skipped"), 1);
  EXPECT_EQ(RunTool("get --json " + db() + " docs --id a").json().at(0).at("metadata").at("n"), 7);
  // A file may have an id twice: later lines follow earlier ones.
  WriteFile(at("data.jsonl"),
            "{\"id\":\"t\",\"embedding\":[1,1,1]}\n{\"id\":\"t\",\"embedding\":[2,1,1]}\n");
  EXPECT_EQ(Import("--mode upsert").json().at("updated"), 1);
  const Ran piped = RunShell("printf '{\"id\":\"p\",\"embedding\":[1,1,1]}' | " +
                             std::string(PIGMENT_TOOL) + " import " + db() + " docs -");
  EXPECT_EQ(piped.status, 0) << piped.output;
}

TEST_F(Records, AreFoundCountedAndDeleted) {
  ASSERT_EQ(Import().status, 0);
  const std::string docs = db() + " docs ";
  const auto query = RunTool("query --json " + docs + "--vector '[[1,2,3],[0.1,0,0]]' -n 1").json();
  EXPECT_EQ(query.at(0).at(0).at("id"), "c");
  EXPECT_EQ(query.at(0).at(0).at("distance"), 0);
  EXPECT_EQ(query.at(1).at(0).at("id"), "a");
  EXPECT_NE(RunTool("query " + docs + "--like c -n 1").output.find("distance"), std::string::npos);
  EXPECT_EQ(RunTool("query " + docs + "--like nobody").status, PIGMENT_NOT_FOUND);
  EXPECT_EQ(RunTool("query " + docs + "--text x").status, PIGMENT_FAILED_PRECONDITION);
  EXPECT_EQ(RunTool("query " + docs).status, 2);
  EXPECT_EQ(RunTool("query " + docs + "--vector '[1,2'").status, PIGMENT_INVALID_ARGUMENT);

  WriteFile(at("where.json"), "{\"n\":{\"$gte\":2}}");
  EXPECT_EQ(RunTool("count --json " + docs + "--where @" + at("where.json")).json().at("count"), 1);
  EXPECT_EQ(RunTool("count " + docs).output, "3\n");
  EXPECT_EQ(RunTool("count " + docs + "--where '{'").status, PIGMENT_INVALID_ARGUMENT);
  EXPECT_EQ(RunTool("count " + docs + "--where @" + at("missing")).status, PIGMENT_NOT_FOUND);
  const auto facets = RunTool("facets --json " + docs + "n tags").json();
  EXPECT_EQ(facets.at("tags").size(), 2u);
  EXPECT_NE(RunTool("facets " + docs + "n").output.find("records"), std::string::npos);

  const auto ordered =
      RunTool("get --json " + docs + "--order-by=-n --limit 1 --include embeddings").json();
  EXPECT_EQ(ordered.at(0), nlohmann::json::parse(R"({"id":"c","embedding":[1,2,3]})"));
  EXPECT_EQ(RunTool("get " + docs + "--include nonsense").status, 2);
  EXPECT_EQ(RunTool("explain --json " + docs + "--vector '[1,2,3]'").json().at("stages").size(),
            4u);
  EXPECT_NE(RunTool("explain " + docs + "--where '{\"n\":1}'").output.find("tail/rows"),
            std::string::npos);

  EXPECT_EQ(RunTool("delete " + docs).status, 2) << "of what is not said";
  EXPECT_EQ(RunTool("delete " + docs + "--collection --id a").status, 2);
  EXPECT_EQ(RunTool("delete --json " + docs + "--id a --id nobody").json().at("deleted"), 1);
  EXPECT_EQ(RunTool("count " + docs).output, "2\n");
  EXPECT_EQ(RunTool("delete " + docs + "--collection").status, 0);
  EXPECT_EQ(RunTool("delete " + docs + "--collection").status, PIGMENT_NOT_FOUND);
}

TEST_F(Records, AreEmbeddedAndRankedWhereTheCollectionCan) {
  const Ran made = RunTool(
      "create --json " + db() +
      " texts --lexical 64 --configuration "
      "'{\"text_index\":{\"analyzer\":{\"language\":\"english\"}}}' --metadata '{\"k\":1}'");
  ASSERT_EQ(made.status, 0) << made.output;
  EXPECT_EQ(made.json().at("metadata").at("k"), 1);
  EXPECT_EQ(RunTool("create " + db() + " texts").status, PIGMENT_ALREADY_EXISTS);
  EXPECT_EQ(RunTool("create --get-or-create " + db() + " texts").status, 0);
  WriteFile(
      at("data.jsonl"),
      "{\"id\":\"1\",\"document\":\"red houses\"}\n{\"id\":\"2\",\"document\":\"a blue boat\"}\n");
  ASSERT_EQ(RunTool("copy " + db() + " texts " + db() + " like_texts").status, 0);
  for (const std::string name : {"texts", "like_texts"}) {
    ASSERT_EQ(RunTool("import " + db() + " " + name + " " + at("data.jsonl")).status, 0);
    const std::string lines = Export(db(), name);
    const auto first = nlohmann::json::parse(lines.substr(0, lines.find('\n')));
    EXPECT_EQ(first.at("embedding").size(), 64u) << name;
  }
  EXPECT_EQ(RunTool("query --json " + db() + " texts --text 'blue boats' -n 1")
                .json()
                .at(0)
                .at(0)
                .at("id"),
            "2");
  const auto found = RunTool("search --json --highlights " + db() + " texts house boat").json();
  EXPECT_EQ(found.at(0).at(0).at("id"), "1");
  EXPECT_EQ(found.at(0).at(0).at("highlights").dump(), "[[4,10]]");
  EXPECT_EQ(found.at(1).at(0).at("id"), "2");
  EXPECT_NE(RunTool("search " + db() + " texts house").output.find("score"), std::string::npos);
}

TEST_F(Records, WithNestedMetadataAreExportedImportedAndCopied) {
  const std::string nested = " --configuration '{\"nested_metadata\":true}'";
  ASSERT_EQ(RunTool("create " + db() + " docs" + nested).status, 0);
  WriteFile(at("data.jsonl"),
            R"({"id":"1","embedding":[1,2],"metadata":{"a":{"b":{"c":[1,2]},"d/e":2.0},"f":true}})"
            "\n"
            R"({"id":"2","embedding":[3,4],"metadata":{"a":1}})"
            "\n");
  ASSERT_EQ(Import().status, 0);
  EXPECT_EQ(RunTool("count " + db() + " docs --where '{\"$/a/b\":{\"$exists\":true}}'").output,
            "1\n");
  const std::string all = Export(db(), "docs");
  EXPECT_NE(all.find(R"({"a":{"b":{"c":[1,2]},"d/e":2.0},"f":true})"), std::string::npos) << all;
  ASSERT_EQ(RunTool("copy " + db() + " docs " + db() + " twin").status, 0);
  EXPECT_EQ(Export(db(), "twin"), all);
  WriteFile(at("again.jsonl"), all);
  ASSERT_EQ(RunTool("create " + db() + " again" + nested).status, 0);
  ASSERT_EQ(RunTool("import " + db() + " again " + at("again.jsonl")).status, 0);
  EXPECT_EQ(Export(db(), "again"), all);
  EXPECT_EQ(RunTool("import --create " + db() + " flat " + at("again.jsonl")).status,
            PIGMENT_INVALID_ARGUMENT);
}

TEST_F(Records, AreCopiedBetweenCollectionsDatabasesAndStores) {
  ASSERT_EQ(
      RunTool("create " + db() + " docs --space ip --lexical 3 --metadata '{\"k\":\"v\"}'").status,
      0);
  ASSERT_EQ(Import().status, 0);
  const std::string all = Export(db(), "docs");
  ASSERT_EQ(RunTool("copy " + db() + " docs " + db() + " twin").status, 0);
  ASSERT_EQ(RunTool("copy " + db() + " twin " + db() +
                    " docs --to-tenant other --to-database place --parents")
                .status,
            0);
  const std::string other = at("other");
  ASSERT_EQ(
      RunTool("copy " + db() + " docs " + other + " back --tenant other --database place").status,
      0);
  ASSERT_EQ(RunTool("copy " + other + " back " + db() + " home").status, 0);
  EXPECT_EQ(Export(db(), "home"), all);
  auto first = RunTool("list --json " + db()).json();
  std::map<std::string, nlohmann::json> by_name;
  for (auto& each : first) {
    std::string name = each.at("name");
    if (each.at("tenant") == "default_tenant") {
      each.erase("id");
      each.erase("name");
      by_name[name] = each;
    }
  }
  EXPECT_EQ(by_name.at("home"), by_name.at("docs"))
      << "metadata, configuration and function are copied too";
  EXPECT_EQ(RunTool("copy " + db() + " docs " + db() + " twin").status, PIGMENT_ALREADY_EXISTS);
  EXPECT_EQ(RunTool("copy " + db() + " docs " + db() + " twin --merge").status, 0);
  EXPECT_EQ(Export(db(), "twin"), all);
}

TEST_F(Records, MayBeInAStoreThatAProfileNames) {
  WriteFile(at("profiles"), "# mine\nmine = " + db() + "\n");
  const std::string with = "PIGMENT_PROFILES=" + at("profiles") + " " + PIGMENT_TOOL;
  EXPECT_EQ(RunShell(with + " create @mine docs").status, 0);
  EXPECT_EQ(RunTool("list --json " + db()).json().size(), 1u);
  const Ran unknown = RunShell(with + " list @yours");
  EXPECT_EQ(unknown.status, 2);
  EXPECT_NE(unknown.output.find("no profile \"yours\""), std::string::npos) << unknown.output;
}

TEST_F(Records, FailAsJsonWhereJsonIsAskedFor) {
  const Ran ran = RunTool("count --json " + db() + " docs");
  EXPECT_EQ(ran.status, PIGMENT_NOT_FOUND);
  EXPECT_EQ(ran.json().at("error").at("status"), PIGMENT_NOT_FOUND);
  EXPECT_EQ(ran.json().at("error").at("name"), "not found");
  EXPECT_EQ(RunTool("count " + db() + " docs > /dev/full").status, PIGMENT_NOT_FOUND);
  ASSERT_EQ(Import().status, 0);
  EXPECT_EQ(RunTool("get " + db() + " docs > /dev/full").status, PIGMENT_UNAVAILABLE);
}

}  // namespace
