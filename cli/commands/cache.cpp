// Saved programs: what there is, away with it, and from one machine to another.
#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/language.h"
#include "base/result.h"
#include "cli/command.h"
#include "cli/common_options.h"
#include "cli/exit_code.h"
#include "cli/options.h"
#include "cli/terminal.h"
#include "probe/report/report.h"
#include "probe/report/tuned.h"
#include "reports/render/cache_text.h"
#include "runtime/cache/binary_file.h"
#include "runtime/cache/cache_record.h"
#include "runtime/cache/program_bundle.h"
#include "runtime/cache/program_cache.h"
#include "runtime/plan/variant_table.h"
#include "runtime/run/kept_report.h"

namespace clvet::command_cache {
namespace {

struct CacheArguments {
  std::string file, report;
  OutputOptions output;
};

std::string folder() { return program_cache_folder(state_dir()); }

std::string times_file() { return tuned_file(state_dir()); }

Result<CacheRecord> show(const CacheArguments&) {
  CLVET_ASSIGN_OR_RETURN(CacheRecord record, cache_record(folder()));
  CLVET_ASSIGN_OR_RETURN(const TunedDocument tuned, read_tuned(times_file()));
  record.tuned_calls = tuned.calls.size();
  return record;
}

Result<CacheRecord> clear(const CacheArguments&) {
  CLVET_ASSIGN_OR_RETURN(const size_t removed, clear_programs(folder()));
  const auto tuned = read_tuned(times_file());
  CLVET_RETURN_IF_ERROR(clear_tuned(times_file()));
  CLVET_ASSIGN_OR_RETURN(CacheRecord record, cache_record(folder()));
  record.removed = removed;
  record.removed_calls = tuned ? tuned->calls.size() : 0;
  return record;
}

Result<CacheRecord> write_bundle(const CacheArguments& arguments) {
  CLVET_ASSIGN_OR_RETURN(CacheRecord record, cache_record(folder()));
  std::vector<std::string> files;
  for (const CachedProgram& one : record.programs) {
    auto text = one.fault.empty() ? read_program(folder(), one.file)
                                  : fail(ErrorCode::kInvalidArgument, "{}", one.fault);
    if (text) files.push_back(std::move(*text));
  }
  if (files.empty()) {
    return fail(ErrorCode::kInvalidArgument,
                "there are no saved programs in {}; 'clvet run' saves those of a model", folder());
  }
  CLVET_RETURN_IF_ERROR(
      write_file_atomically(arguments.file, bundle_of(files), Sync::kNow, Readers::kUser));
  record.exported = files.size();
  return record;
}

// Of the devices that this machine's report has.
Result<std::vector<std::string>> own_environments(const std::string& report) {
  CLVET_ASSIGN_OR_RETURN(const auto kept, kept_report(report, state_dir()));
  if (!kept) {
    return fail(ErrorCode::kUnavailable,
                "this machine has no report, and only a report says which programs fit; run "
                "'clvet probe' first");
  }
  std::vector<std::string> keys;
  for (const DeviceReport& device : kept->report.devices) keys.push_back(device.environment_key);
  return keys;
}

Status take(std::string_view text, const std::vector<std::string>& environments) {
  CLVET_ASSIGN_OR_RETURN(const BinaryFile file, parse_binary_file(text));
  const std::string& key = file.label.environment_key;
  if (std::find(environments.begin(), environments.end(), key) == environments.end()) {
    return fail(ErrorCode::kUnsupported,
                "it was made for another driver, device or environment ({})", file.label.device);
  }
  return add_program(folder(), text);
}

Result<CacheRecord> read_bundle(const CacheArguments& arguments) {
  CLVET_ASSIGN_OR_RETURN(const std::string text, read_file(arguments.file, kMaxBundleBytes));
  const auto files = parse_bundle(text);
  if (!files) return wrap(files.error(), arguments.file);
  CLVET_ASSIGN_OR_RETURN(const auto environments, own_environments(arguments.report));
  CLVET_RETURN_IF_ERROR(check_private(state_dir()));
  size_t imported = 0;
  std::vector<std::string> refused;
  for (const std::string_view one : *files) {
    const Status taken = take(one, environments);
    imported += taken.has_value();
    if (!taken) refused.push_back(taken.error().message);
  }
  CLVET_ASSIGN_OR_RETURN(CacheRecord record, cache_record(folder()));
  record.imported = imported;
  record.refused = refused;
  return record;
}

Result<CacheRecord> write_times(const CacheArguments& arguments) {
  CLVET_ASSIGN_OR_RETURN(const TunedDocument tuned, read_tuned(times_file()));
  if (tuned.calls.empty()) {
    return fail(ErrorCode::kInvalidArgument,
                "there are no times in {}; 'clvet tune' measures those of a model", times_file());
  }
  CLVET_RETURN_IF_ERROR(write_file_atomically(arguments.file, tuned_to_json(tuned.calls)));
  CLVET_ASSIGN_OR_RETURN(CacheRecord record, show(arguments));
  record.exported_calls = tuned.calls.size();
  return record;
}

// A call of another machine, as far as it counts here: its kernels are this program's, and their
// numbers were not checked on this machine.
Status make_own(const std::vector<std::string>& environments, TunedCall& call) {
  if (std::find(environments.begin(), environments.end(), call.environment_key) ==
      environments.end()) {
    return fail(ErrorCode::kUnsupported,
                "it was measured with another driver, device or environment ({})", call.device);
  }
  std::erase_if(call.variants, [](const TunedVariant& one) {
    return variant_key_of(one.variant) != one.variant_key;
  });
  for (TunedVariant& one : call.variants) one.checked_here = false;
  if (!call.variants.empty()) return {};
  return fail(ErrorCode::kUnsupported, "its kernels are those of another version of clvet");
}

Result<CacheRecord> read_times(const CacheArguments& arguments) {
  CLVET_ASSIGN_OR_RETURN(const std::string text, read_file(arguments.file, kMostTunedBytes));
  CLVET_ASSIGN_OR_RETURN(TunedDocument tuned, parse_tuned(text, arguments.file));
  CLVET_ASSIGN_OR_RETURN(const auto environments, own_environments(arguments.report));
  CLVET_RETURN_IF_ERROR(make_private_folder(state_dir()));
  std::vector<TunedCall> taken;
  std::vector<std::string> refused = std::move(tuned.faults);
  for (TunedCall& call : tuned.calls) {
    const Status own = make_own(environments, call);
    if (own)
      taken.push_back(std::move(call));
    else
      refused.push_back(own.error().message);
  }
  if (!taken.empty()) CLVET_RETURN_IF_ERROR(keep_tuned(times_file(), taken, false));
  CLVET_ASSIGN_OR_RETURN(CacheRecord record, show(arguments));
  record.imported_calls = taken.size();
  record.refused = std::move(refused);
  return record;
}

std::string refusals(const CacheRecord& record) {
  std::string text;
  std::vector<std::string> reasons = record.refused;
  std::sort(reasons.begin(), reasons.end());
  for (auto reason = reasons.begin(); reason != reasons.end();) {
    const auto next = std::upper_bound(reason, reasons.end(), *reason);
    text += "\n" + (record.imported_calls
                        ? tr("{} calls refused: {}", next - reason, translated(*reason))
                        : tr("{} programs refused: {}", next - reason, translated(*reason)));
    reason = next;
  }
  return text;
}

// What was done; empty where it was only looked at.
std::string deed_text(const CacheRecord& record, const CacheArguments& arguments) {
  if (record.exported) return tr("{} programs written to {}", *record.exported, arguments.file);
  if (record.exported_calls)
    return tr("the times of {} calls written to {}", *record.exported_calls, arguments.file);
  if (record.removed) {
    std::string text = tr("{} programs removed from {}", *record.removed, record.folder);
    if (record.removed_calls.value_or(0) > 0)
      text += "\n" + tr("the times of {} calls removed", *record.removed_calls);
    return text;
  }
  if (record.imported)
    return tr("{} programs taken from {}", *record.imported, arguments.file) + refusals(record);
  if (!record.imported_calls) return {};
  return tr("the times of {} calls taken from {}", *record.imported_calls, arguments.file) +
         refusals(record);
}

using Act = Result<CacheRecord> (*)(const CacheArguments& arguments);

struct Subcommand {
  const char *name, *what;
  Act act;
  const char* file;  // what its file is; null: it takes none
  const char *ends, *examples[2];
};

constexpr Subcommand kSubcommands[] = {
    {"show",
     "list the programs that were compiled on this machine and are saved",
     show,
     nullptr,
     "Exit status: 0 done, 2 wrong usage, or other users may write to the folder.",
     {"clvet cache show", "clvet cache show --json -"}},
    {"clear",
     "remove all saved programs, what is known of drivers that do not take them, and the times of "
     "'clvet tune'",
     clear,
     nullptr,
     "Exit status: 0 done, 2 wrong usage, or the folder cannot be written.",
     {"clvet cache clear", "clvet cache clear --json -"}},
    {"export",
     "write all saved programs into one file",
     write_bundle,
     "the file to write",
     "Exit status: 0 done, 2 wrong usage, there are no programs, or FILE cannot be written.",
     {"clvet cache export programs.clvet", "clvet cache export programs.clvet --json -"}},
    {"import",
     "take programs from such a file, as far as they were made for a device, driver and "
     "environment of this machine",
     read_bundle,
     "a file of 'clvet cache export'",
     "Exit status: 0 all were taken, 1 some were refused, 2 wrong usage or a bad file, 3 this\n"
     "machine has no report.",
     {"clvet cache import programs.clvet",
      "clvet cache import programs.clvet --report board.json"}},
    {"export-times",
     "write the times that 'clvet tune' measured into one file",
     write_times,
     "the file to write",
     "Exit status: 0 done, 2 wrong usage, there are no times, or FILE cannot be written.",
     {"clvet cache export-times tuned.json", "clvet cache export-times tuned.json --json -"}},
    {"import-times",
     "take times from such a file, as far as they were measured with a device, driver and "
     "environment of this machine; of two measurements of a call the one with more rounds stays",
     read_times,
     "a file of 'clvet cache export-times'",
     "Exit status: 0 all were taken, 1 some were refused, 2 wrong usage or a bad file, 3 this\n"
     "machine has no report.",
     {"clvet cache import-times tuned.json",
      "clvet cache import-times tuned.json --report board.json"}},
};

int run(const CacheArguments& arguments, Act act) {
  const auto record = act(arguments);
  if (!record) return report_error(record.error());
  const Status written = write_document(arguments.output, cache_record_to_json(*record));
  if (!written) return report_error(written.error());
  if (!arguments.output.quiet && arguments.output.json != "-") {
    const std::string deed = deed_text(*record, arguments);
    print_text(deed.empty() ? cache_text(*record) : deed + "\n");
  }
  return record->refused.empty() ? kExitFine : kExitFindings;
}

void add_subcommand(Verb verb, const Subcommand& row, int& exit_code) {
  Verb command = verb.add_subcommand(row.name, row.what);
  auto arguments = std::make_shared<CacheArguments>();
  if (row.file) command.add_option("file", arguments->file, row.file).required().type_name("FILE");
  if (row.act == read_bundle || row.act == read_times) add_report(command, arguments->report);
  add_output(command, arguments->output,
             "also write what the cache holds then to this file; - is standard output");
  command.footer(row.ends, {row.examples[0], row.examples[1]});
  command.callback([arguments, &row, &exit_code] { exit_code = run(*arguments, row.act); });
}

void add(Verb program, int& exit_code) {
  Verb verb = program.add_subcommand(
      "cache", "show, clear, export or import saved programs and times of kernels");
  verb.require_subcommand(1);
  verb.footer("Each of these has --help with examples.");
  for (const Subcommand& row : kSubcommands) add_subcommand(verb, row, exit_code);
}

}  // namespace

extern const Command def;
const Command def{add};

}  // namespace clvet::command_cache
