// `clvet check` as scripts meet it: exit codes, files, options.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "kernels/catalog.h"
#include "probe/report/report.h"
#include "probe/report/report_json.h"
#include "runtime/onnx/onnx.pb.h"
#include "tests/json_fields.h"
#include "tests/probe/fake/helpers.h"
#include "tests/probe/samples.h"
#include "tests/runtime/gguf/gguf_builder.h"
#include "tests/runtime/llm/model_files.h"
#include "tests/runtime/model_builder.h"
#include "tests/support.h"

namespace clvet {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class CheckCommand : public testing::Test {
 protected:
  CheckCommand() {
    test::put(good_, test::tiny_model("llama").bytes());
    test::put(unknown_, test::tiny_model("phi3").bytes());
  }
  test::Finished run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "check");
    return bench_.run(arguments);
  }
  test::Bench bench_;
  const std::string good_ = bench_ / "good.gguf", unknown_ = bench_ / "unknown.gguf";
};

TEST_F(CheckCommand, IsFineWithAModelThatCanRun) {
  const auto done = run({good_});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("good.gguf: can run"));
  EXPECT_THAT(done.out, HasSubstr("Q8_0"));
  EXPECT_EQ(done.err, "");
}

TEST_F(CheckCommand, FindsAnArchitectureThatIsNotKnown) {
  const auto done = run({unknown_, "--json", "-"});
  EXPECT_EQ(done.exit_code, 1);
  const test::JsonFields json(done.out);
  EXPECT_EQ(json.json("/runs"), "false");
  EXPECT_THAT(json.text("/findings/0"), HasSubstr("'phi3'"));
}

// A terminal obeys them.
TEST_F(CheckCommand, AndOthersPrintNoControlCharacterOfAModel) {
  test::ModelBuilder model;
  model.input("x\x1b[2J", {2}).node("Relu", {"x\x1b[2J"}, {"r\x1b]0;t\x07"});
  model.node("Frobnicate\x1b[1m", {"r\x1b]0;t\x07"}, {"y\xC2\x9B"}).set_name("n\x1b[2J");
  model.output("y\xC2\x9B");
  test::put(bench_ / "bad.onnx", model.bytes());
  model.set_op(1, "Neg");
  test::put(bench_ / "good.onnx", model.bytes());
  auto builder = test::tiny_model("llama");
  builder.put("general.architecture", test::gguf_string("lla\x1b[2Jma"));
  test::put(bench_ / "bad.gguf", builder.bytes());
  for (const char* file : {"bad.onnx", "good.onnx", "bad.gguf"}) {
    for (const char* verb : {"check", "plan", "run", "generate"}) {
      const auto done = bench_.run({verb, bench_ / file, "--lang", "en"});
      EXPECT_THAT(done.out + done.err,
                  AllOf(Not(HasSubstr("\x1b")), Not(HasSubstr("\x07")), Not(HasSubstr("\xC2\x9B"))))
          << verb << " " << file;
    }
  }
}

TEST_F(CheckCommand, NamesTheOperatorOfABranchThatNothingRuns) {
  test::ModelBuilder model;
  model.input("c", {}, 9).input("x", {2});
  test::add_if(model, test::branch("Neg", {"x"}, "t"), test::branch("Frobnicate", {"x"}, "e"));
  model.output("y");
  test::put(bench_ / "m.onnx", model.bytes());
  const auto done = run({bench_ / "m.onnx"});
  EXPECT_EQ(done.exit_code, 1);
  EXPECT_THAT(done.out, HasSubstr("Frobnicate"));
}

TEST_F(CheckCommand, NamesTheCureThatRunNames) {
  test::ModelBuilder model;
  model.input("x", {2}).node("Mish", {"x"}, {"y"});
  test::put(bench_ / "m.onnx", model.output("y").bytes());
  const auto checked = run({bench_ / "m.onnx"}), ran = bench_.run({"run", bench_ / "m.onnx"});
  EXPECT_EQ(checked.exit_code, 1);
  EXPECT_THAT(checked.out, HasSubstr("with opset_version=18 or newer"));
  EXPECT_THAT(ran.err, HasSubstr("with opset_version=18 or newer"));
}

TEST_F(CheckCommand, TellsWhatClvetLacksFromABrokenFile) {
  test::ModelBuilder model;
  model.input("x", {2}, 8).node("Identity", {"x"}, {"y"});
  model.output("y");
  test::put(bench_ / "m.onnx", model.bytes());
  EXPECT_EQ(run({bench_ / "m.onnx"}).exit_code, 1) << "texts";
  model.graph().mutable_node(0)->set_input(0, "nowhere");
  model.graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->set_elem_type(1);
  test::put(bench_ / "m.onnx", model.bytes());
  EXPECT_EQ(run({bench_ / "m.onnx"}).exit_code, 2);
}

TEST_F(CheckCommand, AndOthersEndAtOnceWhereAModelAsksForAHugeTensor) {
  test::ModelBuilder model;
  model.input("x", {1}).constant_i64("pads", {0, int64_t{1} << 38});
  model.node("Pad", {"x", "pads"}, {"y"}).set_name("grow");
  model.output("y");
  test::put(bench_ / "m.onnx", model.bytes());
  test::put(bench_ / "x.bin", std::string(4, '\0'));
  EXPECT_LT(run({bench_ / "m.onnx"}).seconds, 20);
  const auto done = bench_.run(
      {"run", bench_ / "m.onnx", "--device", "host", "--input", "x=" + (bench_ / "x.bin")});
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_LT(done.seconds, 20);
  EXPECT_THAT(done.err, AllOf(HasSubstr("node 'grow' (Pad)"), HasSubstr("not enough memory"),
                              HasSubstr("[274877906945]")));
}

TEST_F(CheckCommand, RefusesFilesThatAreNoModels) {
  test::put(bench_ / "cut.gguf", test::get(good_).substr(0, 300));
  test::put(bench_ / "text", "hello");
  for (const std::string& bad : {bench_ / "cut.gguf", bench_ / "text", bench_ / "absent.gguf"}) {
    const auto done = run({bad});
    EXPECT_EQ(done.exit_code, 2) << bad;
    EXPECT_THAT(done.err, HasSubstr(bad));
    EXPECT_EQ(std::count(done.err.begin(), done.err.end(), '\n'), 1) << done.err;
  }
}

TEST_F(CheckCommand, ReadsFromNoDevicesAndPipes) {
  ASSERT_EQ(::mkfifo((bench_ / "pipe").c_str(), 0600), 0);
  ASSERT_EQ(::mkfifo((bench_ / "pipe.onnx").c_str(), 0600), 0);
  for (const std::string& path :
       {bench_ / "pipe", bench_ / "pipe.onnx", std::string("/dev/zero")}) {
    const auto done = run({path});
    EXPECT_EQ(done.exit_code, 2);
    EXPECT_THAT(done.err, HasSubstr("it is not a file"));
  }
}

TEST_F(CheckCommand, KnowsGgufFilesByWhatTheyHold) {
  test::put(bench_ / "model.bin", test::get(good_));
  EXPECT_EQ(run({bench_ / "model.bin"}).exit_code, 0);
}

TEST_F(CheckCommand, ChecksAgainstAReportOfAnotherMachine) {
  test::put(bench_ / "board.json", report_to_json(test::sample_report()));
  const auto done = run({good_, "--report", bench_ / "board.json"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("Mali-G78"));
  EXPECT_EQ(run({good_, "--report", bench_ / "absent.json"}).exit_code, 2);
}

TEST_F(CheckCommand, UsesWhatTheStateFolderKeeps) {
  EXPECT_THAT(run({good_}).out, HasSubstr("no report"));
  Report report = test::sample_report();
  const auto keep = [&](const char* file, const char* device, const std::string& kernels) {
    report.devices[0].name = device;
    report.kernel_set = kernels;
    test::put(bench_.state() + "/" + file, report_to_json(report));
  };
  std::filesystem::create_directories(bench_.state());
  keep("report-of-needs.json", "A part", "other");
  EXPECT_THAT(run({good_}).out, AllOf(HasSubstr("A part"), HasSubstr("other kernels")));
  keep("report.json", "The whole", "others");
  EXPECT_THAT(run({good_}).out, HasSubstr("The whole"));
  keep("report-of-needs.json", "A part", kernel_set());
  EXPECT_THAT(run({good_}).out, AllOf(HasSubstr("A part"), Not(HasSubstr("other kernels"))));
  test::put(bench_.state() + "/report.json", "{");
  EXPECT_EQ(run({good_}).exit_code, 2);
}

// m.onnx with its input x.bin, in the bench's folder.
void put_a_network(const test::Bench& bench) {
  test::ModelBuilder model;
  model.input("x", {2}).output("y");
  model.node("Relu", {"x"}, {"y"});
  test::put(bench / "m.onnx", model.bytes());
  test::put(bench / "x.bin", std::string(8, '\0'));
}

TEST_F(CheckCommand, AndOthersRefuseAStateFolderAndReportThatOthersMayWrite) {
  put_a_network(bench_);
  test::put(bench_ / "ids.json", "[1]");
  Report report = test::sample_report();
  report.kernel_set = kernel_set();
  std::filesystem::create_directories(bench_.state());
  test::put(bench_.state() + "/report.json", report_to_json(report));
  const std::vector<std::vector<std::string>> verbs{
      {"check", good_},
      {"report", "show"},
      {"probe", "--library", FAKE_CL},
      {"plan", bench_ / "m.onnx"},
      {"run", bench_ / "m.onnx", "--input", "x=" + (bench_ / "x.bin")},
      {"generate", good_, "--prompt-ids", bench_ / "ids.json", "-n", "1"}};
  const auto expect_refusals = [&](const std::string& of) {
    for (const auto& words : verbs) {
      const auto done = bench_.run(words);
      EXPECT_EQ(done.exit_code, 2) << words[0];
      EXPECT_THAT(done.err, AllOf(HasSubstr("other users may write to " + of + ";"),
                                  HasSubstr("CLVET_STATE_DIR")))
          << words[0];
    }
  };
  ASSERT_EQ(::chmod(bench_.state().c_str(), 0777), 0);
  expect_refusals(bench_.state());
  ASSERT_EQ(::chmod(bench_.state().c_str(), 0700), 0);
  ASSERT_EQ(::chmod((bench_.state() + "/report.json").c_str(), 0666), 0);
  expect_refusals(bench_.state() + "/report.json");
}

// What was found out about the devices of a report that lies elsewhere is there, too.
TEST_F(CheckCommand, AndRunRefuseAStateFolderThatOthersMayWriteWhereAReportIsNamed) {
  put_a_network(bench_);
  bench_.probe({"--case", "gemv_split/high/normal/buffer/buffer/float"});
  const std::vector<std::string> words{"run",      bench_ / "m.onnx",
                                       "--input",  "x=" + (bench_ / "x.bin"),
                                       "--report", bench_.report_path()};
  EXPECT_EQ(bench_.run(words).exit_code, 0);
  ASSERT_EQ(::chmod(bench_.state().c_str(), 0777), 0);
  const auto done = bench_.run(words);
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_THAT(done.err, HasSubstr("other users may write to " + bench_.state()));
}

TEST_F(CheckCommand, ListsTheNodesOfANetwork) {
  test::ModelBuilder model;
  model.input("x", {1, -1}).output("y");
  model.node("Relu", {"x"}, {"y"});
  test::put(bench_ / "m.onnx", model.bytes());
  const auto done = run({bench_ / "m.onnx", "--shape", "x=1x8", "--nodes"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("1 of 1 nodes on OpenCL"));
  EXPECT_THAT(done.out, HasSubstr("Relu"));
  EXPECT_EQ(run({bench_ / "m.onnx", "--shape", "x=1xa"}).exit_code, 2);
  EXPECT_EQ(run({bench_ / "m.onnx", "--shape", "1x8"}).exit_code, 2);
}

TEST_F(CheckCommand, PrintsNothingWithQuiet) {
  const auto done = run({unknown_, "--quiet"});
  EXPECT_EQ(done.exit_code, 1);
  EXPECT_EQ(done.out + done.err, "");
}

}  // namespace
}  // namespace clvet
