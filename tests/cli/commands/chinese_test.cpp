// Every verb in Chinese: no line that a person reads is left in English. Of a verb without forms
// here, the help and what it says to a bare call are read.
#include <gmock/gmock.h>

#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "base/json.h"  // IWYU pragma: keep
#include "probe/report/report.h"
#include "probe/report/report_json.h"
#include "tests/boards.h"
#include "tests/english.h"
#include "tests/probe/fake/helpers.h"
#include "tests/probe/samples.h"
#include "tests/runtime/llm/model_files.h"
#include "tests/runtime/model_builder.h"
#include "tests/support.h"

namespace clvet {
namespace {

using Form = std::vector<std::string>;
using Forms = std::vector<Form>;

constexpr const char* kFewCases = "gemv_split/high/normal/buffer/buffer/float";

// The report as a driver would get it that is always right.
Report all_right(Report report) {
  for (VerdictReport& row : report.verdicts) {
    if (row.verdict == Verdict::kUnsupported) continue;
    row.verdict = Verdict::kPass;
    row.evidence = {};
    row.median_ms = row.piped_ms = 0.25;
  }
  for (DeviceReport& device : report.devices) {
    for (CombinationReport& row : device.combinations) {
      if (row.status == CombinationStatus::kUnsupported) continue;
      row.status = CombinationStatus::kPass;
      row.passed = row.planned;
      row.failed_cases.clear();
    }
    for (auto& [name, row] : device.capabilities) row.verdict = CapabilityVerdict::kTrue;
  }
  return report;
}

// Models, reports and files that are none of them, made once.
class Files {
 public:
  Files() {
    bench.environment()["LC_ALL"] = "C";
    bench.probe();
    test::put(right, report_to_json(all_right(bench.report())));
    test::put(sample, report_to_json(test::sample_report()));
    test::put(none, report_to_json(Report{}));
    test::put(text, "hello");
    put_networks();
    test::put(gguf, test::noisy_model("llama").bytes());
    test::put(unknown, test::tiny_model("phi3").bytes());
    test::put(cut, test::get(gguf).substr(0, 300));
    test::put(ids, "[1, 2]");
  }

  test::Bench bench;
  const std::string fake = bench.report_path(), right = bench / "right.json",
                    sample = bench / "sample.json", none = bench / "none.json",
                    absent = bench / "absent.json", text = bench / "text.onnx",
                    onnx = bench / "m.onnx", odd = bench / "odd.onnx", raw = bench / "x.raw",
                    gguf = bench / "m.gguf", unknown = bench / "unknown.gguf",
                    cut = bench / "cut.gguf", ids = bench / "ids.json", made = bench / "made.json";

 private:
  void put_networks() const {
    test::ModelBuilder model;
    model.input("x", {1, 4, 8, 8}).output("y");
    model.node("Relu", {"x"}, {"r"});
    model.node("Add", {"r", "x"}, {"y"});
    test::put(onnx, model.bytes());
    test::ModelBuilder other;
    other.input("x", {1, -1}).output("y");
    other.node("Frobnicate", {"x"}, {"y"});
    test::put(odd, other.bytes());
    test::put(raw, std::string(4 * 8 * 8 * sizeof(float), '\0'));
  }
};

Forms probe_forms(const Files& files) {
  const Form few{"probe", "--library", FAKE_CL, "--out", files.made, "--case", kFewCases};
  Forms forms{{"probe", "--library", FAKE_CL, "--out", files.fake, "--if-changed"},
              few,
              {"probe", "--library", "/nonexistent/libOpenCL.so", "--out", files.made},
              {"probe", "--library", files.text, "--out", files.made},
              {"probe", "--library", FAKE_CL, "--out", "/nonexistent/report.json"},
              {"probe", "--library", FAKE_CL, "--out", files.text, "--if-changed"},
              {"probe", "--library", FAKE_CL, "--case", "gemv"},
              {"probe", "--tier", "half"},
              {"probe", "--budget", "-3"},
              {"probe", "--budget", "soon"},
              {"probe", "--jobs", "0"},
              {"probe", "--no-such-option"},
              {"probe", "--out"}};
  for (const Form& more : Forms{{"--device", "GeForce"}, {"--data-dir", "/nonexistent"}}) {
    forms.push_back(few);
    forms.back().insert(forms.back().end(), more.begin(), more.end());
  }
  return forms;
}

// Each board's tree, with the framework that it is about.
void add_boards(const Files& files, Forms& forms) {
  for (const std::string& name : test::board_names()) {
    const nlohmann::json board = test::board(name);
    if (!board.contains("tree")) continue;
    const std::string root = files.bench / ("boards/" + name);
    std::filesystem::create_directories(root);
    test::build_board(board.at("tree"), root);
    forms.push_back({"discover", "--root", root});
    for (const std::string framework : {"mnn", "tflite", "llama.cpp"})
      forms.push_back({"discover", "--root", root, "--as", framework});
  }
}

Forms discover_forms(const Files& files) {
  Forms forms{{"discover", "--library", FAKE_CL},
              {"discover", "--library", FAKE_CL, "--as", "mnn"},
              {"discover", "--library", FAKE_CL, "--as", "llama.cpp"},
              {"discover", "--library", FAKE_CL_PARTIAL, files.text, "/nonexistent/libOpenCL.so"},
              {"discover", "--library", FAKE_CL, "--fix-script", files.made},
              {"discover", "--library", FAKE_CL, "--fix-script", "/nonexistent/fix.sh"},
              {"discover", "--fix-script", "-", "--json", "-"},
              {"discover", "--as", "tensorrt"},
              {"discover", "--root", ""},
              {"discover", "--root", files.absent},
              {"discover", "--root", files.text},
              {"discover", "--data-dir", "/nonexistent"},
              {"discover", "--no-such-option"}};
  add_boards(files, forms);
  return forms;
}

Forms report_forms(const Files& files) {
  Forms forms{{"report"}, {"report", "emit"}, {"report", "show", "--no-such-option"}};
  for (const std::string verb : {"show", "html", "summary"}) {
    for (const std::string& file : {files.fake, files.right, files.sample, files.none, files.absent,
                                    files.text, std::string("/tmp")})
      forms.push_back({"report", verb, file});
    forms.push_back({"report", verb});
    forms.push_back({"report", verb, files.sample, files.none});
    forms.push_back({"report", verb, files.sample, "--out", files.made});
    forms.push_back({"report", verb, files.sample, "--out", "/nonexistent/page"});
    forms.push_back({"report", verb, files.sample, "--data-dir", "/nonexistent"});
  }
  return forms;
}

Forms check_forms(const Files& files) {
  Forms forms{{"check"},
              {"check", files.onnx, "--shape", "x=1xa"},
              {"check", files.onnx, "--shape", "1x8"},
              {"check", files.onnx, "--shape", "z=1x8"},
              {"check", files.onnx, "--report", files.absent},
              {"check", files.onnx, "--report", files.text},
              {"check", files.onnx, "--no-such-option"}};
  for (const std::string& model : {files.onnx, files.odd, files.gguf, files.unknown, files.cut,
                                   files.text, files.absent, std::string("/tmp")}) {
    forms.push_back({"check", model, "--nodes"});
    for (const std::string& report : {files.fake, files.right, files.sample, files.none})
      forms.push_back({"check", model, "--report", report});
  }
  return forms;
}

Forms plan_forms(const Files& files) {
  Forms forms{{"plan"},
              {"plan", files.odd, "--shape", "x=1x8", "--report", files.right},
              {"plan", files.onnx, "--shape", "x=1", "--report", files.right},
              {"plan", files.gguf, "--device", "host"},
              {"plan", files.onnx, "--device", "GeForce", "--report", files.right},
              {"plan", files.onnx, "--precision", "float"},
              {"plan", files.onnx, "--report", files.absent},
              {"plan", files.onnx, "--report", files.right, "--out", "/nonexistent/plan.json"},
              {"plan", files.gguf, "--report", files.right, "--out", files.bench / "g.plan.json"},
              {"plan", files.onnx, "--report", files.right, "--out", files.bench / "m.plan.json"}};
  for (const std::string& model :
       {files.onnx, files.odd, files.gguf, files.unknown, files.cut, files.text, files.absent}) {
    forms.push_back({"plan", model});
    for (const std::string& report : {files.fake, files.right, files.sample, files.none})
      forms.push_back({"plan", model, "--report", report});
  }
  return forms;
}

// None without a report, and none with a stale one: this machine's own drivers would be probed.
Forms run_forms(const Files& files) {
  const std::string input = "x=" + files.raw;
  const Form run{"run", files.onnx, "--input", input, "--report", files.right};
  Forms forms{{"run"},
              {"run", files.onnx, "--input", input, "--device", "host", "--top", "2"},
              {"run", files.onnx, "--input", input, "--report", files.fake, "--explain"},
              {"run", files.onnx, "--input", input, "--report", files.fake, "--strict"},

              {"run", files.onnx, "--input", input, "--report", files.absent},
              {"run", files.onnx, "--report", files.right},
              {"run", files.onnx, "--input", "y=" + files.raw, "--report", files.right},
              {"run", files.onnx, "--input", "x=" + files.absent, "--report", files.right},
              {"run", files.onnx, "--input", "x=" + files.ids, "--report", files.right},
              {"run", files.onnx, "--input", files.raw, "--report", files.right},
              {"run", files.odd, "--input", input, "--report", files.right},
              {"run", files.text, "--input", input, "--report", files.right},
              {"run", files.absent, "--input", input, "--report", files.right},
              {"run", files.gguf, "--input", input, "--report", files.right}};
  for (const Form& more : Forms{{"--explain"},
                                {"--isolate"},
                                {"--repeat", "3"},
                                {"--device", "GeForce"},
                                {"--strict"},
                                {"--top", "0"},
                                {"--mean", "1,2"},
                                {"--image-size", "big"},
                                {"--decode", "ctc"},
                                {"--output-dir", "/proc/clvet"},
                                {"--plan", files.absent},
                                {"--plan", files.text},
                                {"--plan", files.bench / "m.plan.json"},
                                {"--plan", files.made, "--device", "host"},
                                {"--precision", "low", "--explain"},
                                {"--activations", "image", "--explain"}}) {
    forms.push_back(run);
    forms.back().insert(forms.back().end(), more.begin(), more.end());
  }
  return forms;
}

Forms generate_forms(const Files& files) {
  Forms forms{{"generate"},
              {"generate", files.gguf},
              {"generate", files.gguf, "--prompt", "b", "--prompt-ids", files.ids},
              {"generate", files.gguf, "--prompt", "b", "--report", files.absent},
              {"generate", files.gguf, "--prompt-ids", files.text, "--report", files.right},
              {"generate", files.gguf, "--teacher-forced", files.ids, "--report", files.right},
              {"generate", files.gguf, "--prompt-ids", files.ids, "--device", "host", "-n", "2"}};
  for (const std::string& model : {files.unknown, files.cut, files.text, files.onnx, files.absent})
    forms.push_back({"generate", model, "--prompt", "b", "--report", files.right});
  for (const std::string& report : {files.fake, files.right}) {
    for (const Form& more : Forms{{"--explain"},
                                  {"--strict"},
                                  {"--isolate"},
                                  {"--chat"},
                                  {"--system", "b"},
                                  {"--device", "GeForce"},
                                  {"--temperature", "-1"},
                                  {"--top-p", "2"},
                                  {"-n", "0"},
                                  {"--plan", files.absent},
                                  {"--plan", files.bench / "g.plan.json"},
                                  {"--precision", "low", "--explain"},
                                  {"--memory", "low", "--explain"}}) {
      forms.push_back({"generate", files.gguf, "--prompt", "b", "-n", "3", "--report", report});
      forms.back().insert(forms.back().end(), more.begin(), more.end());
    }
  }
  return forms;
}

using FormsOf = Forms (*)(const Files&);
const std::map<std::string, FormsOf> kVerbs{
    {"probe", probe_forms},      {"discover", discover_forms}, {"report", report_forms},
    {"check", check_forms},      {"plan", plan_forms},         {"run", run_forms},
    {"generate", generate_forms}};

// The names below "Verbs:" in a help text in Chinese.
std::vector<std::string> subcommands(const std::string& help) {
  std::vector<std::string> names;
  std::istringstream lines(help);
  std::string line;
  while (std::getline(lines, line) && !line.starts_with("动词:")) continue;
  while (std::getline(lines, line) && line.starts_with("  "))
    names.push_back(line.substr(2, line.find(' ', 2) - 2));
  return names;
}

class Chinese : public testing::TestWithParam<std::string> {
 protected:
  // Made once for all tests here.
  static Files& files() {
    static Files made;
    return made;
  }

  // Its standard output, after a look at all that it printed.
  static std::string judged(test::Bench& bench, Form form) {
    form.insert(form.end(), {"--lang", "zh"});
    const auto done = bench.run(form);
    EXPECT_EQ(done.signal, 0);
    EXPECT_NE(done.exit_code, 4) << done.err;
    std::string command = "clvet";
    for (const std::string& word : form) command += " " + word;
    const bool page = done.out.starts_with("<!DOCTYPE");
    for (const std::string& text : {page ? test::text_of_page(done.out) : done.out, done.err}) {
      for (const std::string& fault : test::english_lines(text))
        ADD_FAILURE() << fault << "\n  of: " << command;
    }
    return done.out;
  }
};

TEST_P(Chinese, IsWhatItsVerbPrints) {
  for (const Form& form : kVerbs.at(GetParam())(files())) judged(files().bench, form);
}

TEST_P(Chinese, IsWhatItsHelpSays) {
  for (const std::string& form : subcommands(judged(files().bench, {GetParam(), "--help"})))
    judged(files().bench, {GetParam(), form, "--help"});
}

std::vector<std::string> names_of_verbs() {
  std::vector<std::string> names;
  for (const auto& [name, forms] : kVerbs) names.push_back(name);
  return names;
}
INSTANTIATE_TEST_SUITE_P(Verbs, Chinese, testing::ValuesIn(names_of_verbs()),
                         [](const auto& name) { return name.param; });

class ChineseProgram : public Chinese {};

TEST_F(ChineseProgram, IsWhatEveryVerbSpeaks) {
  const auto verbs = subcommands(judged(files().bench, {"--help"}));
  EXPECT_THAT(verbs, testing::IsSupersetOf(names_of_verbs()));
  for (const std::string& verb : verbs) {
    if (kVerbs.contains(verb)) continue;
    for (const Form& form : Forms{{verb}, {verb, "--help"}, {verb, "--no-such-option"}})
      judged(files().bench, form);
  }
  for (const Form& wrong : Forms{{}, {"prob"}, {"--no-such-option"}}) judged(files().bench, wrong);
}

TEST_F(ChineseProgram, SaysWhatHostileDriversDid) {
  for (const char* name :
       {"build-abort.json", "canary-wrong.json", "kernel-null-success.json", "wrong-tile.json",
        "small-images.json", "device-lost.json", "build-exit0.json", "devices-none.json"}) {
    SCOPED_TRACE(name);
    test::Bench bench("none", test::scenario(name));
    judged(bench, {"probe", "--library", FAKE_CL, "--out", bench.report_path(), "--case", kFewCases,
                   "--case", "gemv_split/low/low/image/image/int4"});
    for (const char* verb : {"show", "html", "summary"})
      judged(bench, {"report", verb, bench.report_path()});
  }
}

TEST_F(ChineseProgram, SaysWhyALibraryGivesNoDevice) {
  for (const char* name : {"context-not-available.json", "devices-none.json",
                           "enumerate-no-platform.json", "load-crash.json", "load-exit0.json"}) {
    SCOPED_TRACE(name);
    test::Bench bench("none", test::scenario(name));
    judged(bench, {"discover", "--library", FAKE_CL, "--as", "mnn"});
  }
}

// A state folder that is none ends it before any driver is loaded.
TEST_F(ChineseProgram, SaysThatThereIsNoReportYet) {
  test::Bench bench;
  bench.environment()["CLVET_STATE_DIR"] = files().text;
  judged(bench, {"run", files().onnx, "--input", "x=" + files().raw});
  judged(bench, {"generate", files().gguf, "--prompt", "b"});
}

}  // namespace
}  // namespace clvet
