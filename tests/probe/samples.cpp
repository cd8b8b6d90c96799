#include "tests/probe/samples.h"

#include <optional>

#include "kernels/combination.h"
#include "probe/report/report.h"

namespace clvet::test {

VerdictReport sample_verdict(Verdict verdict) {
  VerdictReport row;
  row.id = "d0/gemm_tile4x4/low/low/buffer/image/int4/odd";
  row.device = "d0";
  row.case_name = "gemm_tile4x4/low/low/buffer/image/int4/odd";
  row.op = "gemm";
  row.kernel = "gemm_tile4x4";
  row.variant_key = "abc123";
  row.combination = {Precision::kLow, Memory::kLow, Storage::kBuffer, Storage::kImage};
  row.weight_type = WeightType::kInt4;
  row.constructs = {"half_arith", "int_to_half"};
  row.verdict = verdict;
  row.stage = Stage::kBuild;
  row.attempts = 2;
  row.repeats = 1;
  row.evidence.signal = 6;
  row.evidence.exit_status = 0;
  row.evidence.cl_error = -5;
  row.evidence.call = "clBuildProgram";
  row.evidence.log = "a log";
  row.evidence.stderr_text =
      "LLVM ERROR: Cannot select: intrinsic %llvm.bifrost.2586\n\"\\\t\xEF\xBF\xBD";
  row.evidence.error = ErrorEvidence{1.5, 3, 0.25, 7};
  row.evidence.wall_ms = 12.5;
  row.evidence.cpu_ms = 3.25;
  row.evidence.note = "a note";
  row.median_ms = 0.5;
  row.piped_ms = 0.25;
  row.launch_ms = 0.0625;
  row.piped_launch_ms = 0.03125;
  row.spread_ms = 0.125;
  row.gflops = 2;
  return row;
}

DeviceReport sample_device() {
  DeviceReport device;
  device.id = "d0";
  device.platform = "ARM Platform";
  device.name = "Mali-G78 r0p1";
  device.type = "gpu";
  device.vendor = "ARM";
  device.driver = "3.0";
  device.device_version = "OpenCL 3.0 v1.r32p1";
  device.library = "libmali.so.1";
  device.also_via = {"libOpenCL.so.1"};
  device.environment_key = "key";
  device.objects = {{"/usr/lib/libmali.so.1", "deadbeef", 100, 5},
                    {"/usr/lib/libdrm.so.2", "cafe", 50, 6}};
  device.variables = {{"POCL_DEVICES", "cpu"}};
  device.extensions = {"cl_khr_fp16", "cl_khr_icd"};
  device.properties = {{"CL_DEVICE_VENDOR_ID", {"2449604624", 0}},
                       {"CL_DEVICE_LOCAL_MEM_SIZE", {"32768", 0}},
                       {"CL_DEVICE_IMAGE_SUPPORT", {"true", 0}},
                       {"CL_DEVICE_IMAGE2D_MAX_WIDTH", {"16384", 0}},
                       {"CL_DEVICE_IMAGE2D_MAX_HEIGHT", {"16384", 0}},
                       {"CL_DEVICE_PROFILING_TIMER_RESOLUTION", {"", -30}}};
  device.capabilities = {{"canary", {true, CapabilityVerdict::kTrue, ""}},
                         {"map_read", {true, CapabilityVerdict::kWrong, "lie"}}};
  device.peaks.launch_us = 21.5;
  device.peaks.piped_launch_us = 4.25;
  device.peaks.read_gbs = 2.5;
  device.peaks.bandwidth_gbs = 12.75;
  CombinationReport row;
  row.combination = {Precision::kHigh, Memory::kNormal, Storage::kBuffer, Storage::kBuffer};
  row.status = CombinationStatus::kPartial;
  row.reason = "a reason";
  row.passed = 1;
  row.planned = 2;
  row.failed_cases = {"gemm/odd"};
  row.speed = {{"gemm", 1.5}};
  CombinationReport plain;
  plain.combination = {Precision::kHigh, std::nullopt, Storage::kImage, std::nullopt};
  device.combinations = {row, plain};
  device.best = BestReport{row.combination, "fastest"};
  return device;
}

Report sample_report() {
  Report report;
  report.tool_version = "0.1.0";
  report.kernel_set = "kernels";
  report.created = "2026-11-21T09:42:59Z";
  report.complete = true;
  report.host = {"board",
                 "soc",
                 "os",
                 "6.1 aarch64",
                 "glibc 2.36",
                 "cpu",
                 8u << 20,
                 {{"/dev/mali0"}},
                 {"mali_kbase"},
                 {{"LD_LIBRARY_PATH", "/opt"}},
                 {"Mali-G78 7 cores r0p1 0x90820"},
                 "docker",
                 "enforcing",
                 {"gpu: simple_ondemand, 300 of 800 MHz"},
                 {"gpu-thermal: 45.0 C"}};
  report.loader = {LoaderKind::kOclIcd, "2.3.1", "/usr/lib/libOpenCL.so.1"};
  report.candidates = {
      {"libmali.so.1", Origin::kKnownName, "/usr/lib/libmali.so.1", CandidateOutcome::kUsable, "",
       34, "deadbeef", 0.5},
      {"libx.so", Origin::kOption, "", CandidateOutcome::kMissingDependency, "why", 0, "", 0}};
  report.icd_files = {{"/etc/OpenCL/vendors/mali.icd",
                       "libmali.so",
                       {{IcdFaultKind::kCrLf, "has CR LF line ends"}}}};
  report.devices = {sample_device()};
  report.run = {"core", {"gemm*"}, 2, 1.5, 1.25, 2, 3, {{"crash", 1}, {"pass", 1}}};
  report.verdicts = {sample_verdict(), sample_verdict(Verdict::kPass)};
  report.verdicts[1].id += "2";
  report.verdicts[1].weight_type.reset();
  report.verdicts[1].evidence = {};
  report.verdicts[1].median_ms.reset();
  report.verdicts[1].piped_ms.reset();
  report.verdicts[1].launch_ms.reset();
  report.verdicts[1].piped_launch_ms.reset();
  report.verdicts[1].spread_ms.reset();
  report.verdicts[1].gflops.reset();
  report.advice = {{"mali-quant", "cause", {"evidence"}, {"fix"}, "en"}};
  return report;
}

}  // namespace clvet::test
