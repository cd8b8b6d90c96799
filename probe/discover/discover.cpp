#include "probe/discover/discover.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "base/threads.h"
#include "probe/files/file_view.h"
#include "probe/files/library_scan.h"
#include "probe/files/library_search.h"
#include "probe/files/linker.h"
#include "probe/files/loader_view.h"
#include "probe/process/stage_page.h"
#include "probe/report/report.h"
#include "probe/worker/device_route.h"
#include "probe/worker/protocol.h"
#include "probe/worker/supervisor.h"
#include "probe/worker/worker_limits.h"

namespace clvet {
namespace {

using Json = nlohmann::json;

constexpr size_t kLongestWords = 600;

std::optional<std::string> own_environment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value ? std::optional<std::string>(value) : std::nullopt;
}

struct Tried {
  CandidateReport report;
  Json reply = Json::object();
  double driver_seconds = 0;
  std::optional<Error> not_started;
};

// The words with which a dying driver explains itself: its last printed line.
std::string last_words(const Outcome& outcome) {
  const std::string_view text = trim(outcome.captured);
  if (text.empty()) return {};
  return ": " +
         shorten(text.substr(text.rfind('\n') == std::string_view::npos ? 0 : text.rfind('\n') + 1),
                 300);
}

std::string words_of_end(const Outcome& outcome, const std::string& call) {
  const std::string said = last_words(outcome);
  return outcome.exit.signal ? fmt::format("signal {} in {}{}", outcome.exit.signal, call, said)
                             : fmt::format("it ended the process with status {} in {}{}",
                                           outcome.exit.exit_status, call, said);
}

void describe_end(const Outcome& outcome, CandidateReport& report) {
  const std::string call = outcome.stage.call.empty() ? "loading" : outcome.stage.call;
  report.outcome = CandidateOutcome::kError;
  switch (outcome.kind) {
    case OutcomeKind::kEnded:
      report.outcome = outcome.exit.signal ? CandidateOutcome::kCrash : CandidateOutcome::kExited;
      report.reason = words_of_end(outcome, call);
      break;
    case OutcomeKind::kDeadline:
    case OutcomeKind::kInterrupted:
      report.reason = fmt::format("not finished: the probe was stopped in {}", call);
      break;
    case OutcomeKind::kHang:
    case OutcomeKind::kUnreapable:
      report.outcome = CandidateOutcome::kHang;
      report.reason = fmt::format("no end of {} after {:.0f} s", call, outcome.wall_seconds);
      break;
    case OutcomeKind::kMemory:
      report.reason = fmt::format("stopped in {}: the process used more memory than allowed", call);
      break;
    default:
      report.reason = "its process sent no usable answer";
  }
}

void describe_reply(const Json& reply, const Outcome& outcome, CandidateReport& report) {
  report.outcome =
      parse_candidate_outcome(text_in(reply, "outcome")).value_or(CandidateOutcome::kError);
  report.reason = text_in(reply, "reason");
  // A driver that gives nothing often prints why, and lives on.
  if (const auto said = trim(outcome.captured);
      report.outcome != CandidateOutcome::kUsable && !said.empty())
    report.reason = fmt::format("{}; it printed: {}", report.reason, one_line(said, kLongestWords));
  report.path = text_in(reply, "path");
  report.build_id = text_in(reply, "build_id");
  report.symbols = static_cast<int64_t>(number_in(reply, "symbols"));
}

Tried try_candidate(const Candidate& candidate, const WorkerSettings& settings) {
  Tried tried;
  CandidateReport& report = tried.report;
  report.name = candidate.name;
  report.origin = candidate.origin;
  auto stage = StageView::anonymous();
  auto worker =
      stage ? Worker::start(settings, *stage) : Result<Worker>(tl::unexpected(stage.error()));
  if (!worker) {
    report.outcome = CandidateOutcome::kError;
    report.reason = worker.error().message;
    tried.not_started = worker.error();
    return tried;
  }
  Outcome outcome = worker->call({{"do", "enumerate"}, {"library", candidate.name}});
  if (auto fault = own_fault(outcome)) {
    report.outcome = CandidateOutcome::kError;
    report.reason = fault->message;
    tried.not_started = std::move(*fault);
    return tried;
  }
  report.seconds = outcome.wall_seconds;
  tried.driver_seconds = outcome.driver_seconds;
  if (outcome.kind != OutcomeKind::kReply) {
    describe_end(outcome, report);
    return tried;
  }
  tried.reply = std::move(outcome.reply);
  describe_reply(tried.reply, outcome, report);
  return tried;
}

// As this process looks for libraries.
LinkerSetting own_setting(const FileSystemView& own) {
  return {System::kLinux, own_abi(), own_variables(), conf_folders(own)};
}

// For each candidate the file that the dynamic linker would take, as far as files tell; else "".
std::vector<std::string> files_of(const std::vector<Candidate>& candidates) {
  const auto view = view_of("");
  const LinkerSetting setting = own_setting(*view);
  std::vector<std::string> files;
  for (const Candidate& candidate : candidates)
    files.push_back(open_library(*view, setting, candidate.name).path);
  return files;
}

// Many names lead to few files: a file that loads well under one name is not loaded under others.
class CandidateTrials {
 public:
  CandidateTrials(const std::vector<Candidate>& candidates, const DiscoverySettings& settings)
      : candidates_(candidates),
        worker_(settings.worker),
        jobs_(static_cast<size_t>(std::max(1, settings.jobs))),
        tried_(candidates.size()) {
    if (worker_.limits.other.spin == 0) worker_.limits.other.spin = kDiscoverySpin;
  }

  std::vector<Tried> run() {
    const std::vector<std::string> files = files_of(candidates_);
    std::vector<size_t> firsts, others;
    std::map<std::string, size_t> first_of;
    for (size_t i = 0; i < candidates_.size(); ++i) {
      const bool is_first = files[i].empty() || first_of.try_emplace(files[i], i).second;
      (is_first ? firsts : others).push_back(i);
    }
    try_each(firsts);
    std::erase_if(others, [&](size_t i) { return take_over(i, first_of.at(files[i]), files[i]); });
    try_each(others);
    try_again();
    return std::move(tried_);
  }

 private:
  // Those for which no worker could be started beside the others, each alone.
  void try_again() {
    for (size_t i = 0; i < tried_.size() && !interrupt_requested; ++i) {
      if (tried_[i].not_started) tried_[i] = try_candidate(candidates_[i], worker_);
    }
  }

  void try_each(const std::vector<size_t>& rows) {
    // Each thread outlives its workers: a worker dies with the thread that started it.
    share_among_threads(jobs_, rows.size(), [&](size_t i) {
      if (!interrupt_requested) tried_[rows[i]] = try_candidate(candidates_[rows[i]], worker_);
    });
  }

  // True where `first` loaded, and by the very file that was foretold.
  bool take_over(size_t row, size_t first, const std::string& file) {
    const CandidateReport& known = tried_[first].report;
    if (known.path != file) return false;
    tried_[row] = tried_[first];
    tried_[row].report.name = candidates_[row].name;
    tried_[row].report.origin = candidates_[row].origin;
    tried_[row].report.seconds = tried_[row].driver_seconds = 0;
    return true;
  }

  const std::vector<Candidate>& candidates_;
  WorkerSettings worker_;
  const size_t jobs_;
  std::vector<Tried> tried_;
};

std::string device_type(const std::string& bits) {
  constexpr unsigned long kCpu = 2, kGpu = 4, kAccelerator = 8, kCustom = 16;
  const unsigned long value = std::strtoul(bits.c_str(), nullptr, 0);
  if (value & kGpu) return "gpu";
  if (value & kAccelerator) return "accelerator";
  if (value & kCustom) return "custom";
  return value & kCpu ? "cpu" : "unknown";
}

DeviceReport describe(const Json& platform, const Json& device) {
  DeviceReport report;
  report.platform = text_in(platform, "name");
  if (const auto found = device.find("properties"); found != device.end() && found->is_object()) {
    for (const auto& [name, value] : found->items()) {
      PropertyValue property;
      if (value.is_string()) property.value = clean_utf8(value.get<std::string>());
      if (value.is_object()) property.error = static_cast<int>(number_in(value, "error", -1));
      report.properties[name] = std::move(property);
    }
  }
  const auto take = [&](const char* name) {
    const auto found = report.properties.find(name);
    return found == report.properties.end() ? std::string() : found->second.value;
  };
  report.name = take("CL_DEVICE_NAME");
  report.type = device_type(take("CL_DEVICE_TYPE"));
  report.vendor = take("CL_DEVICE_VENDOR");
  report.driver = take("CL_DRIVER_VERSION");
  report.device_version = take("CL_DEVICE_VERSION");
  for (const std::string& word : split(take("CL_DEVICE_EXTENSIONS"), ' ')) {
    if (!word.empty()) report.extensions.push_back(word);
  }
  return report;
}

std::string identity_of(const DeviceReport& device) {
  return device.platform + "\n" + device.name + "\n" + device.vendor + "\n" + device.driver + "\n" +
         device.device_version;
}

class DeviceList {
 public:
  explicit DeviceList(Discovery& found) : found_(found) {}

  void add_all(const Tried& tried) {
    std::map<std::array<std::string, 3>, int> seen;
    const auto platforms = tried.reply.find("platforms");
    if (platforms == tried.reply.end() || !platforms->is_array()) return;
    for (size_t p = 0; p < platforms->size(); ++p) {
      const Json& platform = (*platforms)[p];
      const auto devices = platform.find("devices");
      if (devices == platform.end() || !devices->is_array()) continue;
      for (size_t d = 0; d < devices->size(); ++d) {
        DeviceReport report = describe(platform, (*devices)[d]);
        report.ordinal = seen[{report.platform, report.name, report.driver}]++;
        const std::string identity = fmt::format("{}\n{}", identity_of(report), report.ordinal);
        add(std::move(report), identity, {tried.report.name, p, d});
      }
    }
  }

 private:
  void add(DeviceReport report, const std::string& identity, const DeviceRoute& route) {
    if (const auto known = index_.find(identity); known != index_.end()) {
      auto& also = found_.devices[known->second].report.also_via;
      if (std::find(also.begin(), also.end(), route.library) == also.end())
        also.push_back(route.library);
      return;
    }
    index_[identity] = found_.devices.size();
    report.id = fmt::format("d{}", found_.devices.size());
    report.library = route.library;
    found_.devices.push_back({std::move(report), route});
  }

  Discovery& found_;
  std::map<std::string, size_t> index_;
};

// A loader that does not say what it is may be known by its file.
LoaderKind kind_by_file(const std::string& path) {
  const auto view = view_of("");
  const LoaderKind kind = loader_in(*view, open_library(*view, own_setting(*view), path)).kind;
  return kind == LoaderKind::kOclIcd || kind == LoaderKind::kKhronos ? kind : LoaderKind::kVendor;
}

std::vector<CandidateReport> reports_of(const std::vector<Tried>& tried) {
  std::vector<CandidateReport> reports;
  for (const Tried& row : tried) reports.push_back(row.report);
  return reports;
}

void note_loader(const Tried& tried, Discovery& found) {
  const CandidateReport& report = tried.report;
  if (!found.loader.path.empty() || report.path.empty()) return;
  if (report.origin != Origin::kLoader && report.origin != Origin::kOption) return;
  LoaderKind kind =
      parse_loader_kind(text_in(tried.reply, "loader_kind")).value_or(LoaderKind::kNone);
  if (kind == LoaderKind::kNone) kind = kind_by_file(report.path);
  found.loader = {kind, text_in(tried.reply, "loader_version"), report.path};
}

}  // namespace

namespace {

std::vector<Candidate> leftovers_among(const std::vector<std::string>& paths,
                                       const FileSystemView& view,
                                       const std::vector<CandidateReport>& tried) {
  constexpr size_t kMost = 32;
  const LinkerSetting setting = own_setting(view);
  std::set<std::string> known;
  for (const CandidateReport& row : tried) {
    known.insert(row.path);
    known.insert(open_library(view, setting, row.name).path);
  }
  std::vector<Candidate> left;
  for (const std::string& path : paths) {
    if (known.count(path) || left.size() == kMost) continue;
    const Opening opening = open_library(view, setting, path);
    if (opening.outcome != Opening::Outcome::kWrongAbi && opencl_entry(opening.symbols))
      left.push_back({path, Origin::kExports});
  }
  return left;
}

}  // namespace

std::vector<Candidate> leftover_libraries(const FileSystemView& view,
                                          const std::vector<CandidateReport>& tried) {
  return leftovers_among(scan_libraries(view), view, tried);
}

bool same_candidates(const Report& report, const std::vector<std::string>& libraries) {
  const auto list = find_candidates(libraries, own_environment);
  if (!list || report.candidates.size() < list->candidates.size()) return false;
  const auto same = [](const Candidate& now, const CandidateReport& then) {
    return now.name == then.name;
  };
  const auto then = report.candidates.begin();
  const auto rest = then + static_cast<ptrdiff_t>(list->candidates.size());
  if (!std::equal(list->candidates.begin(), list->candidates.end(), then, rest, same)) return false;
  if (!libraries.empty()) return rest == report.candidates.end();
  const auto left = leftover_libraries(*view_of(""), {then, rest});
  return std::equal(left.begin(), left.end(), rest, report.candidates.end(), same);
}

namespace {

// A library for which no worker can be started is not one without OpenCL.
Status check_all_started(const std::vector<Tried>& all) {
  for (const Tried& tried : all) {
    if (tried.not_started)
      return wrap(*tried.not_started, fmt::format("cannot try {}", tried.report.name));
  }
  return {};
}

// Where no library was named, those too to which no candidate led.
Result<std::vector<Tried>> try_all(const std::vector<Candidate>& candidates,
                                   const DiscoverySettings& settings,
                                   std::optional<std::vector<std::string>>& scanned) {
  std::vector<Tried> all = CandidateTrials(candidates, settings).run();
  CLVET_RETURN_IF_ERROR(check_all_started(all));
  if (!settings.libraries.empty()) return all;
  const auto view = view_of("");
  scanned = scan_libraries(*view);
  const auto left = leftovers_among(*scanned, *view, reports_of(all));
  for (Tried& tried : CandidateTrials(left, settings).run()) all.push_back(std::move(tried));
  CLVET_RETURN_IF_ERROR(check_all_started(all));
  return all;
}

}  // namespace

Result<Discovery> discover(const DiscoverySettings& settings) {
  CLVET_ASSIGN_OR_RETURN(CandidateList list, find_candidates(settings.libraries, own_environment));
  Discovery found;
  CLVET_ASSIGN_OR_RETURN(std::vector<Tried> all, try_all(list.candidates, settings, found.scanned));
  found.icd_files = std::move(list.icd_files);
  DeviceList devices(found);
  std::map<std::string, std::string> names_of_files;
  for (Tried& tried : all) {
    if (tried.report.name.empty()) continue;  // an interrupt came first
    found.driver_seconds += tried.driver_seconds;
    const std::string path = tried.report.path;
    const auto [known, is_new] = names_of_files.try_emplace(path, tried.report.name);
    if (!path.empty() && !is_new && tried.report.outcome == CandidateOutcome::kUsable) {
      tried.report.reason = fmt::format("the same file as {}", known->second);
    }
    note_loader(tried, found);
    devices.add_all(tried);
    found.candidates.push_back(std::move(tried.report));
  }
  return found;
}

}  // namespace clvet
