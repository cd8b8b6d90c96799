// The C functions: each misuse is a code and a sentence.
#include <gmock/gmock.h>
#include "clvet/clvet_c.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/version.h"
#include "tests/runtime/api/c/open_session.h"
#include "tests/runtime/api/model_files.h"
#include "tests/support.h"

namespace clvet::test {
namespace {

using testing::HasSubstr;

struct Null {
  const char* parameter;
  std::function<clvet_code()> call;
};

// Each function that gives a code, with null where something must be; the others are not looked at.
std::vector<Null> nulls(clvet_session* session, clvet_mapping* mapping, clvet_tensor_list* list) {
  static char* text = nullptr;
  static int32_t number = 0;
  static int32_t* tokens = nullptr;
  static size_t size = 0;
  static void* data = nullptr;
  static clvet_tensor_info info = {};
  static clvet_session* opened = nullptr;
  static clvet_mapping* mapped = nullptr;
  static clvet_pending* pending = nullptr;
  static clvet_language* model = nullptr;
  static clvet_generated* generated = nullptr;
  static clvet_placement* placement = nullptr;
  return {
      {"out", [] { return clvet_context_open(nullptr, nullptr, nullptr); }},
      {"path", [] { return clvet_session_open(nullptr, nullptr, &opened); }},
      {"out", [] { return clvet_session_open("m.onnx", nullptr, nullptr); }},
      {"session", [=] { return clvet_session_inputs(nullptr, nullptr); }},
      {"out", [=] { return clvet_session_inputs(session, nullptr); }},
      {"out", [=] { return clvet_session_outputs(session, nullptr); }},
      {"list", [] { return clvet_tensor_list_get(nullptr, 0, &info); }},
      {"out", [=] { return clvet_tensor_list_get(list, 0, nullptr); }},
      {"session", [] { return clvet_session_resize(nullptr, nullptr, 0); }},
      {"shapes", [=] { return clvet_session_resize(session, nullptr, 1); }},
      {"session", [] { return clvet_session_set(nullptr, nullptr, 0); }},
      {"values", [=] { return clvet_session_set(session, nullptr, 1); }},
      {"session", [] { return clvet_session_warm_up(nullptr); }},
      {"session", [] { return clvet_session_run(nullptr); }},
      {"session", [] { return clvet_session_cancel(nullptr); }},
      {"session", [] { return clvet_session_run_async(nullptr, &pending); }},
      {"out", [=] { return clvet_session_run_async(session, nullptr); }},
      {"pending", [] { return clvet_pending_wait(nullptr, 0, &number); }},
      {"name", [=] { return clvet_session_map(session, nullptr, CLVET_READ, &mapped); }},
      {"out", [=] { return clvet_session_map(session, "x", CLVET_READ, nullptr); }},
      {"mapping", [] { return clvet_mapping_info(nullptr, &info); }},
      {"mapping", [] { return clvet_mapping_data(nullptr, CLVET_F32, &data, &size); }},
      {"data", [=] { return clvet_mapping_data(mapping, CLVET_F32, nullptr, &size); }},
      {"bytes", [=] { return clvet_mapping_data(mapping, CLVET_F32, &data, nullptr); }},
      {"mapping", [] { return clvet_mapping_unmap(nullptr); }},
      {"session", [] { return clvet_session_placement(nullptr, &placement); }},
      {"path", [] { return clvet_language_open(nullptr, nullptr, &model); }},
      {"out", [] { return clvet_language_open("m.gguf", nullptr, nullptr); }},
      {"model", [] { return clvet_language_placement(nullptr, &placement); }},
      {"model", [] { return clvet_language_tokenize(nullptr, "", &tokens, &size); }},
      {"model", [] { return clvet_language_text_of(nullptr, nullptr, 0, &text); }},
      {"model", [] { return clvet_language_generate(nullptr, nullptr, &generated); }},
      {"model", [] { return clvet_language_cancel(nullptr); }},
      {"json", [] { return clvet_report_read(nullptr, nullptr, nullptr); }},
      {"model", [] { return clvet_plan(nullptr, nullptr, &text); }},
      {"json", [] { return clvet_plan("m.onnx", nullptr, nullptr); }},
  };
}

struct CMisuse : testing::Test {
  const TempDir folder_;
  const std::string doubling_ = write_doubling(folder_.path());
  DoublingInputs inputs_;  // outlives the session
  CSession session_ = open_on_host(doubling_);
};

TEST_F(CMisuse, NullIsAnErrorThatNamesTheParameter) {
  ASSERT_EQ(clvet_session_set(session_.get(), inputs_.values.data(), 2), CLVET_OK);
  const CMapping mapping = map(session_, "x", CLVET_READ);
  clvet_tensor_list* list = nullptr;
  ASSERT_EQ(clvet_session_inputs(session_.get(), &list), CLVET_OK);
  const CTensors owned(list);
  for (const Null& one : nulls(session_.get(), mapping.get(), list)) {
    EXPECT_EQ(one.call(), CLVET_INVALID_ARGUMENT) << one.parameter;
    EXPECT_THAT(clvet_last_error(), HasSubstr("'" + std::string(one.parameter) + "' is null"));
  }
}

TEST_F(CMisuse, FunctionsWithoutACodeTakeNull) {
  size_t count = 7;
  EXPECT_EQ(clvet_tensor_list_size(nullptr), 0u);
  EXPECT_STREQ(clvet_placement_device(nullptr), "");
  EXPECT_STREQ(clvet_placement_precision(nullptr), "");
  EXPECT_EQ(clvet_placement_generation(nullptr), 0u);
  EXPECT_EQ(clvet_placement_warning_count(nullptr), 0u);
  EXPECT_STREQ(clvet_placement_warning(nullptr, 0), "");
  EXPECT_STREQ(clvet_generated_text(nullptr), "");
  EXPECT_EQ(clvet_generated_tokens(nullptr, &count), nullptr);
  EXPECT_EQ(count, 0u);
  EXPECT_EQ(clvet_generated_prompt(nullptr, nullptr), nullptr);
  EXPECT_EQ(clvet_generated_ending(nullptr), CLVET_END_OF_TEXT);
  clvet_string_free(nullptr);
  clvet_tokens_free(nullptr);
  clvet_context_free(nullptr);
  clvet_session_free(nullptr);
  clvet_tensor_list_free(nullptr);
  clvet_pending_free(nullptr);
  clvet_mapping_free(nullptr);
  clvet_placement_free(nullptr);
  clvet_language_free(nullptr);
  clvet_generated_free(nullptr);
}

TEST_F(CMisuse, NumbersThatMeanNothingHaveANameThatSaysSo) {
  EXPECT_STREQ(clvet_code_name(CLVET_OK), "ok");
  EXPECT_STREQ(clvet_code_name(CLVET_STALE), "stale");
  EXPECT_STREQ(clvet_code_name(CLVET_INTERNAL), "internal error");
  for (const clvet_code code : {-1, CLVET_INTERNAL + 1, INT32_MAX})
    EXPECT_STREQ(clvet_code_name(code), "unknown code");
  EXPECT_STREQ(clvet_data_type_name(CLVET_BOOL), "bool");
  EXPECT_EQ(clvet_data_type_size(CLVET_F16), 2u);
  EXPECT_STREQ(clvet_data_type_name(CLVET_BF16), "bf16");
  EXPECT_EQ(clvet_data_type_size(CLVET_BF16), 2u);
  for (const clvet_data_type type : {-1, CLVET_BF16 + 1, INT32_MIN}) {
    EXPECT_STREQ(clvet_data_type_name(type), "unknown type");
    EXPECT_EQ(clvet_data_type_size(type), 0u);
  }
  EXPECT_EQ(clvet_abi(), CLVET_ABI);
  EXPECT_STREQ(clvet_version(), kVersion);
}

TEST_F(CMisuse, OptionsThatWereNotBegunAreRefused) {
  clvet_session* session = nullptr;
  for (const size_t size : {size_t{0}, size_t{3}, size_t{12}, size_t{1} << 40, SIZE_MAX}) {
    clvet_session_options options;
    CLVET_INIT(options);
    options.device = "host";
    options.struct_size = size;
    EXPECT_EQ(clvet_session_open(doubling_.c_str(), &options, &session), CLVET_INVALID_ARGUMENT);
    EXPECT_THAT(clvet_last_error(), HasSubstr("CLVET_INIT")) << size;
    EXPECT_EQ(session, nullptr);
  }
}

TEST_F(CMisuse, OptionsOfAnOlderCallerAreReadAsFarAsTheyGo) {
  clvet_session_options options;
  CLVET_INIT(options);
  options.device = "host";
  options.precision = reinterpret_cast<const char*>(1);  // would end the test, were it read
  options.struct_size = offsetof(clvet_session_options, precision);
  clvet_session* session = nullptr;
  EXPECT_EQ(clvet_session_open(doubling_.c_str(), &options, &session), CLVET_OK)
      << clvet_last_error();
  clvet_session_free(session);
}

TEST_F(CMisuse, OptionsOfALaterVersionAreTakenWhereTheyAskForNothingNew) {
  struct Later {
    clvet_session_options options;
    uint64_t is_new;
  } later = {};
  later.options.struct_size = sizeof later;
  later.options.device = "host";
  clvet_session* session = nullptr;
  EXPECT_EQ(clvet_session_open(doubling_.c_str(), &later.options, &session), CLVET_OK);
  clvet_session_free(session);
  later.is_new = 1;
  EXPECT_EQ(clvet_session_open(doubling_.c_str(), &later.options, &session), CLVET_UNSUPPORTED);
  EXPECT_EQ(session, nullptr);
}

struct Lie {
  const char* says;
  clvet_code code;
  std::function<void(clvet_values& x)> tell;
};

TEST_F(CMisuse, ValuesThatLieAreRefusedAndReleasedOnce) {
  static const int64_t negative[] = {-1, 2}, other[] = {2, 3};
  static const int64_t huge[] = {std::numeric_limits<int64_t>::max(), 2};
  const std::vector<Lie> lies = {
      {"name of a tensor is null", CLVET_INVALID_ARGUMENT, [](auto& x) { x.info.name = nullptr; }},
      {"no input 'z'", CLVET_INVALID_ARGUMENT, [](auto& x) { x.info.name = "z"; }},
      {"no data type 13", CLVET_INVALID_ARGUMENT, [](auto& x) { x.info.type = 13; }},
      {"it holds f32, not i32", CLVET_INVALID_ARGUMENT, [](auto& x) { x.info.type = CLVET_I32; }},
      {"need 32", CLVET_INVALID_ARGUMENT, [](auto& x) { x.info.type = CLVET_F64; }},
      {"shape of 'x' is null", CLVET_INVALID_ARGUMENT, [](auto& x) { x.info.shape = nullptr; }},
      {"cannot have", CLVET_INVALID_ARGUMENT, [](auto& x) { x.info.rank = SIZE_MAX; }},
      {"need 8", CLVET_INVALID_ARGUMENT, [](auto& x) { x.info.rank = 1; }},
      {"0 or more", CLVET_INVALID_ARGUMENT, [](auto& x) { x.info.shape = negative; }},
      {"need 24", CLVET_INVALID_ARGUMENT, [](auto& x) { x.info.shape = other; }},
      {"can be counted", CLVET_INVALID_ARGUMENT, [](auto& x) { x.info.shape = huge; }},
      {"17 bytes of data, and its type and shape need 16", CLVET_INVALID_ARGUMENT,
       [](auto& x) { x.bytes = 17; }},
      {"data of 'x' is null", CLVET_INVALID_ARGUMENT, [](auto& x) { x.data = nullptr; }},
      {"'n' is named twice", CLVET_INVALID_ARGUMENT,
       [](auto& x) {
         static const int64_t shape[] = {2};
         x.info = {"n", CLVET_I64, 1, shape};
       }},
  };
  for (const Lie& lie : lies) {
    DoublingInputs inputs;
    std::swap(inputs.values[0], inputs.values[1]);
    lie.tell(inputs.values[1]);
    if (inputs.values[1].info.rank == 1) inputs.values[1].bytes = 16;
    EXPECT_EQ(clvet_session_set(session_.get(), inputs.values.data(), 2), lie.code) << lie.says;
    EXPECT_THAT(clvet_last_error(), HasSubstr(lie.says));
    EXPECT_EQ(inputs.x_released, 1) << lie.says;
    EXPECT_EQ(inputs.n_released, 1) << lie.says;
  }
  EXPECT_EQ(clvet_session_run(session_.get()), CLVET_INVALID_ARGUMENT) << "nothing was set";
}

TEST_F(CMisuse, ValuesForNoSessionAreReleased) {
  EXPECT_EQ(clvet_session_set(nullptr, inputs_.values.data(), 2), CLVET_INVALID_ARGUMENT);
  EXPECT_EQ(inputs_.x_released, 1);
  EXPECT_EQ(inputs_.n_released, 1);
  EXPECT_EQ(clvet_session_set(session_.get(), inputs_.values.data(), SIZE_MAX),
            CLVET_INVALID_ARGUMENT);
  EXPECT_THAT(clvet_last_error(), HasSubstr("more than there can be"));
}

TEST_F(CMisuse, AShapeThatIsNamedTwiceIsRefused) {
  const int64_t shape[] = {2, 2};
  const clvet_tensor_info shapes[] = {{"x", 0, 2, shape}, {"x", 0, 2, shape}};
  EXPECT_EQ(clvet_session_resize(session_.get(), shapes, 2), CLVET_INVALID_ARGUMENT);
  EXPECT_THAT(clvet_last_error(), HasSubstr("named twice"));
}

TEST_F(CMisuse, MappingsSayWhatTheyHoldAndWhetherTheyEnded) {
  ASSERT_EQ(clvet_session_set(session_.get(), inputs_.values.data(), 2), CLVET_OK);
  const CMapping mapped = map(session_, "x", CLVET_READ);
  void* data = nullptr;
  size_t bytes = 0;
  EXPECT_EQ(clvet_mapping_data(mapped.get(), CLVET_I64, &data, &bytes), CLVET_INVALID_ARGUMENT);
  EXPECT_THAT(clvet_last_error(), HasSubstr("it holds f32, not i64"));
  EXPECT_EQ(data, nullptr);
  EXPECT_EQ(clvet_mapping_data(mapped.get(), 99, &data, &bytes), CLVET_INVALID_ARGUMENT);
  EXPECT_EQ(clvet_mapping_data(mapped.get(), CLVET_F32, &data, &bytes), CLVET_OK);
  EXPECT_EQ(data, inputs_.x.data()) << "without a copy";
  EXPECT_EQ(clvet_mapping_unmap(mapped.get()), CLVET_OK);
  EXPECT_EQ(clvet_mapping_unmap(mapped.get()), CLVET_STALE);
  EXPECT_EQ(clvet_mapping_data(mapped.get(), CLVET_F32, &data, &bytes), CLVET_STALE);
  EXPECT_EQ(data, nullptr);
  clvet_mapping* out = nullptr;
  EXPECT_EQ(clvet_session_map(session_.get(), "x", 2, &out), CLVET_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace clvet::test
