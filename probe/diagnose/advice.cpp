#include "probe/diagnose/advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/language.h"
#include "base/result.h"
#include "kernels/combination.h"
#include "probe/diagnose/report_facts.h"
#include "probe/diagnose/rules.h"
#include "probe/known_issues/known_issues.h"
#include "probe/report/report.h"

namespace clvet {
namespace {

using Rows = std::vector<const VerdictReport*>;
using Words = std::vector<std::string>;

struct Text {
  std::string cause;
  Words fixes;
};

void add(std::vector<AdviceReport>& out, const std::string& id, const Words& evidence,
         const Text& en, const Text& zh) {
  out.push_back({id, en.cause, evidence, en.fixes, "en"});
  out.push_back({id, zh.cause, evidence, zh.fixes, "zh"});
}

bool has_all(const VerdictReport& row, const Words& constructs) {
  return std::all_of(constructs.begin(), constructs.end(), [&](const std::string& word) {
    return std::find(row.constructs.begin(), row.constructs.end(), word) != row.constructs.end();
  });
}

Words common_constructs(const Rows& rows) {
  Words common = rows.front()->constructs;
  std::erase_if(common, [&](const std::string& word) {
    return !std::all_of(rows.begin(), rows.end(),
                        [&](const VerdictReport* row) { return has_all(*row, {word}); });
  });
  return common;
}

bool clean(const Rows& right, const Words& constructs) {
  return std::none_of(right.begin(), right.end(),
                      [&](const VerdictReport* row) { return has_all(*row, constructs); });
}

// Combinations at which nothing failed, for the fixes.
Words right_combinations(const DeviceReport& device) {
  Words words;
  for (const CombinationReport& row : device.combinations) {
    if (row.combination.memory && row.status == CombinationStatus::kPass) {
      words.push_back(to_string(row.combination));
    }
  }
  if (words.size() > 6) words.resize(6);
  return words;
}

// What failed alike on one device.
struct Failed {
  const DeviceReport& device;
  std::string event, event_in_chinese;
  Words blamed;  // constructs that the failing kernels have in common
  size_t cases;
};

Text failure_in_english(const Failed& failed, const std::string& good) {
  const std::string& name = failed.device.name;
  return {failed.blamed.empty()
              ? fmt::format("{}: {} cases fail ({})", name, failed.cases, failed.event)
              : fmt::format("{}: kernels with {} fail ({})", name, fmt::join(failed.blamed, " + "),
                            failed.event),
          {good.empty() ? "no combination passed every test; run on the CPU (--device host)"
                        : fmt::format("use a combination that passed every test "
                                      "(precision/memory/activations/weights): {}",
                                      good),
           "look for a newer driver; to report this problem, attach report.json"}};
}

Text failure_in_chinese(const Failed& failed, const std::string& good) {
  const std::string kernels = failed.blamed.empty()
                                  ? fmt::format("{} 个用例", failed.cases)
                                  : fmt::format("使用 {} 的内核", fmt::join(failed.blamed, " + "));
  return {fmt::format("{}:{}失败({})", failed.device.name, kernels, failed.event_in_chinese),
          {good.empty() ? "没有任何组合是正确的;请在 CPU 上运行(--device host)"
                        : "请使用正确的组合(精度/内存/激活/权重):" + good,
           "请查找更新的驱动,并附上 report.json 报告此问题"}};
}

void advise_failures(const DeviceReport& device, const Report& report,
                     std::vector<AdviceReport>& out) {
  std::map<std::pair<Verdict, Stage>, Rows> groups;
  Rows right;
  for (const VerdictReport& row : report.verdicts) {
    if (row.device != device.id) continue;
    if (row.verdict == Verdict::kPass) {
      right.push_back(&row);
    } else if (row.verdict != Verdict::kUnsupported && row.verdict != Verdict::kMissing) {
      groups[{row.verdict, row.stage}].push_back(&row);
    }
  }
  const std::string good = fmt::format("{}", fmt::join(right_combinations(device), ", "));
  for (const auto& [what, rows] : groups) {
    const char *verdict = to_string(what.first), *stage = to_string(what.second);
    const Failed failed{device, fmt::format("{} in {}", verdict, stage),
                        fmt::format("{},{}阶段", translated(verdict, Language::kChinese),
                                    translated(stage, Language::kChinese)),
                        blamed_constructs(rows, right), rows.size()};
    Words evidence = {rows.front()->id};
    if (!rows.front()->evidence.stderr_text.empty())
      evidence.push_back(rows.front()->evidence.stderr_text);
    add(out, fmt::format("{}-{}-{}", device.id, verdict, stage), evidence,
        failure_in_english(failed, good), failure_in_chinese(failed, good));
  }
}

// Of memory that host and device share: what does not work, and what to do instead.
struct MemoryAdvice {
  const char *capability, *id, *english, *english_fix, *chinese, *chinese_fix;
};
constexpr MemoryAdvice kMemoryAdvice[] = {
    {"map_read", "-map-read", "{}: reading a mapped buffer does not work",
     "clvet uses clEnqueueReadBuffer here; configure other engines not to map memory",
     "{}:映射的缓冲区不可信", "clvet 在此改用 clEnqueueReadBuffer;其他引擎请勿使用内存映射"},
    {"host_pointer", "-host-pointer",
     "{}: buffers over host memory (CL_MEM_USE_HOST_PTR) do not work",
     "clvet lets the driver allocate here; configure other engines to do so, too",
     "{}:主机内存上的缓冲区(CL_MEM_USE_HOST_PTR)不可信",
     "clvet 在此由驱动分配内存;其他引擎也请如此配置"},
    {"svm", "-svm", "{}: shared virtual memory (SVM) is advertised and does not work",
     "configure other engines not to use SVM", "{}:声明支持共享虚拟内存(SVM),但不可用",
     "其他引擎请勿使用 SVM"},
    {"arm_import", "-arm-import", "{}: cl_arm_import_memory is advertised and does not work",
     "configure other engines not to import memory", "{}:声明支持 cl_arm_import_memory,但不可用",
     "其他引擎请勿导入内存"}};

void advise_capabilities(const DeviceReport& device, std::vector<AdviceReport>& out) {
  for (const MemoryAdvice& row : kMemoryAdvice) {
    const auto found = device.capabilities.find(row.capability);
    if (found == device.capabilities.end() || found->second.verdict == CapabilityVerdict::kTrue)
      continue;
    add(out, device.id + row.id, {found->second.evidence},
        {fmt::format(fmt::runtime(row.english), device.name), {row.english_fix}},
        {fmt::format(fmt::runtime(row.chinese), device.name), {row.chinese_fix}});
  }
  const bool half =
      std::count(device.extensions.begin(), device.extensions.end(), "cl_khr_fp16") > 0;
  if (!half) {
    add(out, device.id + "-no-fp16", {"cl_khr_fp16 is not in CL_DEVICE_EXTENSIONS"},
        {fmt::format("{} does not advertise half-precision arithmetic", device.name),
         {"use precision normal (half storage, float arithmetic) or high"}},
        {device.name + " 未声明支持半精度运算",
         {"请使用 normal(半精度存储、单精度运算)或 high 精度"}});
  }
}

}  // namespace

Words blamed_constructs(const Rows& failing, const Rows& right) {
  if (failing.empty()) return {};
  const Words common = common_constructs(failing);
  for (const std::string& a : common) {
    if (clean(right, {a})) return {a};
  }
  for (size_t i = 0; i < common.size(); ++i) {
    for (size_t j = i + 1; j < common.size(); ++j) {
      if (clean(right, {common[i], common[j]})) return {common[i], common[j]};
    }
  }
  for (size_t i = 0; i < common.size(); ++i) {
    for (size_t j = i + 1; j < common.size(); ++j) {
      for (size_t k = j + 1; k < common.size(); ++k) {
        if (clean(right, {common[i], common[j], common[k]}))
          return {common[i], common[j], common[k]};
      }
    }
  }
  return {};
}

Result<AdviceData> advice_data(const std::string& data_dir) {
  AdviceData data;
  CLVET_ASSIGN_OR_RETURN(data.issues, known_issues(data_dir));
  CLVET_ASSIGN_OR_RETURN(data.rules, failure_rules(data_dir));
  return data;
}

std::vector<AdviceReport> advise(const Report& report, const AdviceData& data) {
  std::vector<AdviceReport> out;
  for (const DeviceReport& device : report.devices) {
    advise_failures(device, report, out);
    advise_capabilities(device, out);
  }
  const auto append = [&](std::vector<AdviceReport> rows) {
    out.insert(out.end(), std::make_move_iterator(rows.begin()),
               std::make_move_iterator(rows.end()));
  };
  append(advice_of_findings(find_failures(data.rules, facts_of_report(report))));
  append(advise_known_issues(data.issues, report));
  return out;
}

}  // namespace clvet
