// What a session holds, and whole answers, in one call.
#include <gmock/gmock.h>
#include "clvet/clvet_c.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/runtime/api/c/open_session.h"
#include "tests/runtime/api/model_files.h"
#include "tests/support.h"

namespace clvet::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// The tensors of the doubling network to read; all that the call gives is freed with it.
struct Asked {
  std::vector<clvet_output> all;

  explicit Asked(const std::vector<const char*>& names) {
    for (const char* name : names)
      all.push_back({name, {"left", 1, 2, nullptr}, &all, 3, reinterpret_cast<clvet_mapping*>(4)});
  }
  Asked(const Asked&) = delete;
  Asked& operator=(const Asked&) = delete;
  ~Asked() {
    for (const clvet_output& one : all) clvet_mapping_free(one.mapping);
  }

  template <class T>
  std::vector<T> values(size_t index) const {
    const auto* data = static_cast<const T*>(all[index].data);
    return {data, data + all[index].bytes / sizeof(T)};
  }
  bool has_nothing() const {
    for (const clvet_output& one : all)
      if (one.mapping || one.data || one.bytes || one.info.name) return false;
    return true;
  }
};

struct CAnswers : testing::Test {
  const TempDir folder_;
  DoublingInputs inputs_;  // outlives the session
  CSession session_ = open_on_host(write_doubling(folder_.path()));

  clvet_code answer(Asked& outputs, size_t values = 2, int32_t* has_set = nullptr) {
    return clvet_session_answer(session_.get(), inputs_.values.data(), values, outputs.all.data(),
                                outputs.all.size(), has_set);
  }
};

TEST_F(CAnswers, AreComputedOfWhatIsGivenInOneCall) {
  Asked outputs({"y", "m"});
  int32_t has_set = 7;
  ASSERT_EQ(answer(outputs, 2, &has_set), CLVET_OK) << clvet_last_error();
  EXPECT_EQ(has_set, 1);
  EXPECT_THAT(outputs.values<float>(0), ElementsAre(2, 4, 6, 8));
  EXPECT_THAT(outputs.values<int64_t>(1), ElementsAre(5, 6));
  const clvet_tensor_info& y = outputs.all[0].info;
  EXPECT_STREQ(y.name, "y");
  EXPECT_EQ(y.type, CLVET_F32);
  EXPECT_THAT(std::vector<int64_t>(y.shape, y.shape + y.rank), ElementsAre(2, 2));
}

TEST_F(CAnswers, StayThroughLaterOnesAndTheSessionsEnd) {
  Asked first({"y"}), second({"y"});
  ASSERT_EQ(answer(first), CLVET_OK) << clvet_last_error();
  inputs_.x = {5, 5, 5, 5};
  ASSERT_EQ(answer(second), CLVET_OK) << clvet_last_error();
  session_.reset();
  EXPECT_THAT(first.values<float>(0), ElementsAre(2, 4, 6, 8));
  EXPECT_THAT(second.values<float>(0), ElementsAre(10, 10, 10, 10));
}

TEST_F(CAnswers, OfNoValuesUseWhatTheInputsHold) {
  ASSERT_EQ(clvet_session_set(session_.get(), inputs_.values.data(), 2), CLVET_OK);
  Asked outputs({"y"});
  ASSERT_EQ(clvet_session_answer(session_.get(), nullptr, 0, outputs.all.data(), 1, nullptr),
            CLVET_OK)
      << clvet_last_error();
  EXPECT_THAT(outputs.values<float>(0), ElementsAre(2, 4, 6, 8));
}

TEST_F(CAnswers, ReadInputsToo) {
  Asked nothing({}), read({"x"});
  ASSERT_EQ(clvet_session_answer(session_.get(), inputs_.values.data(), 2, nullptr, 0, nullptr),
            CLVET_OK)
      << clvet_last_error();
  ASSERT_EQ(clvet_session_read(session_.get(), read.all.data(), 1), CLVET_OK) << clvet_last_error();
  EXPECT_EQ(read.all[0].data, inputs_.x.data());
}

TEST_F(CAnswers, GiveNothingWhereOneOutputIsUnknown) {
  for (const char* name : {static_cast<const char*>(nullptr), "z"}) {
    Asked outputs({"y", name, "m"});
    int32_t has_set = 0;
    EXPECT_EQ(answer(outputs, 2, &has_set), CLVET_INVALID_ARGUMENT);
    EXPECT_THAT(clvet_last_error(), HasSubstr(name ? "'z' cannot be mapped" : "is null"));
    EXPECT_TRUE(outputs.has_nothing());
    EXPECT_EQ(has_set, 1);
  }
  EXPECT_EQ(inputs_.x_released, 1);
}

TEST_F(CAnswers, SayWhetherRefusedValuesWereTaken) {
  inputs_.values[0].bytes = 3;
  Asked outputs({"y"});
  int32_t has_set = 7;
  EXPECT_EQ(answer(outputs, 2, &has_set), CLVET_INVALID_ARGUMENT);
  EXPECT_EQ(has_set, 0);
  EXPECT_TRUE(outputs.has_nothing());
  EXPECT_EQ(inputs_.x_released + inputs_.n_released, 2);

  inputs_.values[0].bytes = 16;
  EXPECT_EQ(answer(outputs, 1, &has_set), CLVET_INVALID_ARGUMENT);
  EXPECT_EQ(has_set, 1);
  EXPECT_THAT(clvet_last_error(), HasSubstr("'n' has no values yet"));
}

TEST_F(CAnswers, OfNullAndHugeCountsAreRefused) {
  Asked outputs({"y"});
  const size_t huge = size_t{1} << 40;
  EXPECT_EQ(clvet_session_answer(nullptr, inputs_.values.data(), 2, outputs.all.data(), 1, nullptr),
            CLVET_INVALID_ARGUMENT);
  EXPECT_EQ(inputs_.x_released + inputs_.n_released, 2);
  EXPECT_EQ(clvet_session_answer(session_.get(), nullptr, 2, outputs.all.data(), 1, nullptr),
            CLVET_INVALID_ARGUMENT);
  EXPECT_EQ(clvet_session_read(session_.get(), nullptr, 1), CLVET_INVALID_ARGUMENT);
  EXPECT_EQ(clvet_session_read(session_.get(), outputs.all.data(), huge), CLVET_INVALID_ARGUMENT);
  EXPECT_EQ(clvet_session_read(nullptr, outputs.all.data(), 1), CLVET_INVALID_ARGUMENT);
  EXPECT_TRUE(outputs.has_nothing());
  EXPECT_EQ(clvet_session_read(session_.get(), outputs.all.data(), 1), CLVET_UNAVAILABLE);
}

}  // namespace
}  // namespace clvet::test
