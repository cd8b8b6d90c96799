// The kernel's half of a driver, as files show it.
#include <gmock/gmock.h>

#include <string>

#include "probe/files/file_view.h"
#include "probe/files/kernel_view.h"
#include "tests/boards.h"
#include "tests/support.h"

namespace clvet {
namespace {

using test::text;
using testing::ElementsAre;
using testing::IsEmpty;

KernelInView kernel_of(const test::Tree& tree) {
  const test::TempDir dir;
  test::build_tree(tree, dir.path());
  const auto view = view_of(dir.path());
  KernelInView kernel = kernel_in(*view);
  add_kernel_logs(*view, kernel);
  return kernel;
}

TEST(KernelView, NamesGpuReleaseClocksAndTemperatures) {
  const KernelInView found =
      kernel_of({{"/sys/devices/gpu/gpuinfo", text("Mali-G57 5 cores r0p1 0x9091\n")},
                 {"/sys/class/misc/mali0/device", test::link("../../../devices/gpu")},
                 {"/sys/module/mali_kbase/version", text("g18p0-01eac0\n")},
                 {"/sys/devices/gpu/devfreq/cur_freq", text("300000000\n")},
                 {"/sys/devices/gpu/devfreq/max_freq", text("1000000000\n")},
                 {"/sys/devices/gpu/devfreq/governor", text("simple_ondemand\n")},
                 {"/sys/class/devfreq/fb000000.gpu", test::link("../../devices/gpu/devfreq")},
                 {"/sys/class/thermal/thermal_zone0/type", text("gpu-thermal\n")},
                 {"/sys/class/thermal/thermal_zone0/temp", text("45000\n")},
                 {"/sys/class/thermal/cooling_device0/type", text("fan\n")}});
  EXPECT_THAT(found.gpus, ElementsAre("Mali-G57 5 cores r0p1 0x9091"));
  EXPECT_EQ(found.mali_release, "g18p0");
  EXPECT_THAT(found.clocks, ElementsAre("fb000000.gpu: simple_ondemand, 300 of 1000 MHz"));
  EXPECT_THAT(found.temperatures, ElementsAre("gpu-thermal: 45.0 C"));
  EXPECT_EQ(found.container + found.selinux, "");
}

TEST(KernelView, TakesTheReleaseFromTheLogWhereTheModuleSaysNone) {
  const KernelInView found =
      kernel_of({{"/var/log/dmesg", text("[1.0] usb 1-1: new device\n[2.0] mali fb000000.gpu: "
                                         "Kernel DDK version g6p0-01eac0\n")}});
  EXPECT_EQ(found.mali_release, "g6p0");
  EXPECT_EQ(found.lines.size(), 1u);
}

TEST(KernelView, TellsContainersAndSelinux) {
  EXPECT_EQ(kernel_of({{"/.dockerenv", text("")}}).container, "docker");
  EXPECT_EQ(kernel_of({{"/run/.containerenv", text("")}}).container, "podman");
  EXPECT_EQ(kernel_of({{"/run/systemd/container", text("systemd-nspawn\n")}}).container,
            "systemd-nspawn");
  EXPECT_EQ(kernel_of({{"/proc/1/cgroup", text("0::/kubepods/pod1\n")}}).container, "kubepods");
  EXPECT_EQ(kernel_of({{"/proc/1/cgroup", text("0::/init.scope\n")}}).container, "");
  EXPECT_EQ(kernel_of({{"/sys/fs/selinux/enforce", text("1")}}).selinux, "enforcing");
  EXPECT_EQ(kernel_of({{"/sys/fs/selinux/enforce", text("0")}}).selinux, "permissive");
}

TEST(KernelView, IsBoundedWhateverTheFilesHold) {
  test::Tree tree;
  std::string log;
  for (int i = 0; i < 5000; ++i) log += "mali " + std::string(1000, 'x') + "\n";
  tree["/var/log/dmesg"] = text(log.substr(0, 4 << 20));
  for (int i = 0; i < 40; ++i) {
    const std::string folder = "/sys/class/thermal/thermal_zone" + std::to_string(i);
    tree[folder + "/type"] = text(std::string(3000, 'z'));
    tree[folder + "/temp"] = text("not a number");
  }
  tree["/sys/class/misc/mali0/device/gpuinfo"] = text(std::string("\x1b[31m\nx"));
  const KernelInView found = kernel_of(tree);
  EXPECT_LE(found.lines.size(), 200u);
  EXPECT_LE(found.temperatures.size(), 16u);
  for (const std::string& row : found.temperatures) EXPECT_LT(row.size(), 700u);
  for (const std::string& row : found.lines) EXPECT_LT(row.size(), 700u);
  ASSERT_EQ(found.gpus.size(), 1u);
  EXPECT_EQ(found.gpus[0].find('\x1b'), std::string::npos);
}

TEST(KernelView, OfAnEmptyTreeIsEmpty) {
  const KernelInView found = kernel_of({});
  EXPECT_THAT(found.gpus, IsEmpty());
  EXPECT_THAT(found.lines, IsEmpty());
  EXPECT_EQ(found.mali_release, "");
}

TEST(MaliRelease, IsFoundInATextAlsoAtItsEnd) {
  EXPECT_EQ(mali_release_in("arm_release_ver of this libmali is 'g6p0-01eac0', rk_so_ver"), "g6p0");
  EXPECT_EQ(mali_release_in("g18p0-01eac0"), "g18p0");
  EXPECT_EQ(mali_release_in("r22p0-01rel0 (UK version 11.4)"), "r22p0");
  EXPECT_EQ(mali_release_in("g18p0"), "");
  EXPECT_EQ(mali_release_in("r"), "");
  EXPECT_EQ(mali_release_in(""), "");
}

TEST(GpuOfALibrary, IsInItsNameAndComparedWithTheKernels) {
  EXPECT_EQ(gpu_of_library("/usr/lib/libmali-bifrost-g52-g13p0-gbm.so"), "g52");
  EXPECT_EQ(gpu_of_library("libmali-midgard-t86x-r18p0-x11.so.1"), "t86x");
  EXPECT_EQ(gpu_of_library("libmali-utgard-450-r7p0.so"), "450");
  EXPECT_EQ(gpu_of_library("libmali.so.1"), "");
  EXPECT_TRUE(may_fit("g52", {"Mali-G52 1 cores r1p0 0x74021000"}));
  EXPECT_TRUE(may_fit("t86x", {"Mali-T860 4 cores r2p0 0x0860"}));
  EXPECT_FALSE(may_fit("g610", {"Mali-G52 1 cores r1p0 0x74021000"}));
  EXPECT_FALSE(may_fit("t86x", {"Mali-T760"}));
  EXPECT_TRUE(may_fit("g610", {})) << "the kernel does not say";
  EXPECT_TRUE(may_fit("g610", {"Adreno (TM) 650"}));
  EXPECT_TRUE(may_fit("g610", {"Mali-", "Mali-G610"}));
}

}  // namespace
}  // namespace clvet
