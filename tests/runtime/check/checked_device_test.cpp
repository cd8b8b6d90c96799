#include "runtime/check/checked_device.h"

#include <gmock/gmock.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "probe/report/device_features.h"
#include "probe/report/report.h"
#include "runtime/check/check_record.h"
#include "runtime/plan/evidence.h"
#include "runtime/plan/variant_table.h"
#include "tests/runtime/reports.h"

namespace clvet {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(CheckedDevices, AreOneWithoutLimitsWhereNoReportIs) {
  const Report empty;
  for (const Report* report : {static_cast<const Report*>(nullptr), &empty}) {
    const auto devices = checked_devices(report);
    ASSERT_TRUE(devices) << devices.error().message;
    ASSERT_EQ(devices->size(), 1u);
    const DeviceCheck check = devices->front().described();
    EXPECT_EQ(check.id, "");
    EXPECT_THAT(check.name, HasSubstr("any device"));
    EXPECT_EQ(check.memory, 0) << "not known";
    EXPECT_EQ(check.largest_allocation, 0);
    EXPECT_THAT(notes_on(report), ElementsAre(HasSubstr("no report of a device")));
  }
}

TEST(CheckedDevices, HaveTheNamesAndLimitsOfTheReport) {
  Report report = test::report_of(test::device_with());
  report.devices.push_back(test::device_with());
  report.devices[1].id = "d1";
  report.devices[1].name = "Plain";
  report.devices[1].properties["CL_DEVICE_IMAGE_SUPPORT"] = {"false", 0};
  const auto devices = checked_devices(&report);
  ASSERT_TRUE(devices) << devices.error().message;
  ASSERT_EQ(devices->size(), 2u);
  const DeviceCheck board = devices->front().described(), plain = devices->back().described();
  EXPECT_EQ(board.id, "d0");
  EXPECT_EQ(board.name, "Board");
  EXPECT_EQ(board.memory, 1000000000);
  EXPECT_EQ(board.largest_allocation, 500000000);
  EXPECT_EQ(board.image_width, 16384);
  EXPECT_EQ(plain.id, "d1");
  EXPECT_EQ(plain.image_width, 0) << "without images their extents mean nothing";
  EXPECT_EQ(plain.image_height, 0);
  EXPECT_THAT(notes_on(&report), IsEmpty());
}

TEST(CheckedDevices, SayThatAReportIsOfOtherKernels) {
  Report report = test::report_of(test::device_with());
  report.kernel_set = "another";
  EXPECT_THAT(notes_on(&report), ElementsAre(HasSubstr("made with other kernels")));
}

TEST(AllRight, VouchesForWhatADeviceCanRunAndNothingElse) {
  const auto table = VariantTable::embedded();
  ASSERT_TRUE(table) << table.error().message;
  const DeviceFeatures all = features_of(test::device_with());
  DeviceFeatures plain = all;
  plain.images = false;
  size_t without = 0;
  const DeviceEvidence vouched = all_right(**table, plain);
  for (const TableRow& row : (*table)->rows()) {
    const bool able = unsupported_reason(row.variant, plain).empty();
    without += !able;
    EXPECT_EQ(vouched.variants.contains(row.program->variant_key), able) << row.variant.name();
  }
  EXPECT_GT(without, 0u) << "some variants need images";
  EXPECT_GT(all_right(**table, all).variants.size(), vouched.variants.size());
}

// "runs" follows from findings; null stands for what is not known.
TEST(CheckRecord, IsOneDocumentForNetworksAndLanguageModels) {
  CheckRecord network;
  network.model = "m\xff.onnx";
  network.format = "onnx";
  network.devices.emplace_back().name = "Board";
  network.devices[0].nodes = {{"n", "Conv", Where::kOpenCl, "conv2d", ""},
                              {"r", "Relu", Where::kHost, "", "no"}};
  const std::string plain = check_record_to_json(network);
  for (const char* part : {"\"runs\": true", "m\xEF\xBF\xBD.onnx", "\"kernel\": null",
                           "\"reason\": \"no\"", "\"id\": null", "\"combination\": null"}) {
    EXPECT_THAT(plain, HasSubstr(part));
  }
  EXPECT_THAT(plain, ::testing::Not(HasSubstr("tokenizer")));

  CheckRecord language = network;
  language.findings = {"a fault"};
  language.llm.emplace();
  language.llm->types.push_back({"Q4_0", 3, 96, 54, true, {{"int4", 3}}, ""});
  CombinationCheck& row = language.devices[0].combinations.emplace_back();
  row.reason = "too large";
  row.memory.emplace().caches = {{256, 1024, std::nullopt}, {512, 2048, false}};
  const std::string text = check_record_to_json(language);
  for (const char* part :
       {"\"runs\": false", "\"architecture\": null", "\"tokenizer\": null", "\"advice\": null",
        "\"as\": \"int4\"", "\"fits\": null", "\"fits\": false", "\"reason\": \"too large\""}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  EXPECT_THAT(text, ::testing::Not(HasSubstr("\"nodes\"")));
}

}  // namespace
}  // namespace clvet
