// The words of the report's enumerations, one table each.
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "probe/report/report.h"

namespace clvet {
namespace {

template <class E, size_t N>
using Words = std::array<std::pair<E, const char*>, N>;

constexpr Words<Verdict, 17> kVerdicts{{{Verdict::kPass, "pass"},
                                        {Verdict::kWrong, "wrong"},
                                        {Verdict::kNondeterministic, "nondeterministic"},
                                        {Verdict::kBuildError, "build-error"},
                                        {Verdict::kKernelCreateFailed, "kernel-create-failed"},
                                        {Verdict::kLaunchError, "launch-error"},
                                        {Verdict::kCrash, "crash"},
                                        {Verdict::kHang, "hang"},
                                        {Verdict::kOutOfMemory, "out-of-memory"},
                                        {Verdict::kDeviceLost, "device-lost"},
                                        {Verdict::kBoardReset, "board-reset"},
                                        {Verdict::kLie, "lie"},
                                        {Verdict::kUnsupported, "unsupported"},
                                        {Verdict::kMissing, "missing"},
                                        {Verdict::kNotTried, "not-tried"},
                                        {Verdict::kInterrupted, "interrupted"},
                                        {Verdict::kToolError, "tool-error"}}};

constexpr Words<Origin, 5> kOrigins{{{Origin::kLoader, "loader"},
                                     {Origin::kIcdFile, "icd-file"},
                                     {Origin::kKnownName, "known-name"},
                                     {Origin::kExports, "exports"},
                                     {Origin::kOption, "option"}}};

constexpr Words<LoaderKind, 5> kLoaderKinds{{{LoaderKind::kNone, "none"},
                                             {LoaderKind::kVendor, "vendor"},
                                             {LoaderKind::kOclIcd, "ocl-icd"},
                                             {LoaderKind::kKhronos, "khronos"},
                                             {LoaderKind::kUnknown, "unknown"}}};

constexpr Words<IcdFaultKind, 10> kIcdFaultKinds{
    {{IcdFaultKind::kOther, "other"},
     {IcdFaultKind::kUnreadable, "unreadable"},
     {IcdFaultKind::kByteOrderMark, "byte-order-mark"},
     {IcdFaultKind::kNoName, "no-name"},
     {IcdFaultKind::kCrLf, "cr-lf"},
     {IcdFaultKind::kBlanks, "blanks"},
     {IcdFaultKind::kManyLines, "many-lines"},
     {IcdFaultKind::kEnding, "ending"},
     {IcdFaultKind::kPrivate, "private"},
     {IcdFaultKind::kAbsentLibrary, "absent-library"}}};

constexpr Words<WrongValue, 3> kWrongValues{{{WrongValue::kOther, "other"},
                                             {WrongValue::kZero, "zero"},
                                             {WrongValue::kNotFinite, "not-finite"}}};

constexpr Words<Stage, 11> kStages{{{Stage::kLoad, "load"},
                                    {Stage::kEnumerate, "enumerate"},
                                    {Stage::kContext, "context"},
                                    {Stage::kBuild, "build"},
                                    {Stage::kCreateKernel, "create_kernel"},
                                    {Stage::kEnqueue, "enqueue"},
                                    {Stage::kFinish, "finish"},
                                    {Stage::kRead, "read"},
                                    {Stage::kMap, "map"},
                                    {Stage::kRelease, "release"},
                                    {Stage::kExit, "exit"}}};

constexpr Words<CandidateOutcome, 12> kOutcomes{
    {{CandidateOutcome::kUsable, "usable"},
     {CandidateOutcome::kNoPlatform, "no-platform"},
     {CandidateOutcome::kNoDevice, "no-device"},
     {CandidateOutcome::kAbsent, "absent"},
     {CandidateOutcome::kWrongElfClass, "wrong-elf-class"},
     {CandidateOutcome::kMissingDependency, "missing-dependency"},
     {CandidateOutcome::kMissingSymbols, "missing-symbols"},
     {CandidateOutcome::kNotAccessible, "not-accessible"},
     {CandidateOutcome::kCrash, "crash"},
     {CandidateOutcome::kHang, "hang"},
     {CandidateOutcome::kExited, "exited"},
     {CandidateOutcome::kError, "error"}}};

constexpr Words<CapabilityVerdict, 5> kCapabilities{{{CapabilityVerdict::kTrue, "true"},
                                                     {CapabilityVerdict::kFalse, "false"},
                                                     {CapabilityVerdict::kWrong, "wrong"},
                                                     {CapabilityVerdict::kCrash, "crash"},
                                                     {CapabilityVerdict::kHang, "hang"}}};

constexpr Words<CombinationStatus, 5> kStatuses{{{CombinationStatus::kPass, "pass"},
                                                 {CombinationStatus::kPartial, "partial"},
                                                 {CombinationStatus::kFail, "fail"},
                                                 {CombinationStatus::kUnsupported, "unsupported"},
                                                 {CombinationStatus::kMissing, "missing"}}};

template <class E, size_t N>
const char* word_of(const Words<E, N>& words, E value) {
  for (const auto& [key, word] : words) {
    if (key == value) return word;
  }
  return "?";
}

template <class E, size_t N>
std::optional<E> value_of(const Words<E, N>& words, std::string_view text) {
  for (const auto& [key, word] : words) {
    if (text == word) return key;
  }
  return std::nullopt;
}

}  // namespace

namespace {

constexpr std::string_view kNotAccessible = " (not accessible to this user)";

}  // namespace

std::string to_string(const DeviceNode& node) {
  return node.path + std::string(node.accessible ? "" : kNotAccessible);
}

DeviceNode parse_device_node(const std::string& text) {
  if (!text.ends_with(kNotAccessible)) return {text, true};
  return {text.substr(0, text.size() - kNotAccessible.size()), false};
}

std::vector<std::string> to_strings(const std::vector<DeviceNode>& nodes) {
  std::vector<std::string> texts;
  for (const DeviceNode& node : nodes) texts.push_back(to_string(node));
  return texts;
}

const char* to_string(Origin value) { return word_of(kOrigins, value); }
const char* to_string(LoaderKind value) { return word_of(kLoaderKinds, value); }
const char* to_string(IcdFaultKind value) { return word_of(kIcdFaultKinds, value); }
const char* to_string(WrongValue value) { return word_of(kWrongValues, value); }
const char* to_string(Verdict value) { return word_of(kVerdicts, value); }
const char* to_string(Stage value) { return word_of(kStages, value); }
const char* to_string(CandidateOutcome value) { return word_of(kOutcomes, value); }
const char* to_string(CombinationStatus value) { return word_of(kStatuses, value); }
const char* to_string(CapabilityVerdict value) { return word_of(kCapabilities, value); }

std::optional<Origin> parse_origin(std::string_view word) { return value_of(kOrigins, word); }
std::optional<LoaderKind> parse_loader_kind(std::string_view word) {
  return value_of(kLoaderKinds, word);
}
std::optional<IcdFaultKind> parse_icd_fault_kind(std::string_view word) {
  return value_of(kIcdFaultKinds, word);
}
std::optional<WrongValue> parse_wrong_value(std::string_view word) {
  return value_of(kWrongValues, word);
}
std::optional<Verdict> parse_verdict(std::string_view word) { return value_of(kVerdicts, word); }
std::optional<Stage> parse_stage(std::string_view word) { return value_of(kStages, word); }
std::optional<CandidateOutcome> parse_candidate_outcome(std::string_view word) {
  return value_of(kOutcomes, word);
}
std::optional<CapabilityVerdict> parse_capability_verdict(std::string_view word) {
  return value_of(kCapabilities, word);
}
std::optional<CombinationStatus> parse_combination_status(std::string_view word) {
  return value_of(kStatuses, word);
}

}  // namespace clvet
