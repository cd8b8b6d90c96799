#include <gmock/gmock.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "probe/host/environment.h"
#include "probe/report/report.h"
#include "tests/probe/samples.h"
#include "tests/support.h"

namespace clvet {
namespace {

std::string key(const DeviceReport& device) { return environment_key(device, "panfrost 1.2;"); }

TEST(LibraryIsListed, OnlyWhereItIsOneOfTheDevicesObjects) {
  const test::TempDir dir;
  test::put(dir / "libmali.so.1", "x");
  test::put(dir / "libevil.so", "x");
  std::filesystem::create_symlink("libmali.so.1", dir / "libmali.so");
  DeviceReport device;
  const std::string real = std::filesystem::canonical(dir / "libmali.so.1").string();
  device.objects = {{real, "sha256:x", 1, 1}};
  for (const std::string& path : {dir / "libmali.so.1", dir / "libmali.so"}) {
    device.library = path;
    EXPECT_TRUE(library_is_listed(device)) << path;
  }
  for (const std::string& path :
       {dir / "libevil.so", dir / "absent.so", std::string("libc.so.6"), std::string()}) {
    device.library = path;
    EXPECT_FALSE(library_is_listed(device)) << path;
  }
}

TEST(EnvironmentKey, DoesNotDependOnTheOrderInWhichThingsWereFound) {
  const DeviceReport device = test::sample_device();
  DeviceReport other = device;
  std::reverse(other.objects.begin(), other.objects.end());
  std::reverse(other.extensions.begin(), other.extensions.end());
  EXPECT_EQ(key(other), key(device));
}

TEST(EnvironmentKey, DoesNotDependOnWhereFilesLieNorOnWhatTheProbeFound) {
  const DeviceReport device = test::sample_device();
  DeviceReport other = device;
  other.id = "d7";
  other.library = "/elsewhere/libmali.so";
  other.also_via = {"x"};
  for (DriverObject& object : other.objects)
    object.path = "/elsewhere", object.mtime_ns = 1, object.size = 2;
  other.capabilities.clear();
  other.combinations.clear();
  other.best.reset();
  EXPECT_EQ(key(other), key(device));
}

TEST(EnvironmentKey, ChangesWithEveryFieldThatNamesTheDriver) {
  const DeviceReport device = test::sample_device();
  using Change = void (*)(DeviceReport&);
  const std::vector<Change> changes = {
      [](DeviceReport& d) { d.platform += "x"; },
      [](DeviceReport& d) { d.name += "x"; },
      [](DeviceReport& d) { d.vendor += "x"; },
      [](DeviceReport& d) { d.driver += "x"; },
      [](DeviceReport& d) { d.device_version += "x"; },
      [](DeviceReport& d) { d.type = "cpu"; },
      [](DeviceReport& d) { d.objects.at(0).identity += "0"; },
      [](DeviceReport& d) { d.objects.pop_back(); },
      [](DeviceReport& d) { d.objects.push_back(d.objects.at(0)); },
      [](DeviceReport& d) { d.extensions.push_back("cl_khr_new"); },
      [](DeviceReport& d) { d.variables["RUSTICL_FEATURES"] = "fp16"; },
      [](DeviceReport& d) { d.variables.clear(); },
      [](DeviceReport& d) { d.properties["CL_DEVICE_VENDOR_ID"].value += "1"; },
      [](DeviceReport& d) { d.properties["CL_DEVICE_IMAGE2D_MAX_WIDTH"].value = "4096"; },
      [](DeviceReport& d) { d.properties.erase("CL_DEVICE_LOCAL_MEM_SIZE"); }};
  std::vector<std::string> keys{key(device), environment_key(device, "panfrost 1.3;")};
  for (const Change change : changes) {
    DeviceReport other = device;
    change(other);
    keys.push_back(key(other));
  }
  for (size_t i = 0; i < keys.size(); ++i) {
    for (size_t j = 0; j < i; ++j) EXPECT_NE(keys[i], keys[j]) << j << " " << i;
  }
}

DeviceReport device_of_file(const std::string& path) {
  struct stat info {};
  ::stat(path.c_str(), &info);
  DeviceReport device;
  device.variables = driver_variables().value();
  device.objects = {{path, "sha256:" + std::string(64, '0'), static_cast<uint64_t>(info.st_size),
                     int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec}};
  device.environment_key = environment_key(device, kernel_driver_versions());
  return device;
}

TEST(SameEnvironment, HoldsUntilAFileOrADriverVariableChanges) {
  const test::TempDir dir;
  test::put(dir / "driver", "one");
  const DeviceReport device = device_of_file(dir / "driver");
  EXPECT_TRUE(same_environment(device));
  {
    const test::ScopedVariable variable("RUSTICL_FEATURES", "fp16");
    EXPECT_FALSE(same_environment(device));
  }
  test::put(dir / "driver", "other");
  EXPECT_FALSE(same_environment(device));
  std::filesystem::remove(dir / "driver");
  EXPECT_FALSE(same_environment(device));
}

TEST(SameEnvironment, EndsWithAnotherKernelDriver) {
  const test::TempDir dir;
  test::put(dir / "driver", "one");
  DeviceReport device = device_of_file(dir / "driver");
  device.environment_key = environment_key(device, "mali_kbase g6p0-01eac0;");
  EXPECT_FALSE(same_environment(device));
}

TEST(DriverVariables, AreThoseOfTheTableAlone) {
  const test::ScopedVariable one("RUSTICL_FEATURES", "fp16");
  const test::ScopedVariable bad("POCL_DEVICES", "cpu\xFF");
  const test::ScopedVariable other("CLVET_UNRELATED", "x");
  const auto variables = driver_variables().value();
  EXPECT_EQ(variables.at("RUSTICL_FEATURES"), "fp16");
  EXPECT_EQ(variables.at("POCL_DEVICES"), "cpu\xEF\xBF\xBD");
  EXPECT_FALSE(variables.contains("CLVET_UNRELATED"));
}

TEST(CacheVariables, PointDriversCachesAtTheFolder) {
  const auto variables = cache_variables("/scratch/1").value();
  EXPECT_EQ(variables.at("POCL_CACHE_DIR"), "/scratch/1");
  EXPECT_EQ(variables.at("CUDA_CACHE_DISABLE"), "1");
}

// Without a cache llvmpipe compiles at each launch: a launch of 0.5 ms took 100.
TEST(CacheVariables, LeaveMesaACacheOfItsOwn) {
  const auto variables = cache_variables("/scratch/1").value();
  EXPECT_EQ(variables.at("MESA_SHADER_CACHE_DIR"), "/scratch/1");
  EXPECT_FALSE(variables.contains("MESA_SHADER_CACHE_DISABLE"));
}

}  // namespace
}  // namespace clvet
