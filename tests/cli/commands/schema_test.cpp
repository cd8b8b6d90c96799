#include <gmock/gmock.h>

#include <filesystem>
#include <set>
#include <sstream>
#include <string>

#include "base/json.h"  // IWYU pragma: keep
#include "tests/probe/fake/helpers.h"
#include "tests/support.h"

namespace clvet {
namespace {

using testing::HasSubstr;

const std::string kFolder = std::string(CLVET_SOURCE_DIR) + "/reports/schema/";

TEST(SchemaCommand, ListsTheNamesAndPrintsEachSchema) {
  test::Bench bench;
  const auto listed = bench.run({"schema"});
  ASSERT_EQ(listed.exit_code, 0) << listed.err;
  std::set<std::string> names, files;
  std::istringstream lines(listed.out);
  for (std::string name; std::getline(lines, name);) {
    names.insert(name);
    EXPECT_EQ(bench.run({"schema", name}).out, test::get(kFolder + name + ".schema.json"));
  }
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    const std::string file = entry.path().filename();
    if (file.ends_with(".schema.json")) files.insert(file.substr(0, file.find('.')));
  }
  EXPECT_EQ(names, files);
  const auto json = nlohmann::json::parse(bench.run({"schema", "--json", "-"}).out);
  EXPECT_EQ(json, nlohmann::json(names));
}

TEST(SchemaCommand, WritesTheSchemaToAFile) {
  test::Bench bench;
  const auto done = bench.run({"schema", "run", "--quiet", "--json", bench / "run.json"});
  EXPECT_EQ(done.exit_code, 0);
  EXPECT_EQ(done.out, "");
  EXPECT_EQ(test::get(bench / "run.json"), test::get(kFolder + "run.schema.json"));
}

TEST(SchemaCommand, NamesTheSchemaThatThereIsNot) {
  for (const std::string name : {"runn", "", "../run", "\xff"}) {
    const auto done = test::Bench().run({"schema", name});
    EXPECT_EQ(done.exit_code, name.empty() ? 0 : 2) << name;
    if (!name.empty()) EXPECT_THAT(done.err, HasSubstr("; there are bench, "));
  }
}

}  // namespace
}  // namespace clvet
