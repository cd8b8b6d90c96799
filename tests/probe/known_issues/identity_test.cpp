#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstdint>
#include <ios>
#include <optional>
#include <string>
#include <utility>

#include "probe/known_issues/identity.h"

namespace clvet {
namespace {

struct Row {
  DeviceFacts facts;
  std::string stack, model, generation, release;
};

std::string text_of(const std::optional<DriverVersion>& version) {
  if (!version) return "none";
  return fmt::format("{}:{}", version->series, fmt::join(version->parts, "."));
}

DeviceFacts facts(const std::string& platform, const std::string& name, const std::string& driver,
                  const std::string& version, uint32_t vendor_id = 0) {
  DeviceFacts row{platform, name, "", driver, version, "gpu"};
  row.vendor_id = vendor_id;
  return row;
}

DeviceFacts mali(const std::string& name, const std::string& version, uint32_t vendor_id = 0) {
  return facts("ARM Platform", name, "1.2", version, vendor_id);
}

// Strings that boards, threads and this machine's own drivers have printed.
const Row kRows[] = {
    {mali("Mali-T628", "OpenCL 1.2 v1.r12p0-04rel0.03af15950392f3702b248717f4938b82", 0x6200010),
     "mali", "T628", "midgard", "r:12.0"},
    {mali("Mali-T860", "OpenCL 1.2 v1.r13p0-00rel0-git(a4271c9).04dad1cb0a2b2b0ba0f7d1d4f3a6e8c1",
          0x8602000),
     "mali", "T860", "midgard", "r:13.0"},
    {mali("Mali-T860", "OpenCL 1.2 v1.r18p0-01rel0.db8fd884bb3eb8c9e5ae4cf1d4ae1ba9"), "mali",
     "T860", "midgard", "r:18.0"},
    {mali("Mali-G52", "OpenCL 3.0 v1.r40p0-01eac0.a8b6f0c7", 0x74021000), "mali", "G52", "bifrost",
     "r:40.0"},
    {mali("Mali-G52 MC2", "OpenCL 3.0 v1.g13p0-01eac0.a8b6f0c7"), "mali", "G52", "bifrost",
     "g:13.0"},
    {mali("Mali-G610 MC6 r0p0", "OpenCL 3.0 v1.r32p1-01eac0.54329dee"), "mali", "G610", "valhall",
     "r:32.1"},
    {mali("Mali-LODX r0p0", "OpenCL 2.1 v1.g6p0-01eac0.2819f9d4", 0xa8670000), "mali", "LODX",
     "valhall", "g:6.0"},
    {mali("Mali-G710 r0p0", "OpenCL 3.0 v1.r51p0-00eac0.e9c1d7b2"), "mali", "G710", "valhall",
     "r:51.0"},
    {mali("Mali-G720-Immortalis", "OpenCL 3.0 v1.r49p0-03eac0.1a2b3c4d"), "mali", "G720", "5th-gen",
     "r:49.0"},
    {mali("Immortalis-G715", "OpenCL 3.0 v1.r44p0-01eac0.1a2b3c4d"), "mali", "G715", "valhall",
     "r:44.0"},
    {mali("Mali-G1-Ultra", "OpenCL 3.0 v1.r54p0-00eac0.1a2b3c4d"), "mali", "G1-Ultra", "5th-gen",
     "r:54.0"},
    {facts("QUALCOMM Snapdragon(TM)", "QUALCOMM Adreno(TM)",
           "OpenCL 3.0 QUALCOMM build: commit #3dad7f8ed7 changeid #I593c16c433 Date: 10/01/21 Fri "
           "Local Branch: Remote Branch: refs/tags/AU_LINUX Compiler E031.38.11.14",
           "OpenCL 3.0 Adreno(TM) 730"),
     "adreno", "730", "a7xx", "E031:38.11.14"},
    {facts("QUALCOMM Snapdragon(TM)", "QUALCOMM ",
           "OpenCL 3.0 QUALCOMM build: commit unknown Compiler E031.41.03.52",
           "OpenCL 3.0 Adreno(TM) 740"),
     "adreno", "740", "a7xx", "E031:41.3.52"},
    {facts("QUALCOMM Snapdragon(TM)", "QUALCOMM Adreno(TM) 642L",
           "OpenCL 2.0 QUALCOMM build: 0855.2 Compiler E031.37.12.04",
           "OpenCL 2.0 Adreno(TM) 642L"),
     "adreno", "642L", "a6xx", "E031:37.12.4"},
    {facts("QUALCOMM Snapdragon(TM)", "Qualcomm(R) Adreno(TM) X1-85 GPU",
           "OpenCL 3.0 QUALCOMM build: 0 Compiler DX.17.75.00", "OpenCL 3.0 Adreno(TM) X1-85"),
     "adreno", "X1-85", "", "DX:17.75.0"},
    {facts("PowerVR", "PowerVR Rogue GE8320", "1.10@5187610", "OpenCL 1.2 "), "powervr", "GE8320",
     "GE8", ":1.10.5187610"},
    {facts("PowerVR", "PowerVR B-Series BXM-8-256", "1.15@6133110", "OpenCL 3.0 "), "powervr",
     "BXM-8-256", "BXM", ":1.15.6133110"},
    {facts("PowerVR", "PowerVR D-Series DXT-48-1536", "24.2@6603887", "OpenCL 3.0 "), "powervr",
     "DXT-48-1536", "DXT", ":24.2.6603887"},
    {facts("Vivante OpenCL Platform", "Vivante OpenCL Device GC7000L.6214.0000",
           "OpenCL 1.2 V6.2.4.p4.190076", "OpenCL 1.2 V6.2.4.p4.190076"),
     "vivante", "GC7000", "", ":6.2.4"},
    {facts("Intel(R) OpenCL HD Graphics", "Intel(R) Gen9 HD Graphics NEO", "20.08.15750",
           "OpenCL 2.1 NEO "),
     "intel-gpu", "", "gen9", ":20.8.15750"},
    {facts("Intel(R) OpenCL Graphics", "Intel(R) Iris(R) Plus Graphics [0x8a52]", "21.38.21026",
           "OpenCL 3.0 NEO "),
     "intel-gpu", "0x8a52", "gen11", ":21.38.21026"},
    {facts("Intel(R) OpenCL", "Intel(R) Xeon(R) Gold 6130 CPU @ 2.10GHz", "2023.16.7.0.21_160000",
           "OpenCL 3.0 (Build 0)"),
     "intel-cpu", "", "", ":2023.16.7.0.21"},
    {facts("NVIDIA CUDA", "NVIDIA H200", "580.65.06", "OpenCL 3.0 CUDA"), "nvidia", "", "",
     ":580.65.6"},
    {facts("Portable Computing Language", "pthread-skylake-avx512-AMD EPYC", "3.1+debian",
           "OpenCL 3.0 PoCL HSTR: pthread-x86_64-pc-linux-gnu-skylake-avx512"),
     "pocl", "", "", ":3.1"},
    {facts("rusticl", "Mali-G57 (Panfrost)", "24.2.1", "OpenCL 3.0 "), "rusticl", "G57", "valhall",
     ":24.2.1"},
    {facts("rusticl", "V3D 7.1", "24.1.0-devel", "OpenCL 3.0 "), "rusticl", "V3D", "", ":24.1.0"},
    {facts("Clover", "AMD RENOIR (DRM 3.42.0, LLVM 15.0.6)", "22.3.6", "OpenCL 1.1 Mesa 22.3.6"),
     "clover", "", "", ":22.3.6"},
    {facts("clvk", "Mali-G78", "3.0 CLVK on Vulkan v1.1.177", "OpenCL 3.0 CLVK on Vulkan v1.1.177"),
     "clvk", "G78", "valhall", ":3.0"},
    {facts("Oclgrind", "Oclgrind Simulator", "Oclgrind 21.10", "OpenCL 1.2 (Oclgrind 21.10)"),
     "oclgrind", "", "", ":21.10"},
};

TEST(Identity, IsReadFromTheStringsThatDriversPrint) {
  for (const Row& row : kRows) {
    const DeviceIdentity who = identify(row.facts);
    EXPECT_EQ(who.stack, row.stack) << row.facts.name;
    EXPECT_EQ(who.model, row.model) << row.facts.name;
    EXPECT_EQ(who.generation, row.generation) << row.facts.name;
    EXPECT_EQ(text_of(who.release), row.release) << row.facts.name;
    EXPECT_TRUE(who.cl) << row.facts.name;
  }
}

TEST(Identity, DoesNotTakeANeighbourForItself) {
  EXPECT_EQ(identify(mali("Mali-G310", "OpenCL 3.0 v1.r40p0")).model, "G310") << "not a G31";
  EXPECT_EQ(identify(facts("clvk", "x", "", "OpenCL 3.0 v1.r40p0")).stack, "clvk");
  EXPECT_EQ(identify(facts("", "My Mali-G52", "", "")).stack, "");
  EXPECT_EQ(identify(facts("", "", "", "NotOpenCL 3.0")).cl.has_value(), false);
}

TEST(Identity, OfNonsenseIsEmpty) {
  for (const std::string& text :
       {std::string(), std::string(100000, 'A'), std::string("\xFF\x00\n", 3),
        std::string("OpenCL 3.0 v1.r99999999999999999999p0")}) {
    const DeviceIdentity who = identify({text, text, text, text, text, text});
    EXPECT_EQ(who.model, "");
    EXPECT_EQ(text_of(who.release), "none");
  }
}

TEST(MaliProduct, IsDecodedFromTheIdsSeenInTheWild) {
  const std::pair<uint32_t, const char*> seen[] = {
      {0x08602000, "T860"}, {0xa8670000, "G610"}, {0x70930000, "G31"}, {0x72110000, "G76"},
      {0x72120000, "G52"},  {0x74021000, "G52"},  {0x70900000, "G51"}, {0x60a00000, "G71"},
      {0x62210000, "G72"},  {0x90800000, "G77"},  {0x90910000, "G57"}, {0xc8700000, "G720"}};
  for (const auto& [id, model] : seen) {
    ASSERT_TRUE(mali_product(id)) << std::hex << id;
    EXPECT_STREQ(mali_product(id)->model, model) << std::hex << id;
  }
  EXPECT_FALSE(mali_product(0x13B5)) << "Arm's PCI vendor number is no GPU";
  EXPECT_FALSE(mali_product(0x10DE));
}

int order(const char* a, const char* b) { return *compare(*parse_version(a), *parse_version(b)); }

TEST(DriverVersion, IsOrderedByNumbersWithinItsSeries) {
  EXPECT_LT(order("r9p0", "r23p0"), 0);
  EXPECT_EQ(order("r38p0", "r38p0"), 0);
  EXPECT_GT(order("E031.38.11.14", "E031.38.11.0"), 0);
  EXPECT_LT(order("1.15@6133110", "24.0"), 0);
  EXPECT_GT(order("20.10", "20.9"), 0);
  EXPECT_EQ(order("22.3", "22.3.0"), 0);
}

TEST(DriverVersion, OfAnotherSeriesIsNotCompared) {
  EXPECT_FALSE(compare(*parse_version("r13p0"), *parse_version("g13p0")));
  EXPECT_FALSE(compare(*parse_version("DX.17.75"), *parse_version("E031.38.11")));
}

TEST(DriverVersion, IsRefusedWhereItIsNone) {
  for (const char* text : {"", "r", "p0", "1..2", "x1.2", "1.2 ", "r1p", "9999999999999999.1"})
    EXPECT_FALSE(parse_version(text)) << text;
}

}  // namespace
}  // namespace clvet
