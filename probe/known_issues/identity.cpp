#include "probe/known_issues/identity.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/pattern.h"
#include "probe/report/report.h"

namespace clvet {
namespace {

// Longer than any honest string; the regular expressions recurse.
constexpr size_t kLongest = 256;

using Field = std::string DeviceFacts::*;

struct Rule {
  const char* word;  // what it gives: a stack's name, or nothing where a group is taken
  Field field;
  const char* pattern;
};

// The first that fits decides: open drivers before the hardware that they drive.
constexpr Rule kStacks[] = {
    {"rusticl", &DeviceFacts::platform, "^rusticl$"},
    {"clover", &DeviceFacts::platform, "^Clover$"},
    {"clvk", &DeviceFacts::platform, "^clvk$"},
    {"pocl", &DeviceFacts::platform, "^Portable Computing Language$"},
    {"oclgrind", &DeviceFacts::platform, "^Oclgrind$"},
    {"beignet", &DeviceFacts::version, R"(\bbeignet\b)"},
    {"mali", &DeviceFacts::platform, "^ARM Platform$"},
    {"mali", &DeviceFacts::version, R"(^OpenCL \d+\.\d+ v1\.[rg]\d+p\d+)"},
    {"adreno", &DeviceFacts::platform, R"(^QUALCOMM Snapdragon\(TM\))"},
    {"adreno", &DeviceFacts::version, R"(\bAdreno\(TM\))"},
    {"powervr", &DeviceFacts::platform, R"(^PowerVR\b)"},
    {"powervr", &DeviceFacts::name, R"(^PowerVR\b)"},
    {"vivante", &DeviceFacts::platform, R"(^Vivante\b)"},
    {"vivante", &DeviceFacts::name, R"(^Vivante\b)"},
    {"intel-cpu", &DeviceFacts::platform, R"(^Intel\(R\) OpenCL$)"},
    {"intel-gpu", &DeviceFacts::platform, R"(^Intel\(R\) OpenCL (HD )?Graphics$)"},
    {"nvidia", &DeviceFacts::platform, "^NVIDIA CUDA$"},
    {"amd", &DeviceFacts::platform, "^AMD Accelerated Parallel Processing$"},
    {"apple", &DeviceFacts::platform, "^Apple$"},
    {"maleoon", &DeviceFacts::name, R"(^Maleoon\b)"},
};

// The first group is the model.
constexpr Rule kModels[] = {
    {"mali", &DeviceFacts::name,
     R"(^(?:Mali|Immortalis)-(G1-(?:Ultra|Premium|Pro)|[A-Z]+\d*[A-Z]*))"},
    {"clvk", &DeviceFacts::name,
     R"(^(?:Mali|Immortalis)-(G1-(?:Ultra|Premium|Pro)|[A-Z]+\d*[A-Z]*))"},
    {"rusticl", &DeviceFacts::name,
     R"(^(?:Mali|Immortalis)-(G1-(?:Ultra|Premium|Pro)|[A-Z]+\d*[A-Z]*))"},
    {"rusticl", &DeviceFacts::name, R"(^(V3D|llvmpipe)\b)"},
    {"adreno", &DeviceFacts::name, R"(\bAdreno\(TM\) ([A-Z]?\d[\w-]*))"},
    {"adreno", &DeviceFacts::version, R"(\bAdreno\(TM\) ([A-Z]?\d[\w-]*))"},
    {"powervr", &DeviceFacts::name, R"(^PowerVR (?:[\w-]+ )?([A-Z]+\d*[\w-]*))"},
    {"vivante", &DeviceFacts::name, R"(\b(GC\d+))"},
    {"intel-gpu", &DeviceFacts::name, R"(\bArc\(TM\) (\w+))"},
    {"intel-gpu", &DeviceFacts::name, R"(\[(0x[0-9a-f]{4})\])"},
    {"amd", &DeviceFacts::name, R"(^(\w+))"},
};

// The first group is the release.
constexpr Rule kReleases[] = {
    {"mali", &DeviceFacts::version, R"(^OpenCL \d+\.\d+ v1\.([rg]\d+p\d+))"},
    {"adreno", &DeviceFacts::driver, R"(\bCompiler ((?:E\d+|DX)\.[\d.]*\d))"},
    {"powervr", &DeviceFacts::driver, R"(^(\d+\.\d+@\d+))"},
    {"vivante", &DeviceFacts::driver, R"(\bV(\d+\.\d+\.\d+))"},
    {"oclgrind", &DeviceFacts::version, R"(\bOclgrind (\d+\.\d+))"},
    {"beignet", &DeviceFacts::version, R"(\bbeignet (\d+\.\d+))"},
    {"clover", &DeviceFacts::version, R"(\bMesa (\d+\.\d+\.\d+))"},
    {"", &DeviceFacts::driver, R"(^(\d+(?:\.\d+)+))"},
};

// What a model's spelling says of its family; the first group where there is one.
constexpr Rule kGenerations[] = {
    {"adreno", nullptr, R"(^(\d)\d\d\w*$)"},
    {"powervr", nullptr, R"(^((?:GE|GM|GT|GX)\d|[A-Z]+))"},
    {"intel-gpu", nullptr, "^0x8a"},
};

struct GpuRow {
  uint32_t id;
  MaliProduct product;
};

// GPU_ID of Arm's own information library: the whole half word of the old scheme, else its
// architecture's digit and its product's.
constexpr GpuRow kGpuIds[] = {
    {0x6956, {"T600", "midgard"}},     {0x0620, {"T620", "midgard"}},
    {0x0720, {"T720", "midgard"}},     {0x0750, {"T760", "midgard"}},
    {0x0820, {"T820", "midgard"}},     {0x0830, {"T830", "midgard"}},
    {0x0860, {"T860", "midgard"}},     {0x0880, {"T880", "midgard"}},
    {0x6000, {"G71", "bifrost"}},      {0x6001, {"G72", "bifrost"}},
    {0x7000, {"G51", "bifrost"}},      {0x7003, {"G31", "bifrost"}},
    {0x7001, {"G76", "bifrost"}},      {0x7002, {"G52", "bifrost"}},
    {0x9000, {"G77", "valhall"}},      {0x9001, {"G57", "valhall"}},
    {0x9003, {"G57", "valhall"}},      {0x9002, {"G78", "valhall"}},
    {0x9004, {"G68", "valhall"}},      {0x9005, {"G78AE", "valhall"}},
    {0xa002, {"G710", "valhall"}},     {0xa007, {"G610", "valhall"}},
    {0xa003, {"G510", "valhall"}},     {0xa004, {"G310", "valhall"}},
    {0xb002, {"G715", "valhall"}},     {0xb003, {"G615", "valhall"}},
    {0xc000, {"G720", "5th-gen"}},     {0xc001, {"G620", "5th-gen"}},
    {0xd000, {"G725", "5th-gen"}},     {0xd001, {"G625", "5th-gen"}},
    {0xe000, {"G1-Ultra", "5th-gen"}}, {0xe001, {"G1-Premium", "5th-gen"}},
    {0xe003, {"G1-Pro", "5th-gen"}},
};

// Names without a GPU_ID of their own.
constexpr MaliProduct kMoreNames[] = {
    {"T604", "midgard"}, {"T622", "midgard"}, {"T624", "midgard"}, {"T628", "midgard"},
    {"T658", "midgard"}, {"T678", "midgard"}, {"G925", "5th-gen"}, {"400", "utgard"},
    {"450", "utgard"},   {"470", "utgard"},   {"200", "utgard"},   {"300", "utgard"},
};

// Compiled once each: that costs far more than a search.
const Pattern& compiled(const char* pattern) {
  thread_local std::map<std::string_view, Pattern> all;
  return all.try_emplace(pattern, pattern).first->second;
}

std::vector<std::string> find(const std::string& text, const char* pattern) {
  if (text.size() > kLongest) return {};
  return compiled(pattern).first_parts(text);
}

std::string stack_of(const DeviceFacts& facts) {
  for (const Rule& rule : kStacks) {
    if (!find(facts.*rule.field, rule.pattern).empty()) return rule.word;
  }
  return {};
}

template <size_t N>
std::string group_of(const DeviceFacts& facts, const std::string& stack, const Rule (&rules)[N]) {
  for (const Rule& rule : rules) {
    if (*rule.word && stack != rule.word) continue;
    const auto found = find(facts.*rule.field, rule.pattern);
    if (!found.empty()) return found[1];
  }
  return {};
}

const char* mali_generation(const std::string& model) {
  for (const GpuRow& row : kGpuIds) {
    if (model == row.product.model) return row.product.generation;
  }
  for (const MaliProduct& row : kMoreNames) {
    if (model == row.model) return row.generation;
  }
  return "";
}

// Intel names some devices by their generation alone.
std::string intel_generation(const DeviceFacts& facts) {
  const auto found = find(facts.name, R"(\bGen(\d+)\b)");
  return found.empty() ? std::string() : "gen" + found[1];
}

std::string generation_of(const DeviceFacts& facts, const std::string& stack,
                          const std::string& model) {
  for (const Rule& rule : kGenerations) {
    if (stack != rule.word) continue;
    const auto found = find(model, rule.pattern);
    if (found.empty()) continue;
    if (stack == "adreno") return "a" + found[1] + "xx";
    return found.size() > 1 ? found[1] : "gen11";
  }
  if (stack == "intel-gpu") return intel_generation(facts);
  return mali_generation(model);
}

// The name where the table has it; else, for code names (Mali-LODX), the hardware's own number.
void identify_mali(const DeviceFacts& facts, DeviceIdentity& identity) {
  identity.generation = mali_generation(identity.model);
  if (!identity.generation.empty()) return;
  if (const auto product = mali_product(facts.vendor_id)) {
    identity.generation = product->generation;
    if (identity.model.empty()) identity.model = product->model;
  }
}

}  // namespace

std::optional<MaliProduct> mali_product(uint32_t gpu_id) {
  uint32_t id = gpu_id >> 16;
  if (id >= 0x6000 && id != 0x6956) id &= 0xF00F;
  for (const auto& row : kGpuIds) {
    if (row.id == id) return row.product;
  }
  return std::nullopt;
}

std::optional<DriverVersion> parse_version(std::string_view text) {
  static const Pattern pattern(R"(^(?:([rg])(\d{1,9}p\d{1,9})|(E\d+|DX)\.([\d.]+)|([\d.@]+))$)");
  if (text.size() > 64) return std::nullopt;
  const auto found = pattern.parts(text);
  if (found.empty()) return std::nullopt;
  DriverVersion version{found[1] + found[3], {}};
  const std::string numbers = found[2] + found[4] + found[5];
  for (size_t at = 0; at < numbers.size();) {
    size_t end = numbers.find_first_not_of("0123456789", at);
    end = std::min(end, numbers.size());
    if (end == at || end - at > 12) return std::nullopt;
    version.parts.push_back(std::strtoll(numbers.substr(at, end - at).c_str(), nullptr, 10));
    at = end + 1;
  }
  return version;
}

std::optional<int> compare(const DriverVersion& a, const DriverVersion& b) {
  if (a.series != b.series) return std::nullopt;
  for (size_t i = 0; i < std::max(a.parts.size(), b.parts.size()); ++i) {
    const int64_t left = i < a.parts.size() ? a.parts[i] : 0;
    const int64_t right = i < b.parts.size() ? b.parts[i] : 0;
    if (left != right) return left < right ? -1 : 1;
  }
  return 0;
}

DeviceIdentity identify(const DeviceFacts& facts) {
  DeviceIdentity identity;
  identity.stack = stack_of(facts);
  identity.model = group_of(facts, identity.stack, kModels);
  identity.generation = generation_of(facts, identity.stack, identity.model);
  if (identity.stack == "mali") identify_mali(facts, identity);
  identity.release = parse_version(group_of(facts, identity.stack, kReleases));
  const auto found = find(facts.version, R"(^OpenCL (\d+\.\d+)(?: |$))");
  if (!found.empty()) identity.cl = parse_version(found[1]);
  return identity;
}

DeviceFacts facts_of(const DeviceReport& device, const HostReport& host) {
  DeviceFacts facts{device.platform, device.name,           device.vendor,
                    device.driver,   device.device_version, device.type};
  if (const auto id = device.properties.find("CL_DEVICE_VENDOR_ID");
      id != device.properties.end()) {
    facts.vendor_id = static_cast<uint32_t>(std::strtoul(id->second.value.c_str(), nullptr, 0));
  }
  facts.extensions = device.extensions;
  facts.board = host.board;
  facts.soc = host.soc;
  facts.os = host.os;
  facts.kernel = host.kernel;
  return facts;
}

}  // namespace clvet
