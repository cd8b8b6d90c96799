// Each verb says which other one a model is for.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "runtime/onnx/onnx.pb.h"
#include "tests/probe/fake/helpers.h"
#include "tests/runtime/gguf/gguf_builder.h"
#include "tests/runtime/model_builder.h"
#include "tests/support.h"

namespace clvet {
namespace {

using namespace std::string_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class ModelOfAnotherVerb : public testing::Test {
 protected:
  test::Bench bench_;
};

TEST_F(ModelOfAnotherVerb, IsToldByItsNameAlsoWhereThereIsNoFile) {
  const auto language = bench_.run({"run", "none.gguf"});
  EXPECT_EQ(language.exit_code, 2);
  EXPECT_THAT(language.err, HasSubstr("clvet generate none.gguf --prompt TEXT\n"));
  const auto network = bench_.run({"generate", "none.ONNX"});
  EXPECT_EQ(network.exit_code, 2);
  EXPECT_THAT(network.err, HasSubstr("clvet run none.ONNX --input NAME=FILE\n"));
}

TEST_F(ModelOfAnotherVerb, IsToldByItsContentWhateverItsName) {
  const std::string language = bench_ / "a language model.onnx", network = bench_ / "network.gguf";
  test::put(language, test::GgufBuilder().bytes());
  test::put(network, std::string("\x08\x08\x12\x00", 4));
  EXPECT_THAT(bench_.run({"run", language}).err,
              HasSubstr("clvet generate '" + language + "' --prompt TEXT\n"));
  EXPECT_THAT(bench_.run({"generate", network, "--prompt", "x"}).err,
              HasSubstr("clvet run " + network + " --input NAME=FILE\n"));
  EXPECT_THAT(bench_.run({"check", network}).err + bench_.run({"check", network}).out,
              Not(HasSubstr("GGUF")))
      << "check takes both";
}

TEST_F(ModelOfAnotherVerb, IsNotGuessedOfAFileThatIsNeither) {
  for (const std::string& bytes : {std::string(), std::string("G"), std::string("text")}) {
    test::put(bench_ / "model.bin", bytes);
    for (const char* verb : {"run", "generate"}) {
      const auto done = bench_.run({verb, bench_ / "model.bin"});
      EXPECT_EQ(done.exit_code, 2);
      EXPECT_THAT(done.err, Not(HasSubstr("another verb")));
    }
  }
}

TEST_F(ModelOfAnotherVerb, OfAFrameworkTakesItsNameInAnyCase) {
  for (const char* name : {"MNN", "Llama.CPP"}) {
    const auto done = bench_.run({"discover", "--root", bench_ / ".", "--as", name});
    EXPECT_THAT(done.err, Not(HasSubstr("does not know"))) << name;
  }
  const auto unknown = bench_.run({"discover", "--root", bench_ / ".", "--as", "mnm"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.err, AllOf(HasSubstr("did you mean mnn? It knows: "), HasSubstr("hashcat")));
}

TEST(WeightsInAnotherFile, ArePartOfTheModelThatAPlanIsFor) {
  test::Bench bench;
  test::ModelBuilder model;
  model.input("x", {2}).constant("w", {2}, {0, 0}).node("Add", {"x", "w"}, {"y"});
  model.output("y");
  auto& weight = *model.graph().mutable_initializer(0);
  weight.clear_float_data();
  weight.clear_raw_data();
  weight.set_data_location(1);
  auto& entry = *weight.add_external_data();
  entry.set_key("location");
  entry.set_value("weights");
  test::put(bench / "m.onnx", model.bytes());
  const auto plan = [&](const std::string& weights) {
    test::put(bench / "weights", weights);
    const auto done = bench.run({"plan", bench / "m.onnx", "--device", "host", "--json", "-"});
    EXPECT_EQ(done.exit_code, 0) << done.err;
    return done.out;
  };
  const std::string first = plan("\0\0\x80\x3f\0\0\0\x40"s);
  EXPECT_NE(first, plan("\0\0\x80\x3f\0\0\0\x41"s));
  EXPECT_EQ(first, plan("\0\0\x80\x3f\0\0\0\x40"s));
}

class RunPrints : public testing::Test {
 protected:
  RunPrints() {
    test::ModelBuilder model;
    model.input("x", {1, 3}).node("Neg", {"x"}, {"the output"});
    model.output("the output");
    test::put(model_, model.bytes());
    test::put(bench_ / "x.bin", std::string("\0\0\x80\x3f\0\0\0\x40\0\0\x40\x40", 12));
  }
  test::Finished run(const std::vector<std::string>& more) {
    std::vector<std::string> words{"run",      model_, "--input", "x=" + (bench_ / "x.bin"),
                                   "--device", "host"};
    words.insert(words.end(), more.begin(), more.end());
    return bench_.run(words);
  }
  test::Bench bench_;
  const std::string model_ = bench_ / "m.onnx";
};

TEST_F(RunPrints, TheFirstValuesOfEachOutputWhereNoFolderTakesThem) {
  const auto done = run({});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("the output f32[1,3]: -1, -2, -3\n"));
}

TEST_F(RunPrints, NoValuesWhereAFolderOrADocumentTakesThemOrWithQuiet) {
  EXPECT_THAT(run({"--output-dir", bench_ / "out"}).out, Not(HasSubstr("-1, -2, -3")));
  EXPECT_THAT(run({"--json", "-"}).out, Not(HasSubstr("-1, -2, -3")));
  EXPECT_EQ(run({"--quiet"}).out, "");
}

}  // namespace
}  // namespace clvet
