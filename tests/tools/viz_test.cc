// SPDX-License-Identifier: Apache-2.0
//
// The page that `pigment viz` writes: well-formed whatever the records say, the same for a seed,
// and what its map and its recall are made of.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "pigment/pigment.h"
#include "tests/support/temporary_directory.h"
#include "tests/tools/run_tool.h"
#include "tools/viz/page.h"
#include "tools/viz/projection.h"

namespace {

using pigment_tool::Escape;
using pigment_tool::Project;
using pigment_tool::Projection;
using tool_test::Ran;
using tool_test::ReadFile;
using tool_test::RunShell;
using tool_test::RunTool;
using tool_test::WriteFile;

// ---- The page ----

constexpr int kShown = 3000;
constexpr const char* kHostile =
    R"(</title></circle></svg><script>document.title='owned'</script><img src=x onerror=alert(1)>)"
    R"(&lt;&#0;]]>-->'"`<!--)";

class Viz : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new pigment::TemporaryDirectory();
    std::mt19937_64 random(7);
    std::normal_distribution<float> normal;
    std::string lines;
    for (int i = 0; i < kShown; ++i) {
      nlohmann::json record = {{"id", "id" + std::to_string(i)},
                               {"document", "document " + std::to_string(i)},
                               {"metadata", {{"half", i % 2}}},
                               {"embedding", nlohmann::json::array()}};
      for (int j = 0; j < 16; ++j) record["embedding"].push_back(normal(random));
      lines += record.dump() + "\n";
    }
    WriteFile(*folder_ / "records", lines);
    const nlohmann::json hostile = {
        {"id", kHostile}, {"document", kHostile}, {"embedding", std::vector<float>(2, 1.0f)}};
    const nlohmann::json other = {{"id", "other"}, {"embedding", {0, 1}}};
    // A control character, U+FFFE, and bytes that are no UTF-8.
    const nlohmann::json odd = {
        {"id", "odd\x01\xEF\xBF\xBE"}, {"document_base64", "/v9hPGI+"}, {"embedding", {-1, 0.5}}};
    WriteFile(*folder_ / "hostile", hostile.dump() + "\n" + other.dump() + "\n" + odd.dump());
    ASSERT_EQ(RunTool("import --create " + db() + " docs " + (*folder_ / "records")).status, 0);
    const std::string metadata = R"({"about":"</pre><script>alert(1)</script>"})";
    ASSERT_EQ(RunTool("create " + db() + " hostile --metadata '" + metadata + "'").status, 0);
    ASSERT_EQ(RunTool("import " + db() + " hostile " + (*folder_ / "hostile")).status, 0);
    ASSERT_EQ(RunTool("compact " + db() + " docs").status, 0);
    ASSERT_EQ(RunTool("create " + db() + " empty").status, 0);
  }
  static void TearDownTestSuite() { delete folder_; }

  static std::string db() { return *folder_ / "db"; }
  static std::string file() { return *folder_ / "page.html"; }

  // The page of a collection; what the program says is in `ran_`.
  std::string Page(const std::string& arguments) {
    ran_ = RunTool("viz --json " + db() + " " + arguments + " " + file());
    EXPECT_EQ(ran_.status, 0) << ran_.output;
    return ReadFile(file());
  }

  // What the page has of each kind of element, by an XML parser; fails when it is none.
  static nlohmann::json Elements() {
    const Ran parsed = RunShell(
        "python3 -c \"import sys, json, collections, xml.etree.ElementTree as tree\n"
        "names = collections.Counter(e.tag.split('}')[1] for e in "
        "tree.parse(sys.argv[1]).getroot().iter())\nprint(json.dumps(names))\" " +
        file());
    EXPECT_EQ(parsed.status, 0) << parsed.output;
    return parsed.status == 0 ? parsed.json() : nlohmann::json::object();
  }

  // The texts of the dots on the map.
  static nlohmann::json Titles() {
    const Ran parsed = RunShell(
        "python3 -c \"import sys, json, xml.etree.ElementTree as tree\n"
        "x = '{http://www.w3.org/1999/xhtml}'\n"
        "print(json.dumps([e.text for e in tree.parse(sys.argv[1]).getroot().iter(x + 'title')]))"
        "\" " +
        file());
    EXPECT_EQ(parsed.status, 0) << parsed.output;
    return parsed.status == 0 ? parsed.json() : nlohmann::json::array();
  }

  static pigment::TemporaryDirectory* folder_;
  Ran ran_;
};
pigment::TemporaryDirectory* Viz::folder_ = nullptr;

size_t Occurrences(const std::string& text, const std::string& what) {
  size_t count = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

TEST_F(Viz, APageShowsSizesSegmentsRecallAndAMap) {
  const std::string page = Page("docs --sample 200 --queries 20");
  const nlohmann::json elements = Elements();
  const nlohmann::json said = ran_.json();
  EXPECT_EQ(said.at("records"), kShown);
  EXPECT_EQ(said.at("sample"), 200);
  EXPECT_NE(said.at("strategy"), "exact");
  ASSERT_GE(said.at("widths").size(), 2u);
  // Wider finds more, looks at more, and in the end finds everything.
  const auto& first = said.at("widths").front();
  const auto& last = said.at("widths").back();
  EXPECT_LT(first.at("recall"), 1.0);
  EXPECT_EQ(last.at("recall"), 1.0);
  EXPECT_LT(first.at("rows_scored"), last.at("rows_scored"));
  // A dot for each record and for each width; a bar, a curve and a map.
  EXPECT_EQ(elements.at("circle"), 200 + said.at("widths").size());
  EXPECT_EQ(elements.at("svg"), 3);
  EXPECT_NE(page.find("<td class=\"number\">3000</td>"), std::string::npos);
  // Bytes and shares stand to the right as well.
  EXPECT_NE(page.find("<td class=\"number\">100.0 %</td>"), std::string::npos);
  EXPECT_GE(Occurrences(page, "iB</td>"), 2u);
  for (size_t at = page.find("<td>"); at != std::string::npos; at = page.find("<td>", at + 1))
    EXPECT_FALSE(page[at + 4] >= '0' && page[at + 4] <= '9') << page.substr(at, 40);
  // id and document: each record says them about itself.
  size_t records = 0;
  for (const std::string text : Titles()) {
    if (!text.starts_with("id")) continue;
    ++records;
    const std::string number = text.substr(2, text.find('\n') - 2);
    EXPECT_EQ(text, "id" + number + "\ndocument " + number);
  }
  EXPECT_EQ(records, 200u);
}

TEST_F(Viz, AStoreWithASeedHasOnePage) {
  const std::string page = Page("docs --sample 100 --queries 5");
  EXPECT_EQ(Page("docs --sample 100 --queries 5"), page);
  EXPECT_EQ(Page("docs --sample 100 --queries 5 --seed 1"), page);
  const nlohmann::json records = Titles();
  Page("docs --sample 100 --queries 5 --seed 2");
  EXPECT_NE(Titles(), records);  // other records, and not another number alone
}

TEST_F(Viz, EveryRecordHasTheSameChance) {
  // Of 3000 records 2000 twice: both draws have some 1333 of them, and the last are among them.
  std::vector<int> drawn(kShown);
  for (const char* const seed : {"3", "4"}) {
    Page(std::string("docs --queries 0 --sample 2000 --seed ") + seed);
    for (const std::string text : Titles()) {
      if (text.starts_with("id")) ++drawn[static_cast<size_t>(std::stoi(text.substr(2)))];
    }
  }
  const auto both = std::count(drawn.begin(), drawn.end(), 2);
  EXPECT_NEAR(static_cast<double>(both), 1333, 100);
  EXPECT_NEAR(static_cast<double>(std::count_if(drawn.end() - 1000, drawn.end(),
                                                [](int times) { return times > 0; })),
              889, 60);
}

TEST_F(Viz, AFilterLimitsTheSample) {
  const std::string page = Page("docs --queries 0 --sample 5000 --where '{\"half\": 1}'");
  EXPECT_EQ(ran_.json().at("sample"), kShown / 2);
  EXPECT_NE(page.find("of those that match"), std::string::npos);
  EXPECT_NE(page.find("It was not measured."), std::string::npos);
}

TEST_F(Viz, HostileRecordsStayText) {
  const std::string page = Page("hostile");
  const nlohmann::json elements = Elements();
  EXPECT_EQ(elements.count("script"), 0u);
  EXPECT_EQ(elements.count("img"), 0u);
  EXPECT_EQ(elements.at("circle"), 3);
  EXPECT_EQ(page.find("<script"), std::string::npos);
  EXPECT_EQ(page.find("<img"), std::string::npos);
  // What was written is what is shown.
  const nlohmann::json titles = Titles();
  bool is_found = false;
  for (const std::string text : titles) {
    is_found |= text == std::string(kHostile) + "\n" + kHostile;
  }
  EXPECT_TRUE(is_found) << titles;
  EXPECT_NE(page.find("Content-Security-Policy"), std::string::npos);
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
  // Nothing of the page is elsewhere; the one address is the name of XHTML's namespace.
  EXPECT_EQ(Occurrences(page, "://"), 1u);
  EXPECT_EQ(Occurrences(page, "src="), Occurrences(page, "&lt;img src="));
  EXPECT_EQ(Occurrences(page, "href="), 0u);
}

TEST_F(Viz, WhatHasNoRecordsHasAPage) {
  const std::string page = Page("empty");
  EXPECT_EQ(Elements().count("circle"), 0u);
  EXPECT_NE(page.find("There is no record to show."), std::string::npos);
}

TEST_F(Viz, AFailureLeavesNoFile) {
  const std::string nowhere = *folder_ / "nowhere/page.html";
  const Ran ran = RunTool("viz " + db() + " docs " + nowhere);
  EXPECT_EQ(ran.status, PIGMENT_UNAVAILABLE) << ran.output;
  EXPECT_NE(ran.output.find(nowhere), std::string::npos) << ran.output;
  EXPECT_EQ(RunTool("viz " + db() + " nobody " + file() + "2").status, PIGMENT_NOT_FOUND);
  EXPECT_EQ(ReadFile(file() + "2"), "");
  EXPECT_EQ(RunTool("viz " + db() + " docs").status, 2);
  EXPECT_EQ(RunTool("viz --sample -1 " + db() + " docs " + file()).status, 2);
}

TEST(VizEscape, LeavesNothingOfMarkup) {
  EXPECT_EQ(Escape("a<b>&\"'c"), "a&lt;b&gt;&amp;&quot;&#39;c");
  EXPECT_EQ(Escape("ü 鳥"), "ü 鳥");
  EXPECT_EQ(Escape(std::string_view("\0\x1B\x7F", 3)), "\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(Escape("\xEF\xBF\xBE|\xEF\xBF\xBF"), "\uFFFD|\uFFFD");
  EXPECT_EQ(Escape("\xFF<"), "\uFFFD&lt;");
}

// ---- The projection ----

TEST(VizProjection, FindsTheTwoDirectionsThatPointsWereSpreadAlong) {
  // Spread by 9, 4 and 1 along three directions at right angles in 20 dimensions, far from zero.
  std::mt19937_64 random(11);
  std::normal_distribution<double> normal;
  std::vector<std::vector<float>> vectors;
  std::vector<std::array<double, 2>> wanted;
  for (int i = 0; i < 4000; ++i) {
    const double a = 9 * normal(random);
    const double b = 4 * normal(random);
    std::vector<float> vector(20, 100.0f);
    vector[3] += static_cast<float>(0.8 * a - 0.6 * b);
    vector[7] += static_cast<float>(0.6 * a + 0.8 * b);
    vector[12] += static_cast<float>(normal(random));
    vectors.push_back(vector);
    wanted.push_back({a, b});
  }
  const Projection projection = Project(vectors);
  ASSERT_EQ(projection.points.size(), vectors.size());
  EXPECT_NEAR(projection.share[0], 81.0 / 98, 0.02);
  EXPECT_NEAR(projection.share[1], 16.0 / 98, 0.02);
  for (int axis : {0, 1}) {
    double products = 0;
    double mine = 0;
    double theirs = 0;
    for (size_t i = 0; i < wanted.size(); ++i) {
      products += projection.points[i][axis] * wanted[i][axis];
      mine += std::pow(projection.points[i][axis], 2);
      theirs += std::pow(wanted[i][axis], 2);
    }
    EXPECT_GT(std::abs(products) / std::sqrt(mine * theirs), 0.99) << "axis " << axis;
  }
}

TEST(VizProjection, PointsWithoutSpreadAreInTheMiddle) {
  const std::vector<std::vector<float>> same(5, {1, 2, 3});
  for (const auto& point : Project(same).points) EXPECT_EQ(point, (std::array<double, 2>{0, 0}));
  EXPECT_TRUE(Project({}).points.empty());
  // On a line, and of one dimension: nothing goes up.
  const std::vector<std::vector<float>> line = {{0, 0}, {1, 1}, {2, 2}};
  const std::vector<std::vector<float>> numbers = {{0}, {1}, {5}};
  for (const auto& vectors : {line, numbers}) {
    const Projection projection = Project(vectors);
    EXPECT_NEAR(projection.share[0], 1, 1e-9);
    for (const auto& point : projection.points) EXPECT_NEAR(point[1], 0, 1e-9);
    EXPECT_GT(projection.points[2][0], projection.points[0][0]);
  }
  // The largest numbers that a float holds.
  const std::vector<std::vector<float>> large = {{3e38f, 0}, {-3e38f, 0}, {0, 1e38f}};
  for (const auto& point : Project(large).points) EXPECT_TRUE(std::isfinite(point[0] + point[1]));
}

}  // namespace
