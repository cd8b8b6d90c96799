// A session as a C program uses it.
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>
#include "clvet/clvet_c.h"

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/runtime/api/c/open_session.h"
#include "tests/runtime/api/model_files.h"
#include "tests/support.h"

namespace clvet::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<float> floats_of(const CMapping& mapping) {
  void* data = nullptr;
  size_t bytes = 0;
  EXPECT_EQ(clvet_mapping_data(mapping.get(), CLVET_F32, &data, &bytes), CLVET_OK)
      << clvet_last_error();
  const auto* values = static_cast<const float*>(data);
  return {values, values + bytes / sizeof(float)};
}

struct CSessions : testing::Test {
  const TempDir folder_;
  const std::string doubling_ = write_doubling(folder_.path());
  DoublingInputs inputs_;  // outlives the session
  CSession session_ = open_on_host(doubling_);
};

TEST_F(CSessions, ComputeWhatIsSet) {
  ASSERT_EQ(clvet_session_set(session_.get(), inputs_.values.data(), 2), CLVET_OK)
      << clvet_last_error();
  ASSERT_EQ(clvet_session_run(session_.get()), CLVET_OK) << clvet_last_error();
  EXPECT_THAT(floats_of(map(session_, "y", CLVET_READ)), ElementsAre(2, 4, 6, 8));
}

TEST_F(CSessions, ComputeWhatIsWrittenToAMapping) {
  const int64_t shape[] = {1, 2};
  const clvet_tensor_info x = {"x", 0, 2, shape};
  ASSERT_EQ(clvet_session_resize(session_.get(), &x, 1), CLVET_OK) << clvet_last_error();
  for (const char* name : {"x", "n"}) {
    const CMapping mapped = map(session_, name, CLVET_WRITE);
    clvet_tensor_info info;
    ASSERT_EQ(clvet_mapping_info(mapped.get(), &info), CLVET_OK);
    EXPECT_STREQ(info.name, name);
    void* data = nullptr;
    size_t bytes = 0;
    ASSERT_EQ(clvet_mapping_data(mapped.get(), info.type, &data, &bytes), CLVET_OK);
    if (info.type == CLVET_F32) static_cast<float*>(data)[1] = 21;
    EXPECT_EQ(clvet_mapping_unmap(mapped.get()), CLVET_OK);
  }
  ASSERT_EQ(clvet_session_warm_up(session_.get()), CLVET_OK);
  ASSERT_EQ(clvet_session_run(session_.get()), CLVET_OK);
  EXPECT_THAT(floats_of(map(session_, "y", CLVET_READ)), ElementsAre(0, 42));
}

TEST_F(CSessions, SayWhatGoesInAndOut) {
  clvet_tensor_list* list = nullptr;
  ASSERT_EQ(clvet_session_inputs(session_.get(), &list), CLVET_OK);
  const CTensors owned(list);
  ASSERT_EQ(clvet_tensor_list_size(list), 2u);
  clvet_tensor_info info;
  ASSERT_EQ(clvet_tensor_list_get(list, 0, &info), CLVET_OK);
  EXPECT_STREQ(info.name, "x");
  EXPECT_STREQ(clvet_data_type_name(info.type), "f32");
  EXPECT_THAT(std::vector<int64_t>(info.shape, info.shape + info.rank), ElementsAre(-1, 2));
  EXPECT_EQ(clvet_tensor_list_get(list, 2, &info), CLVET_INVALID_ARGUMENT);
  EXPECT_EQ(info.name, nullptr);
  ASSERT_EQ(clvet_session_outputs(session_.get(), &list), CLVET_OK);
  const CTensors outputs(list);
  EXPECT_EQ(clvet_tensor_list_size(list), 2u);
}

TEST_F(CSessions, SayWhereTheyRun) {
  ASSERT_EQ(clvet_session_set(session_.get(), inputs_.values.data(), 2), CLVET_OK);
  ASSERT_EQ(clvet_session_run(session_.get()), CLVET_OK);
  clvet_placement* placement = nullptr;
  ASSERT_EQ(clvet_session_placement(session_.get(), &placement), CLVET_OK);
  const CPlacement owned(placement);
  EXPECT_STREQ(clvet_placement_device(placement), "host");
  EXPECT_STREQ(clvet_placement_precision(placement), "high");
  EXPECT_EQ(clvet_placement_generation(placement), 1u);
  EXPECT_EQ(clvet_placement_warning_count(placement), 0u);
  EXPECT_STREQ(clvet_placement_warning(placement, 0), "");
}

TEST_F(CSessions, ReleaseWhatWasSetOnceWhenOtherValuesComeAndWhenTheyEnd) {
  DoublingInputs others;
  ASSERT_EQ(clvet_session_set(session_.get(), inputs_.values.data(), 2), CLVET_OK);
  ASSERT_EQ(clvet_session_run(session_.get()), CLVET_OK);
  EXPECT_EQ(inputs_.x_released, 0);
  ASSERT_EQ(clvet_session_set(session_.get(), others.values.data(), 1), CLVET_OK);
  EXPECT_EQ(inputs_.x_released, 1);
  EXPECT_EQ(inputs_.n_released, 0);
  session_.reset();
  EXPECT_EQ(inputs_.x_released, 1);
  EXPECT_EQ(inputs_.n_released, 1);
  EXPECT_EQ(others.x_released, 1);
}

TEST_F(CSessions, KeepWhatIsReadUntilTheMappingIsFreed) {
  ASSERT_EQ(clvet_session_set(session_.get(), inputs_.values.data(), 2), CLVET_OK);
  CMapping mapped = map(session_, "x", CLVET_READ);
  session_.reset();
  EXPECT_EQ(inputs_.x_released, 0);
  EXPECT_THAT(floats_of(mapped), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(clvet_mapping_unmap(mapped.get()), CLVET_STALE);
  mapped.reset();
  EXPECT_EQ(inputs_.x_released, 1);
}

TEST_F(CSessions, TellTheEndOfARunAsOftenAsAsked) {
  ASSERT_EQ(clvet_session_set(session_.get(), inputs_.values.data(), 2), CLVET_OK);
  clvet_pending* run = nullptr;
  ASSERT_EQ(clvet_session_run_async(session_.get(), &run), CLVET_OK);
  const CPending owned(run);
  int32_t done = 0;
  for (const double seconds : {-1.0, 0.0, 1e300}) {
    EXPECT_EQ(clvet_pending_wait(run, seconds, &done), CLVET_OK) << clvet_last_error();
    EXPECT_EQ(done, 1);
  }
  EXPECT_EQ(clvet_pending_wait(run, std::stod("nan"), &done), CLVET_INVALID_ARGUMENT);
  EXPECT_EQ(done, 0);
}

TEST_F(CSessions, EndARunThatIsCancelled) {
  const CSession session = open_on_host(write_long(folder_.path(), 3000));
  const std::vector<float> x(4096 * 64, 1.0F);
  const int64_t shape[] = {4096, 64};
  const clvet_values values = {
      {"x", CLVET_F32, 2, shape}, x.data(), x.size() * 4, nullptr, nullptr};
  ASSERT_EQ(clvet_session_set(session.get(), &values, 1), CLVET_OK) << clvet_last_error();
  clvet_pending *first = nullptr, *second = nullptr;
  ASSERT_EQ(clvet_session_run_async(session.get(), &first), CLVET_OK);
  ASSERT_EQ(clvet_session_run_async(session.get(), &second), CLVET_OK);
  const CPending own_first(first), own_second(second);
  int32_t done = 1;
  EXPECT_EQ(clvet_pending_wait(second, 0.01, &done), CLVET_OK);
  EXPECT_EQ(done, 0);
  ASSERT_EQ(clvet_session_cancel(session.get()), CLVET_OK);
  for (clvet_pending* run : {first, second}) {
    EXPECT_EQ(clvet_pending_wait(run, -1, &done), CLVET_CANCELLED);
    EXPECT_EQ(done, 1);
  }
}

TEST_F(CSessions, EndARunWhenTheyAreFreed) {
  CSession session = open_on_host(write_long(folder_.path(), 3000));
  const std::vector<float> x(4096 * 64, 1.0F);
  const int64_t shape[] = {4096, 64};
  const clvet_values values = {
      {"x", CLVET_F32, 2, shape}, x.data(), x.size() * 4, nullptr, nullptr};
  ASSERT_EQ(clvet_session_set(session.get(), &values, 1), CLVET_OK);
  clvet_pending* run = nullptr;
  ASSERT_EQ(clvet_session_run_async(session.get(), &run), CLVET_OK);
  const CPending owned(run);
  session.reset();
  int32_t done = 0;
  EXPECT_EQ(clvet_pending_wait(run, 0, &done), CLVET_CANCELLED);
  EXPECT_EQ(done, 1);
}

TEST_F(CSessions, GiveWarningsToTheCallersFunctionAndOutliveWhatItThrows) {
  struct Log {
    std::string text;
    bool throws = false;
  } log;
  clvet_session_options options;
  CLVET_INIT(options);
  options.state_dir = folder_.path().c_str();
  options.warning_user = &log;
  options.warning = [](const char* text, void* user) {
    auto* to = static_cast<Log*>(user);
    if (to->throws) throw std::runtime_error("the log is full");
    to->text += text;
  };
  clvet_session* session = nullptr;
  ASSERT_EQ(clvet_session_open(doubling_.c_str(), &options, &session), CLVET_OK);
  CSession(session).reset();
  EXPECT_THAT(log.text, HasSubstr("'clvet probe' makes one"));
  log.throws = true;
  clvet_code code = clvet_session_open(doubling_.c_str(), &options, &session);
  const CSession owned(session);
  if (code == CLVET_OK) {
    ASSERT_EQ(clvet_session_set(session, inputs_.values.data(), 2), CLVET_OK);
    code = clvet_session_run(session);
  }
  EXPECT_EQ(code, CLVET_INVALID_ARGUMENT);
  EXPECT_THAT(clvet_last_error(), HasSubstr("the log is full"));
}

TEST_F(CSessions, ShareAContextThatMayGo) {
  clvet_context* context = nullptr;
  ASSERT_EQ(clvet_context_open(nullptr, folder_.path().c_str(), &context), CLVET_OK)
      << clvet_last_error();
  clvet_session_options options;
  CLVET_INIT(options);
  options.context = context;
  clvet_session* session = nullptr;
  EXPECT_EQ(clvet_session_open(doubling_.c_str(), &options, &session), CLVET_OK)
      << clvet_last_error();
  const CSession owned(session);
  clvet_context_free(context);
  ASSERT_EQ(clvet_session_set(session, inputs_.values.data(), 2), CLVET_OK);
  EXPECT_EQ(clvet_session_run(session), CLVET_OK) << clvet_last_error();
}

TEST_F(CSessions, KeepTheErrorOfEachThreadApart) {
  EXPECT_EQ(clvet_session_run(session_.get()), CLVET_INVALID_ARGUMENT);
  const std::string here = clvet_last_error();
  std::string there = "?";
  std::thread([&] { there = clvet_last_error(); }).join();
  EXPECT_EQ(there, "");
  EXPECT_EQ(clvet_last_error(), here);
  EXPECT_THAT(here, HasSubstr("'x'"));
}

// In a child that a test forks, what fails ends it with this status.
TEST_F(CSessions, TellAChildProcessToOpenItsOwn) {
  ASSERT_EQ(clvet_session_set(session_.get(), inputs_.values.data(), 2), CLVET_OK);
  clvet_pending* run = nullptr;
  ASSERT_EQ(clvet_session_run_async(session_.get(), &run), CLVET_OK);
  const CPending owned(run);
  const pid_t child = ::fork();
  if (child == 0) {
    int32_t done = 0;
    const clvet_code ran = clvet_session_run(session_.get());
    clvet_pending_wait(run, 0.01, &done);
    clvet_session_free(session_.release());
    ::_exit(ran == CLVET_UNAVAILABLE ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace clvet::test
