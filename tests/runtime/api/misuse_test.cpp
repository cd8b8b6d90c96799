// The public session as a program sees it that has the installed headers alone: each misuse is an
// error with a name, and the session goes on.
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>
#include "clvet/clvet.h"

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/runtime/api/model_files.h"
#include "tests/runtime/api/place.h"
#include "tests/support.h"

namespace {

using clvet::Access;
using clvet::Error;
using clvet::ErrorCode;
using clvet::Session;
using clvet::Shape;
using clvet::Values;
using clvet::test::at_place;

constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();

// What a call said that had to fail.
template <class T>
Error refused(const clvet::Result<T>& result) {
  EXPECT_FALSE(result) << "it was allowed";
  return result ? Error{} : result.error();
}

// A session of the doubling network with x of 2 rows, all inputs set.
Session ready(const std::string& file) {
  auto session = Session::open(file, at_place<clvet::SessionOptions>(file + ".state"));
  EXPECT_TRUE(session) << session.error().message;
  EXPECT_TRUE(session->resize({{"x", {2, 2}}}));
  for (const char* name : {"x", "n"}) EXPECT_TRUE(session->map(name, Access::write));
  return std::move(*session);
}

struct Misuse {
  const char* name;
  ErrorCode code;
  const char* says;  // a part of the message
  std::function<Error(Session& session)> commit;
};

Error resized(Session& session, const std::string& name, const Shape& shape) {
  return refused(session.resize({{name, shape}}));
}

const std::vector<Misuse>& of_names_and_shapes() {
  static const std::vector<Misuse> all = {
      {"ResizeOfNoInput", ErrorCode::invalid_argument, "no input 'z'",
       [](Session& s) { return resized(s, "z", {1}); }},
      {"ResizeOfAnOutput", ErrorCode::invalid_argument, "no input 'y'",
       [](Session& s) {
         return resized(s, "y", {1, 2});
       }},
      {"ResizeOfAnEmptyName", ErrorCode::invalid_argument, "no input ''",
       [](Session& s) {
         return resized(s, "", {1, 2});
       }},
      {"ResizeOfANameInBrokenUtf8", ErrorCode::invalid_argument, "no input",
       [](Session& s) {
         return resized(s, "\xff\xfe", {1, 2});
       }},
      {"ResizeToOtherColumns", ErrorCode::invalid_argument, "the model wants [?,2]",
       [](Session& s) {
         return resized(s, "x", {2, 3});
       }},
      {"ResizeToFewerAxes", ErrorCode::invalid_argument, "2 axes",
       [](Session& s) { return resized(s, "x", {4}); }},
      {"ResizeToNoAxes", ErrorCode::invalid_argument, "2 axes",
       [](Session& s) { return resized(s, "x", {}); }},
      {"ResizeToANegativeSize", ErrorCode::invalid_argument, "0 or more",
       [](Session& s) {
         return resized(s, "x", {-5, 2});
       }},
      {"ResizeToAnOpenShape", ErrorCode::invalid_argument, "0 or more",
       [](Session& s) {
         return resized(s, "x", {-1, 2});
       }},
      {"ResizeToMoreThanCanBeCounted", ErrorCode::invalid_argument, "'x'",
       [](Session& s) {
         return resized(s, "x", {kHuge, 2});
       }},
      {"MapOfNoTensor", ErrorCode::invalid_argument, "'x', 'n', 'y', 'm'",
       [](Session& s) { return refused(s.map("z", Access::read)); }},
      {"MapOfAnOutputForWriting", ErrorCode::invalid_argument, "outputs are for reading",
       [](Session& s) { return refused(s.map("y", Access::write)); }},
      {"MapOfAnOutputBeforeTheFirstRun", ErrorCode::unavailable, "before the first run",
       [](Session& s) { return refused(s.map("y", Access::read)); }},
      {"MapOfMoreThanThereIsMemory", ErrorCode::resource_exhausted, "",
       [](Session& s) {
         EXPECT_TRUE(s.resize({{"x", {int64_t{1} << 36, 2}}}));
         return refused(s.map("x", Access::write));
       }},
      {"RunOfMoreThanThereIsMemory", ErrorCode::resource_exhausted, "",
       [](Session& s) {
         EXPECT_TRUE(s.resize({{"x", {int64_t{1} << 36, 2}}}));
         return refused(s.warm_up());
       }},
  };
  return all;
}

const std::vector<Misuse>& of_mappings() {
  static const std::vector<Misuse> all = {
      {"MapTwiceForWriting", ErrorCode::busy, "mapped for writing",
       [](Session& s) {
         const auto first = s.map("x", Access::write);
         return refused(s.map("x", Access::write));
       }},
      {"MapForReadingWhileItIsWritten", ErrorCode::busy, "mapped for writing",
       [](Session& s) {
         const auto first = s.map("x", Access::write);
         return refused(s.map("x", Access::read));
       }},
      {"MapForWritingWhileItIsRead", ErrorCode::busy, "mapped for reading",
       [](Session& s) {
         const auto first = s.map("x", Access::read), second = s.map("x", Access::read);
         return refused(s.map("x", Access::write));
       }},
      {"RunWhileAnInputIsMapped", ErrorCode::busy, "'x' is mapped for writing",
       [](Session& s) {
         const auto mapped = s.map("x", Access::write);
         return refused(s.run());
       }},
      {"WarmUpWhileAnInputIsMapped", ErrorCode::busy, "'n' is mapped for writing",
       [](Session& s) {
         const auto mapped = s.map("n", Access::write);
         return refused(s.warm_up());
       }},
      {"ViewAsAnotherType", ErrorCode::invalid_argument, "it holds f32, not f64",
       [](Session& s) { return refused(s.map("x", Access::write)->as<double>()); }},
      {"ViewOfIntegersAsFloats", ErrorCode::invalid_argument, "it holds i64, not f32",
       [](Session& s) { return refused(s.map("n", Access::read)->as<const float>()); }},
      {"ViewForWritingOfWhatIsRead", ErrorCode::invalid_argument, "mapped for reading",
       [](Session& s) { return refused(s.map("x", Access::read)->as<float>()); }},
      {"ViewOfAnotherShape", ErrorCode::invalid_argument, "[2,2], not [4]",
       [](Session& s) { return refused(s.map("x", Access::write)->as<float>({4})); }},
      {"ViewInAnotherLayout", ErrorCode::invalid_argument, "[2,2], not [1,2,2]",
       [](Session& s) {
         return refused(s.map("x", Access::write)->as<float>({1, 2, 2}));
       }},
      {"ViewOfWhatWasUnmapped", ErrorCode::stale, "it was unmapped",
       [](Session& s) {
         auto mapped = s.map("x", Access::write);
         EXPECT_TRUE(mapped->unmap());
         return refused(mapped->as<float>());
       }},
      {"UnmapTwice", ErrorCode::stale, "unmapped already",
       [](Session& s) {
         auto mapped = s.map("x", Access::write);
         EXPECT_TRUE(mapped->unmap());
         return refused(mapped->unmap());
       }},
      {"ViewAfterResize", ErrorCode::stale, "was resized",
       [](Session& s) {
         const auto mapped = s.map("x", Access::write);
         EXPECT_TRUE(s.resize({{"x", {3, 2}}}));
         return refused(mapped->as<float>());
       }},
      {"UnmapAfterResize", ErrorCode::stale, "ended with resize()",
       [](Session& s) {
         auto mapped = s.map("x", Access::write);
         EXPECT_TRUE(s.resize({{"x", {3, 2}}}));
         return refused(mapped->unmap());
       }},
      {"ViewAfterResizeToTheSameShape", ErrorCode::stale, "was resized",
       [](Session& s) {
         const auto mapped = s.map("x", Access::write);
         EXPECT_TRUE(s.resize({{"x", {2, 2}}}));
         return refused(mapped->as<float>());
       }},
      {"RunAfterResizeWithoutValues", ErrorCode::invalid_argument, "'x' has no values yet",
       [](Session& s) {
         EXPECT_TRUE(s.resize({{"x", {3, 2}}}));
         return refused(s.run());
       }},
      {"MapOfAnOldOutputAfterResize", ErrorCode::unavailable, "before the first run",
       [](Session& s) {
         EXPECT_TRUE(s.run());
         EXPECT_TRUE(s.resize({{"x", {3, 2}}}));
         return refused(s.map("y", Access::read));
       }},
      {"ViewThroughAMappingThatWasMoved", ErrorCode::stale, "moved from",
       [](Session& s) {
         auto mapped = s.map("x", Access::write);
         const auto other = std::move(*mapped);
         return refused(mapped->as<float>());  // NOLINT(bugprone-use-after-move)
       }},
      {"UnmapOfAMappingThatWasMoved", ErrorCode::stale, "moved from",
       [](Session& s) {
         auto mapped = s.map("x", Access::write);
         const auto other = std::move(*mapped);
         return refused(mapped->unmap());  // NOLINT(bugprone-use-after-move)
       }},
  };
  return all;
}

// Two floats that somebody else keeps.
Values row(const Shape& shape, clvet::DataType type = clvet::DataType::f32) {
  static const float values[2] = {1, 2};
  return {type, shape, std::shared_ptr<const void>(values, [](const void*) {})};
}

Error set(Session& session, const std::string& name, const Values& values) {
  return refused(session.set({{name, values}}));
}

const std::vector<Misuse>& of_values() {
  static const std::vector<Misuse> all = {
      {"SetOfNoInput", ErrorCode::invalid_argument, "no input 'z'",
       [](Session& s) {
         return set(s, "z", row({1, 2}));
       }},
      {"SetOfAnOutput", ErrorCode::invalid_argument, "no input 'y'",
       [](Session& s) {
         return set(s, "y", row({1, 2}));
       }},
      {"SetOfAnotherType", ErrorCode::invalid_argument, "it holds f32, not i8",
       [](Session& s) {
         return set(s, "x", row({1, 2}, clvet::DataType::i8));
       }},
      {"SetOfATypeThatIsNone", ErrorCode::invalid_argument, "it holds f32, not type 77",
       [](Session& s) {
         return set(s, "x", row({1, 2}, static_cast<clvet::DataType>(77)));
       }},
      {"SetOfAnotherShape", ErrorCode::invalid_argument, "the model wants [?,2]",
       [](Session& s) {
         return set(s, "x", row({2, 1}));
       }},
      {"SetOfANegativeShape", ErrorCode::invalid_argument, "0 or more",
       [](Session& s) {
         return set(s, "x", row({-1, 2}));
       }},
      {"SetOfMoreThanCanBeCounted", ErrorCode::invalid_argument, "'x'",
       [](Session& s) {
         return set(s, "x", row({kHuge, 2}));
       }},
      {"SetToAnOddAddress", ErrorCode::invalid_argument, "do not lie at a multiple of that",
       [](Session& s) {
         Values odd = row({1, 2});
         odd.data = {odd.data, static_cast<const char*>(odd.data.get()) + 1};
         return set(s, "x", odd);
       }},
      {"SetToNull", ErrorCode::invalid_argument, "the values are null",
       [](Session& s) {
         return set(s, "x", Values{clvet::DataType::f32, {1, 2}, nullptr});
       }},
      {"SetWhileItIsMappedForWriting", ErrorCode::busy, "mapped for writing",
       [](Session& s) {
         const auto mapped = s.map("x", Access::write);
         return set(s, "x", row({1, 2}));
       }},
      {"SetOfOneRightAndOneWrong", ErrorCode::invalid_argument, "no input 'z'",
       [](Session& s) {
         const auto before = s.map("x", Access::read)->info().shape;
         Error error = refused(s.set({{"x", row({1, 2})}, {"z", row({1, 2})}}));
         EXPECT_EQ((*s.inputs())[0].shape, before) << "all stays as it was";
         return error;
       }},
      {"ViewForWritingAfterASetOfAnotherShape", ErrorCode::stale, "map it again",
       [](Session& s) {
         EXPECT_TRUE(s.run());
         auto output = s.map("y", Access::read);
         auto other = s.map("n", Access::write);
         EXPECT_TRUE(s.set({{"x", row({1, 2})}}));
         EXPECT_TRUE(other->as<int64_t>()) << "that input did not change";
         EXPECT_EQ(refused(output->unmap()).code, ErrorCode::stale);
         EXPECT_TRUE(other->unmap());
         auto mapped = s.map("x", Access::write);
         EXPECT_TRUE(s.resize({{"x", {1, 2}}}));
         return refused(mapped->as<float>());
       }},
  };
  return all;
}

class PublicMisuse : public testing::TestWithParam<Misuse> {
 protected:
  const clvet::test::TempDir folder_;
  const std::string doubling_ = clvet::test::write_doubling(folder_.path());
};

TEST_P(PublicMisuse, IsAnErrorWithANameAndTheSessionGoesOn) {
  Session session = ready(doubling_);
  const Error error = GetParam().commit(session);
  EXPECT_EQ(error.code, GetParam().code) << to_string(error.code);
  EXPECT_THAT(error.message, testing::HasSubstr(GetParam().says));
  EXPECT_THAT(error.message, testing::Not(testing::HasSubstr("\n")));
  ASSERT_TRUE(session.resize({{"x", {2, 2}}}));
  for (const char* name : {"x", "n"}) EXPECT_TRUE(session.map(name, Access::write));
  EXPECT_TRUE(session.run());
}

std::string name_of(const testing::TestParamInfo<Misuse>& info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(OfNamesAndShapes, PublicMisuse, testing::ValuesIn(of_names_and_shapes()),
                         name_of);
INSTANTIATE_TEST_SUITE_P(OfMappings, PublicMisuse, testing::ValuesIn(of_mappings()), name_of);
INSTANTIATE_TEST_SUITE_P(OfValues, PublicMisuse, testing::ValuesIn(of_values()), name_of);

struct PublicMisuseOfSessions : testing::Test {
  const clvet::test::TempDir folder_;
  const std::string doubling_ = clvet::test::write_doubling(folder_.path());
};

TEST_F(PublicMisuseOfSessions, OpenOfAFileThatIsNotThereSaysSo) {
  const Error error = refused(Session::open("/nowhere/m.onnx", {.device = "host"}));
  EXPECT_EQ(error.code, ErrorCode::not_found) << error.message;
}

TEST_F(PublicMisuseOfSessions, OpenOfWhatIsNoModelSaysSo) {
  clvet::test::put(folder_ / "m.onnx", "not a model");
  EXPECT_EQ(refused(Session::open(folder_ / "m.onnx", {.device = "host"})).code,
            ErrorCode::invalid_argument);
}

TEST_F(PublicMisuseOfSessions, OpenWithWordsThatDoNotExistSaysWhichDo) {
  const Error error = refused(Session::open(doubling_, {.device = "host", .precision = "fp16"}));
  EXPECT_EQ(error.code, ErrorCode::invalid_argument);
  EXPECT_THAT(error.message, testing::HasSubstr("auto, low, normal or high"));
  const Error start = refused(Session::open(doubling_, {.device = "host", .start = "gpu-first"}));
  EXPECT_EQ(start.code, ErrorCode::invalid_argument);
  EXPECT_THAT(start.message, testing::HasSubstr("device or cpu-first"));
}

TEST_F(PublicMisuseOfSessions, OpenWithAReportThatIsNotThereSaysSo) {
  const Error error = refused(Session::open(doubling_, {.report = folder_ / "none.json"}));
  EXPECT_EQ(error.code, ErrorCode::not_found) << error.message;
}

TEST_F(PublicMisuseOfSessions, OpenWithAReportCutInHalfSaysSo) {
  clvet::test::put(folder_ / "half.json", R"({"schema": "clvet.report/1", "devi)");
  EXPECT_EQ(refused(Session::open(doubling_, {.report = folder_ / "half.json"})).code,
            ErrorCode::invalid_argument);
}

TEST_F(PublicMisuseOfSessions, EachCallOfASessionThatWasMovedSaysSo) {
  Session session = ready(doubling_);
  Session other = std::move(session);
  EXPECT_EQ(refused(session.run()).code, ErrorCode::stale);  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(refused(session.warm_up()).code, ErrorCode::stale);
  EXPECT_EQ(refused(session.map("x", Access::read)).code, ErrorCode::stale);
  EXPECT_EQ(refused(session.resize({})).code, ErrorCode::stale);
  EXPECT_EQ(refused(session.inputs()).code, ErrorCode::stale);
  EXPECT_EQ(refused(session.outputs()).code, ErrorCode::stale);
  EXPECT_EQ(refused(session.placement()).code, ErrorCode::stale);
  EXPECT_EQ(refused(session.run_async().get()).code, ErrorCode::stale);
  session.cancel();
  EXPECT_TRUE(other.run());
}

TEST_F(PublicMisuseOfSessions, AMappingOutlivesItsSession) {
  std::optional<Session> session = ready(doubling_);
  ASSERT_TRUE(session->run());
  auto output = session->map("y", Access::read), input = session->map("x", Access::write);
  session.reset();
  EXPECT_EQ(output->as<const float>()->size(), 4u) << "what was read stays";
  EXPECT_EQ(refused(input->as<float>()).code, ErrorCode::stale);
  EXPECT_EQ(refused(input->unmap()).code, ErrorCode::stale);
}

TEST_F(PublicMisuseOfSessions, AWarningFunctionThatThrowsIsAnErrorOfTheCall) {
  auto session =
      Session::open(doubling_, {.state_dir = folder_.path(), .warning = [](const std::string&) {
                                  throw std::runtime_error("the log is full");
                                }});
  ASSERT_TRUE(session);
  ASSERT_TRUE(session->resize({{"x", {2, 2}}}));
  const Error error = refused(session->warm_up());
  EXPECT_THAT(error.message, testing::HasSubstr("the log is full"));
  for (const char* name : {"x", "n"}) EXPECT_TRUE(session->map(name, Access::write));
  EXPECT_TRUE(session->run());
}

// In a child that a test forks, what fails ends it with this status.
TEST_F(PublicMisuseOfSessions, OpenOfADeviceFileSaysSoAndReadsNothing) {
  const Error error = refused(Session::open("/dev/zero", {.device = "host"}));
  EXPECT_EQ(error.code, ErrorCode::invalid_argument) << error.message;
}

TEST_F(PublicMisuseOfSessions, OpenOfADeviceThatIsNotThereSaysSo) {
  if (clvet::test::report_of_place().empty()) GTEST_SKIP() << "there is no report";
  auto options = at_place<clvet::SessionOptions>(folder_.path());
  options.device = "no such device";
  auto session = Session::open(doubling_, options);
  ASSERT_TRUE(session) << session.error().message;
  ASSERT_TRUE(session->resize({{"x", {1, 2}}}));
  EXPECT_EQ(refused(session->warm_up()).code, ErrorCode::not_found);
}

TEST_F(PublicMisuseOfSessions, OpenWithAContextAndAReportSaysSo) {
  const auto context = clvet::Context::open({.state_dir = folder_.path()});
  ASSERT_TRUE(context) << context.error().message;
  const Error error =
      refused(Session::open(doubling_, {.report = folder_ / "r.json", .context = *context}));
  EXPECT_EQ(error.code, ErrorCode::invalid_argument);
  EXPECT_THAT(error.message, testing::HasSubstr("leave `report` and `state_dir` empty"));
}

TEST_F(PublicMisuseOfSessions, AChildProcessIsToldToOpenAContextOfItsOwn) {
  const auto context = clvet::Context::open({.state_dir = folder_.path()});
  const pid_t child = ::fork();
  if (child == 0) {
    const auto session = Session::open(doubling_, {.context = *context});
    ::_exit(!session && session.error().code == ErrorCode::unavailable ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(PublicMisuseOfSessions, AByteThatIsNoBoolIsNotRunWith) {
  auto session = Session::open(clvet::test::write_negating(folder_.path()),
                               at_place<clvet::SessionOptions>(folder_ / "state"));
  ASSERT_TRUE(session) << session.error().message;
  const auto bytes = std::make_shared<std::array<uint8_t, 2>>(std::array<uint8_t, 2>{1, 2});
  ASSERT_TRUE(session->set({{"b", {clvet::DataType::boolean, {1, 2}, bytes}}}));
  const Error error = refused(session->run());
  EXPECT_EQ(error.code, ErrorCode::invalid_argument);
  EXPECT_THAT(error.message, testing::HasSubstr("'b' holds a byte that is no bool"));
  (*bytes)[1] = 0;
  EXPECT_TRUE(session->run());
}

TEST_F(PublicMisuseOfSessions, AChildProcessIsToldToOpenItsOwn) {
  Session session = ready(doubling_);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto ran = session.run();
    ::_exit(!ran && ran.error().code == ErrorCode::unavailable ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(session.run());
}

TEST_F(PublicMisuseOfSessions, AChildProcessMayDropTheSession) {
  auto session = std::make_unique<Session>(ready(doubling_));
  EXPECT_TRUE(session->run_async().get());  // with a thread, which the child does not have
  const pid_t child = ::fork();
  if (child == 0) {
    session.reset();
    ::_exit(0);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(session->run());
}

}  // namespace
