// The compatibility report, `clvet.report/1`: what was learnt of a machine's OpenCL drivers.
//
// Plain data with a JSON codec (report_json.h). Nothing here knows OpenCL.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/combination.h"

namespace clvet {

// What a trial found. The words and their meaning: docs/interfaces.md.
enum class Verdict {
  kPass,
  kWrong,
  kNondeterministic,
  kBuildError,
  kKernelCreateFailed,
  kLaunchError,
  kCrash,
  kHang,
  kOutOfMemory,
  kDeviceLost,
  kBoardReset,
  kLie,
  kUnsupported,
  kMissing,
  kNotTried,
  kInterrupted,
  kToolError,
};
// The driver call in flight.
enum class Stage {
  kLoad,
  kEnumerate,
  kContext,
  kBuild,
  kCreateKernel,
  kEnqueue,
  kFinish,
  kRead,
  kMap,
  kRelease,
  kExit,
};
// How the try of one candidate library ended.
enum class CandidateOutcome {
  kUsable,
  kNoPlatform,
  kNoDevice,
  kAbsent,
  kWrongElfClass,
  kMissingDependency,
  kMissingSymbols,
  kNotAccessible,
  kCrash,
  kHang,
  kExited,
  kError,
};
// "true": it works; "false": the driver refuses it; the others: how it fails.
enum class CapabilityVerdict { kTrue, kFalse, kWrong, kCrash, kHang };
// Why a library was tried: it stands where loaders do, an ICD file or a variable names it, its name
// is known, it exports OpenCL, or --library names it.
enum class Origin { kLoader, kIcdFile, kKnownName, kExports, kOption };
// "vendor": a driver in the loader's place.
enum class LoaderKind { kNone, kVendor, kOclIcd, kKhronos, kUnknown };
// What is wrong with an ICD file. kOther: reports of before these words.
enum class IcdFaultKind {
  kOther,
  kUnreadable,
  kByteOrderMark,
  kNoName,
  kCrLf,
  kBlanks,
  kManyLines,
  kEnding,
  kPrivate,
  kAbsentLibrary,
};
// The first value of an output that is not right.
enum class WrongValue { kOther, kZero, kNotFinite };
enum class CombinationStatus { kPass, kPartial, kFail, kUnsupported, kMissing };

const char* to_string(Verdict value);
const char* to_string(Stage value);
const char* to_string(CandidateOutcome value);
const char* to_string(CombinationStatus value);
const char* to_string(CapabilityVerdict value);
const char* to_string(Origin value);
const char* to_string(LoaderKind value);
const char* to_string(IcdFaultKind value);
const char* to_string(WrongValue value);
std::optional<Origin> parse_origin(std::string_view word);
std::optional<LoaderKind> parse_loader_kind(std::string_view word);
std::optional<IcdFaultKind> parse_icd_fault_kind(std::string_view word);
std::optional<WrongValue> parse_wrong_value(std::string_view word);
std::optional<Verdict> parse_verdict(std::string_view word);
std::optional<Stage> parse_stage(std::string_view word);
std::optional<CandidateOutcome> parse_candidate_outcome(std::string_view word);
std::optional<CapabilityVerdict> parse_capability_verdict(std::string_view word);
std::optional<CombinationStatus> parse_combination_status(std::string_view word);

struct CandidateReport {
  std::string name;  // as it was tried: a bare name or a path
  Origin origin = Origin::kKnownName;
  std::string path;  // the file that was really loaded, empty where none was
  CandidateOutcome outcome = CandidateOutcome::kAbsent;
  std::string reason;   // one line for a person
  int64_t symbols = 0;  // OpenCL entry points found
  std::string build_id;
  double seconds = 0;
};

struct IcdFault {
  IcdFaultKind kind = IcdFaultKind::kOther;
  std::string text;  // goes on from the file's name: "has blanks around the name"
};

struct IcdFileReport {
  std::string path, target;
  std::vector<IcdFault> faults;
};

struct LoaderReport {
  LoaderKind kind = LoaderKind::kNone;
  std::string version, path;
};

// A file through which drivers reach a GPU.
struct DeviceNode {
  std::string path;
  bool accessible = true;  // to the user who ran the probe
  bool operator==(const DeviceNode&) const = default;
};
// As a report has it: "/dev/mali0", "/dev/mali0 (not accessible to this user)"; and back.
std::string to_string(const DeviceNode& node);
DeviceNode parse_device_node(const std::string& text);
std::vector<std::string> to_strings(const std::vector<DeviceNode>& nodes);

struct HostReport {
  std::string board, soc, os, kernel, libc, cpu;
  uint64_t memory = 0;  // bytes
  std::vector<DeviceNode> nodes;
  std::vector<std::string> kernel_drivers;
  std::map<std::string, std::string> env;
  std::vector<std::string> gpus;   // as the kernel calls them
  std::string container, selinux;  // empty where there is no sign of it
  std::vector<std::string> clocks, temperatures;
};

// A device property: its printed value, or the error code that the query returned.
struct PropertyValue {
  std::string value;
  int error = 0;
};

struct CapabilityReport {
  bool claimed = false;
  CapabilityVerdict verdict = CapabilityVerdict::kFalse;
  std::string evidence;
};

// A file mapped by the driver, for telling cheaply whether the environment is still the same.
struct DriverObject {
  std::string path, identity;  // Build-ID, or "sha256:..." where there is none
  uint64_t size = 0;
  int64_t mtime_ns = 0;
};

struct CombinationReport {
  Combination combination;
  CombinationStatus status = CombinationStatus::kMissing;
  std::string reason;  // unsupported: what is not advertised
  int passed = 0, planned = 0;
  std::vector<std::string> failed_cases;
  std::map<std::string, double> speed;  // op -> GFLOP/s of its best right variant
};

struct BestReport {
  Combination combination;
  std::string why;
};

// What launches, transfers and memory of a device cost, for predicting times. Empty: not timed.
struct PeaksReport {
  std::optional<double> launch_us;        // an empty kernel and clFinish, median
  std::optional<double> piped_launch_us;  // one of many empty kernels that are waited for together
  std::optional<double> read_us, read_gbs;    // a small blocking read; the rate of a large one
  std::optional<double> write_us, write_gbs;  // a small blocking write; the rate of a large one
  std::optional<double> map_us;         // map and unmap of a small buffer; where `map_read` is true
  std::optional<double> bandwidth_gbs;  // a copy kernel: bytes read and written over its time
};

struct DeviceReport {
  std::string id;        // "d0"
  std::string platform;  // platform name
  std::string name, type, vendor, driver, device_version, library;
  int ordinal = 0;  // among the devices of `library` with this platform, name and driver
  std::vector<std::string> also_via;
  std::string environment_key;
  std::vector<DriverObject> objects;
  std::map<std::string, std::string> variables;  // driver variables that entered the key
  std::vector<std::string> extensions;
  std::map<std::string, PropertyValue> properties;
  std::map<std::string, CapabilityReport> capabilities;
  PeaksReport peaks;
  std::vector<CombinationReport> combinations;
  std::optional<BestReport> best;
};

// Does all work in turn, on the cores that the host has too.
inline bool is_processor(const DeviceReport& device) { return device.type == "cpu"; }

// Whether the probe tried it, and it was right.
inline bool shows_true(const DeviceReport& device, const char* capability) {
  const auto found = device.capabilities.find(capability);
  return found != device.capabilities.end() && found->second.verdict == CapabilityVerdict::kTrue;
}

struct ErrorEvidence {
  double max_abs = 0, max_ulp = 0, bound = 0;
  int64_t first_bad = -1;
  WrongValue first_value = WrongValue::kOther;  // of the device, at first_bad
};

struct Evidence {
  int signal = 0;
  std::optional<int> exit_status;
  int cl_error = 0;
  std::string call;  // the OpenCL call in flight
  std::string log;   // build log
  std::string stderr_text;
  std::optional<ErrorEvidence> error;
  double wall_ms = 0, cpu_ms = 0;
  std::string note;
};

struct VerdictReport {
  std::string id;      // unique: device/case
  std::string device;  // devices[].id
  std::string case_name;
  std::string op, kernel;
  std::string variant_key;
  Combination combination;
  std::optional<WeightType> weight_type;
  std::vector<std::string> constructs;
  bool trial_only = false;  // of a kernel that is never planned; the catalog's, not in the document
  Verdict verdict = Verdict::kMissing;
  Stage stage = Stage::kBuild;
  int attempts = 0, repeats = 0;
  Evidence evidence;
  // Of a launch that is waited for: median and interquartile range. Empty: not timed.
  std::optional<double> median_ms, spread_ms;
  // The least of a launch among several that are waited for together, or of single ones so long
  // that a wait does not matter. Empty: not timed.
  std::optional<double> piped_ms;
  // The same two, median_ms and piped_ms, of a kernel that does nothing, in turn with them; of
  // GPUs.
  std::optional<double> launch_ms, piped_launch_ms;
  std::optional<double> gflops;  // empty also where the op has no reduction
};

struct AdviceReport {
  std::string id, cause;
  std::vector<std::string> evidence, fixes;
  std::string lang = "en";
};

struct RunReport {
  std::string tier = "core";
  std::vector<std::string> only_cases;  // patterns of --case; empty: the whole tier
  int cases = 0;
  double wall_s = 0, driver_s = 0;
  int synced_records = 0;
  int attempts = 0;
  std::map<std::string, int> counts;  // verdict word -> cases
};

// What failed in use after its trials had passed. Kept beside the report (tombstones.h), not in it.
struct Tombstone {
  std::string environment_key;
  std::string variant;  // its name; kMapReads; empty: nothing of the device is trusted
  Verdict verdict = Verdict::kWrong;
  Stage stage = Stage::kFinish;
  std::string evidence;
  std::string date;  // UTC, as `created`
};
// Reading buffers through mappings, in the place of a variant.
inline constexpr const char* kMapReads = "map_read";

// One kernel of a call that `clvet tune` measured.
struct TunedVariant {
  std::string variant, variant_key;  // its name, and the hash of its text and options
  Verdict verdict = Verdict::kMissing;
  double median_ms = 0, spread_ms = 0;  // of a launch among others (RoundTimes of probe/trial)
  int rounds = 0;                       // 0: not timed
  bool checked_here = false;            // its numbers, on this machine
};

// What `clvet tune` found of one call: kernels that were timed in turn with each other, so that
// their times can be compared. Kept beside the report (tuned.h), not in it.
struct TunedCall {
  std::string environment_key;
  std::string call;    // name_of_call() of the planner
  std::string device;  // its name, for people
  std::string date;    // UTC
  std::vector<TunedVariant> variants;
};

struct Report {
  std::string tool_version, kernel_set, created;
  bool complete = false;
  HostReport host;
  LoaderReport loader;
  std::vector<CandidateReport> candidates;
  std::vector<IcdFileReport> icd_files;
  std::vector<DeviceReport> devices;
  RunReport run;
  std::vector<VerdictReport> verdicts;
  std::vector<AdviceReport> advice;
  std::vector<Tombstone> tombstones;  // that hold for its devices; not in the document
  std::vector<TunedCall> tuned;       // of its devices; not in the document
};

}  // namespace clvet
