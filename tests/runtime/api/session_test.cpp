// The public session as a program sees it that has the installed headers alone: right use.
#include <gmock/gmock.h>
#include "base/json.h"
#include "clvet/clvet.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <future>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/runtime/api/model_files.h"
#include "tests/runtime/api/place.h"
#include "tests/support.h"

namespace {

using clvet::Access;
using clvet::ErrorCode;
using clvet::Session;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

class PublicSession : public testing::Test {
 protected:
  static Session open(const std::string& file) {
    auto session =
        Session::open(file, clvet::test::at_place<clvet::SessionOptions>(file + ".state"));
    EXPECT_TRUE(session) << session.error().message;
    return std::move(*session);
  }
  // By a report that knows no other combinations: which one is predicted to be the fastest for a
  // small model is a matter of noise.
  static Session open_on_float_buffers(const std::string& file) {
    if (clvet::test::report_of_place().empty()) return open(file);
    auto options = clvet::test::at_place<clvet::SessionOptions>(file + ".state");
    auto report = nlohmann::json::parse(clvet::test::get(options.report));
    auto& verdicts = report.at("verdicts").get_ref<nlohmann::json::array_t&>();
    std::erase_if(verdicts, [](const nlohmann::json& verdict) {
      const auto& words = verdict.at("combination");
      return words.at("activations") != "buffer" || words.at("precision") != "high";
    });
    options.report = file + ".report.json";
    clvet::test::put(options.report, report.dump());
    auto session = Session::open(file, options);
    EXPECT_TRUE(session) << session.error().message;
    return std::move(*session);
  }
  template <class T>
  static void fill(Session& session, const std::string& name, const std::vector<T>& values) {
    auto mapped = session.map(name, Access::write);
    ASSERT_TRUE(mapped) << mapped.error().message;
    const auto view = mapped->as<T>();
    ASSERT_TRUE(view) << view.error().message;
    ASSERT_EQ(view->size(), values.size());
    std::copy(values.begin(), values.end(), view->begin());
  }
  template <class T>
  static std::vector<T> values_of(Session& session, const std::string& name) {
    const auto mapped = session.map(name, Access::read);
    EXPECT_TRUE(mapped) << (mapped ? "" : mapped.error().message);
    if (!mapped) return {};
    const auto view = mapped->template as<const T>();
    EXPECT_TRUE(view);
    return std::vector<T>(view->begin(), view->end());
  }

  const clvet::test::TempDir folder_;
  const std::string doubling_ = clvet::test::write_doubling(folder_.path());
};

TEST_F(PublicSession, RunsWhatItsInputsHold) {
  Session session = open(doubling_);
  ASSERT_TRUE(session.resize({{"x", {2, 2}}}));
  fill<float>(session, "x", {1, 2, 3, 4});
  fill<int64_t>(session, "n", {7, 8});
  ASSERT_TRUE(session.run());
  EXPECT_THAT(values_of<float>(session, "y"), ElementsAre(2, 4, 6, 8));
  EXPECT_THAT(values_of<int64_t>(session, "m"), ElementsAre(7, 8));
  fill<float>(session, "x", {-1, 0, 1, 2});
  ASSERT_TRUE(session.run());
  EXPECT_THAT(values_of<float>(session, "y"), ElementsAre(-2, 0, 2, 4));
}

TEST_F(PublicSession, TellsNamesTypesAndShapes) {
  Session session = open(doubling_);
  const auto inputs = session.inputs();
  ASSERT_TRUE(inputs);
  ASSERT_EQ(inputs->size(), 2u);
  EXPECT_EQ((*inputs)[0].name, "x");
  EXPECT_EQ((*inputs)[0].type, clvet::DataType::f32);
  EXPECT_THAT((*inputs)[0].shape, ElementsAre(-1, 2));
  EXPECT_EQ((*inputs)[1].type, clvet::DataType::i64);
  ASSERT_TRUE(session.resize({{"x", {3, 2}}}));
  EXPECT_THAT((*session.inputs())[0].shape, ElementsAre(3, 2));
  ASSERT_TRUE(session.warm_up());
  EXPECT_THAT((*session.outputs())[0].shape, ElementsAre(3, 2));
}

TEST_F(PublicSession, TellsWhatTheFileSaysOfItself) {
  const Session session = open(doubling_);
  const auto metadata = session.metadata();
  ASSERT_TRUE(metadata) << metadata.error().message;
  EXPECT_THAT(*metadata, ElementsAre(Pair("author", "a test"), Pair("character", "\u4e2d\nb\n")));
  EXPECT_THAT(*open(clvet::test::write_reshaping(folder_.path())).metadata(), testing::IsEmpty());
}

TEST_F(PublicSession, TellsHowManyNodesTheDeviceComputed) {
  Session session = open(doubling_);
  ASSERT_TRUE(session.resize({{"x", {2, 2}}}));
  EXPECT_EQ(session.placement()->nodes, 0u) << "nothing ran yet";
  ASSERT_TRUE(session.warm_up());
  const auto placement = session.placement();
  EXPECT_GT(placement->nodes, 0u);
  EXPECT_EQ(placement->nodes_on_device > 0, placement->device != "host");
}

TEST_F(PublicSession, AnswersOnTheHostUntilTheDeviceIsReadyWhereThatIsWanted) {
  auto options = clvet::test::at_place<clvet::SessionOptions>(doubling_ + ".state");
  options.start = "cpu-first";
  auto session = Session::open(doubling_, options);
  ASSERT_TRUE(session) << session.error().message;
  ASSERT_TRUE(session->resize({{"x", {1, 2}}}));
  fill<int64_t>(*session, "n", {0, 0});
  const auto answer = [&] {
    fill<float>(*session, "x", {1, 2});
    EXPECT_TRUE(session->run());
    EXPECT_THAT(values_of<float>(*session, "y"), ElementsAre(2, 4));
    return session->placement()->device;
  };
  EXPECT_EQ(answer(), "host");
  if (options.device == "host") return;
  std::string device = "host";
  for (int i = 0; i < 3000 && device == "host"; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    device = answer();
  }
  EXPECT_NE(device, "host");
}

TEST_F(PublicSession, KeepsWhatAnInputHoldsFromRunToRun) {
  Session session = open(doubling_);
  ASSERT_TRUE(session.resize({{"x", {1, 2}}}));
  fill<float>(session, "x", {1, 2});
  fill<int64_t>(session, "n", {0, 0});
  ASSERT_TRUE(session.run());
  {
    auto mapped = session.map("x", Access::write);
    const auto view = mapped->as<float>();
    EXPECT_THAT(*view, ElementsAre(1, 2)) << "a mapping for writing shows what is there";
    (*view)[1] = 5;
  }
  ASSERT_TRUE(session.run());
  EXPECT_THAT(values_of<float>(session, "y"), ElementsAre(2, 10));
}

TEST_F(PublicSession, TakesAnInputThatDecidesShapesAnewEachTime) {
  Session session = open(clvet::test::write_reshaping(folder_.path()));
  fill<float>(session, "x", {1, 2, 3, 4, 5, 6});
  for (const std::vector<int64_t>& shape : {std::vector<int64_t>{3, 2}, {6, 1}, {2, 3}}) {
    fill<int64_t>(session, "shape", shape);
    ASSERT_TRUE(session.run());
    EXPECT_EQ(session.map("y", Access::read)->info().shape, shape);
  }
}

std::shared_ptr<const void> kept(std::vector<float> values) {
  auto all = std::make_shared<std::vector<float>>(std::move(values));
  return {all, all->data()};
}

TEST_F(PublicSession, ReadsValuesWhereTheyLie) {
  Session session = open(doubling_);
  std::vector<float> mine = {1, 2, 3, 4};
  const std::shared_ptr<const void> lent(mine.data(), [](const void*) {});
  ASSERT_TRUE(session.set({{"x", {clvet::DataType::f32, {2, 2}, lent}}}));
  fill<int64_t>(session, "n", {7, 8});
  ASSERT_TRUE(session.run());
  EXPECT_THAT(values_of<float>(session, "y"), ElementsAre(2, 4, 6, 8));
  mine[0] = 5;
  ASSERT_TRUE(session.run());
  EXPECT_THAT(values_of<float>(session, "y"), ElementsAre(10, 4, 6, 8)) << "there was no copy";
  EXPECT_EQ(session.map("x", Access::read)->as<const float>()->data(), mine.data());
  fill<float>(session, "x", {0, 0, 0, 0});
  EXPECT_THAT(mine, ElementsAre(5, 2, 3, 4)) << "what was lent is never written";
}

// On a device that works in the host's memory, what is mapped is what the device reads: in buffers
// of floats, rows of a multiple of four values lie there as they do on the host.
TEST_F(PublicSession, MapsTheSameMemoryEachTimeAndCopiesNothingThatChangedNot) {
  constexpr size_t kWidth = 64;
  Session session = open_on_float_buffers(clvet::test::write_long(folder_.path(), 1));
  ASSERT_TRUE(session.resize({{"x", {2, kWidth}}}));
  fill<float>(session, "x", std::vector<float>(2 * kWidth, 3));
  ASSERT_TRUE(session.run());
  const float* memory = nullptr;
  for (int i = 0; i < 4; ++i) {
    {
      auto mapped = session.map("x", Access::write);
      const auto view = mapped->as<float>();
      if (i > 0) EXPECT_EQ(view->data(), memory);
      memory = view->data();
      if (!clvet::test::report_of_place().empty())
        EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 4096, 0u) << "not what the device reads";
      EXPECT_EQ((*view)[3], 3) << "a mapping for writing shows what is there";
      (*view)[0] = static_cast<float>(i);
    }
    for (int again = 0; again < 2; ++again) {
      ASSERT_TRUE(session.run());
      const std::vector<float> y = values_of<float>(session, "y");
      EXPECT_EQ(y[1], static_cast<float>(i));  // the columns are turned by one
      EXPECT_EQ(y[kWidth + 1], 3);
    }
  }
  const auto others = kept(std::vector<float>(2 * kWidth, 5));
  ASSERT_TRUE(session.set({{"x", {clvet::DataType::f32, {2, kWidth}, others}}}));
  ASSERT_TRUE(session.run());
  EXPECT_THAT(values_of<float>(session, "y"), testing::Each(5));
  fill<float>(session, "x", std::vector<float>(2 * kWidth, 7));
  ASSERT_TRUE(session.run());
  EXPECT_THAT(values_of<float>(session, "y"), testing::Each(7));
}

TEST_F(PublicSession, LeavesWhatWasReadOfAnInputAsItWas) {
  constexpr size_t kWidth = 64;
  const auto all = [](float value) { return std::vector<float>(kWidth, value); };
  Session session = open(clvet::test::write_long(folder_.path(), 1));
  ASSERT_TRUE(session.resize({{"x", {1, kWidth}}}));
  fill<float>(session, "x", all(1));
  ASSERT_TRUE(session.run());
  fill<float>(session, "x", all(3));
  const auto before = session.map("x", Access::read);
  ASSERT_TRUE(session.set({{"x", {clvet::DataType::f32, {1, kWidth}, kept(all(5))}}}));
  ASSERT_TRUE(session.run());
  EXPECT_THAT(values_of<float>(session, "y"), testing::Each(5));
  EXPECT_THAT(*before->as<const float>(), testing::Each(3));
  ASSERT_TRUE(session.resize({{"x", {1, kWidth}}}));
  fill<float>(session, "x", all(7));
  ASSERT_TRUE(session.run());
  EXPECT_THAT(values_of<float>(session, "y"), testing::Each(7));
  EXPECT_THAT(*before->as<const float>(), testing::Each(3));
}

TEST_F(PublicSession, GivesValuesBackOnceOthersAreSet) {
  Session session = open(doubling_);
  std::weak_ptr<const void> first;
  {
    const auto values = kept({1, 2});
    first = values;
    ASSERT_TRUE(session.set({{"x", {clvet::DataType::f32, {1, 2}, values}}}));
    fill<int64_t>(session, "n", {7, 8});
    ASSERT_TRUE(session.run());
  }
  EXPECT_FALSE(first.expired());
  ASSERT_TRUE(session.set({{"x", {clvet::DataType::f32, {2, 2}, kept({1, 2, 3, 4})}}}));
  EXPECT_TRUE(first.expired());
  ASSERT_TRUE(session.run()) << "the other input keeps its values";
  EXPECT_THAT(values_of<float>(session, "y"), ElementsAre(2, 4, 6, 8));
}

TEST_F(PublicSession, GivesAnOutputThatIsAnInputMemoryOfItsOwn) {
  Session session = open(doubling_);
  ASSERT_TRUE(session.resize({{"x", {1, 2}}}));
  fill<float>(session, "x", {1, 2});
  auto mine = std::make_shared<std::array<int64_t, 2>>(std::array<int64_t, 2>{7, 8});
  ASSERT_TRUE(session.set({{"n", {clvet::DataType::i64, {2}, mine}}}));
  ASSERT_TRUE(session.run());
  const auto output = session.map("m", Access::read);
  (*mine)[0] = 99;
  EXPECT_THAT(*output->as<const int64_t>(), ElementsAre(7, 8));
}

TEST_F(PublicSession, TakesValuesOfNoRows) {
  Session session = open(doubling_);
  ASSERT_TRUE(session.set({{"x", {clvet::DataType::f32, {0, 2}, nullptr}}}));
  fill<int64_t>(session, "n", {7, 8});
  ASSERT_TRUE(session.run());
  EXPECT_THAT(values_of<float>(session, "y"), testing::IsEmpty());
}

TEST_F(PublicSession, SharesAContextWithOthers) {
  const auto context = clvet::Context::open({clvet::test::report_of_place(), folder_.path()});
  ASSERT_TRUE(context) << context.error().message;
  std::vector<Session> sessions;
  for (int i = 0; i < 3; ++i) {
    clvet::SessionOptions options;
    options.device = clvet::test::report_of_place().empty() ? "auto" : "0";
    options.context = *context;
    sessions.push_back(std::move(*Session::open(doubling_, options)));
    ASSERT_TRUE(sessions.back().set(
        {{"x", {clvet::DataType::f32, {1, 2}, kept({static_cast<float>(i), 2})}}}));
    fill<int64_t>(sessions.back(), "n", {7, 8});
  }
  std::vector<std::thread> threads;
  for (Session& session : sessions) {
    threads.emplace_back([&session] {
      for (int i = 0; i < 20; ++i) EXPECT_TRUE(session.run());
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < 3; ++i)
    EXPECT_THAT(values_of<float>(sessions[static_cast<size_t>(i)], "y"), ElementsAre(2 * i, 4));
}

TEST_F(PublicSession, ComputesOnAThreadOfItsOwn) {
  Session session = open(doubling_);
  ASSERT_TRUE(session.resize({{"x", {1, 2}}}));
  fill<float>(session, "x", {1, 2});
  fill<int64_t>(session, "n", {0, 0});
  auto first = session.run_async(), second = session.run_async();
  EXPECT_TRUE(first.get());
  EXPECT_TRUE(second.get());
  EXPECT_THAT(values_of<float>(session, "y"), ElementsAre(2, 4));
}

TEST_F(PublicSession, CancelsWhatRunsAndWhatWaits) {
  Session session = open(clvet::test::write_long(folder_.path(), 400));
  ASSERT_TRUE(session.resize({{"x", {2048, 64}}}));
  fill<float>(session, "x", std::vector<float>(2048 * 64, 1));
  auto running = session.run_async(), waiting = session.run_async();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  session.cancel();
  for (auto* run : {&running, &waiting}) {
    const auto done = run->get();
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, ErrorCode::cancelled) << done.error().message;
  }
  ASSERT_TRUE(session.run()) << "one that is asked for later runs";
  EXPECT_THAT(values_of<float>(session, "y"), testing::Each(1));
}

TEST_F(PublicSession, EndsWhatRunsWhereItIsDropped) {
  std::future<clvet::Status> running;
  {
    Session session = open(clvet::test::write_long(folder_.path(), 400));
    ASSERT_TRUE(session.resize({{"x", {2048, 64}}}));
    fill<float>(session, "x", std::vector<float>(2048 * 64, 1));
    running = session.run_async();
  }
  const auto done = running.get();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::cancelled);
}

TEST_F(PublicSession, ServesManyThreadsOneAfterTheOther) {
  Session session = open(doubling_);
  ASSERT_TRUE(session.resize({{"x", {1, 2}}}));
  fill<float>(session, "x", {1, 2});
  fill<int64_t>(session, "n", {0, 0});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) EXPECT_TRUE(session.run());
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(values_of<float>(session, "y"), ElementsAre(2, 4));
}

TEST_F(PublicSession, ComputesOnTheHostWhereTheNamedReportHasNoDevices) {
  std::vector<std::string> said;
  const std::string report = clvet::test::write_report_without_devices(folder_.path());
  const auto context = clvet::Context::open({.report = report, .state_dir = folder_.path()});
  ASSERT_TRUE(context) << context.error().message;
  auto session = Session::open(
      doubling_,
      {.context = *context, .warning = [&](const std::string& text) { said.push_back(text); }});
  ASSERT_TRUE(session) << session.error().message;
  EXPECT_THAT(said, ElementsAre(HasSubstr("has no OpenCL device")));
  ASSERT_TRUE(session->resize({{"x", {1, 2}}}));
  ASSERT_TRUE(session->warm_up());
  EXPECT_EQ(session->placement()->device, "host");
  EXPECT_THAT(said.back(), HasSubstr("no report names a device"));
}

TEST_F(PublicSession, WarnsWhereThereIsNoReport) {
  std::vector<std::string> said;
  auto session =
      Session::open(doubling_, {.state_dir = folder_.path(),
                                .warning = [&](const std::string& text) { said.push_back(text); }});
  ASSERT_TRUE(session) << session.error().message;
  EXPECT_THAT(said, ElementsAre(HasSubstr("'clvet probe' makes one")));
  ASSERT_TRUE(session->resize({{"x", {1, 2}}}));
  ASSERT_TRUE(session->warm_up());
  EXPECT_EQ(session->placement()->device, "host");
  EXPECT_THAT(said.back(), HasSubstr("no report names a device"));
}

}  // namespace
