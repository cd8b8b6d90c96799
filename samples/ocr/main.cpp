// clvet_ocr: reads the text of a picture, on what a report of `clvet probe` allows.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/event.h"
#include "base/file.h"
#include "base/json.h"
#include "base/result.h"
#include "probe/host/environment.h"
#include "probe/report/report.h"
#include "probe/report/report_json.h"
#include "runtime/plan/plan.h"
#include "runtime/run/run_model.h"
#include "runtime/run/run_record.h"
#include "samples/ocr/geometry.h"
#include "samples/ocr/page_reader.h"
#include "samples/ocr/picture.h"

namespace clvet::ocr {
namespace {

struct Arguments {
  std::string page, models = cache_dir() + "/models", report, json;
  ModelRunOptions options;
};

// The report that was named, else the state folder's, else none.
Result<std::optional<Report>> find_report(const Arguments& arguments) {
  if (arguments.options.device == "host") return std::nullopt;
  const bool named = !arguments.report.empty();
  const std::string path = named ? arguments.report : state_dir() + "/report.json";
  const auto text = read_file(path);
  if (!text && !named && text.error().code == ErrorCode::kNotFound) {
    std::fprintf(stderr, "no report yet ('clvet probe' makes one): computed on the host\n");
    return std::nullopt;
  }
  if (!text) return tl::unexpected(text.error());
  if (!named) CLVET_RETURN_IF_ERROR(check_private(path));
  CLVET_ASSIGN_OR_RETURN(Report report, report_from_json(*text, path));
  // A report loads no driver but those that it was made with.
  const size_t foreign = std::erase_if(report.devices, [](const DeviceReport& device) {
    return !same_environment(device) || !library_is_listed(device);
  });
  if (foreign > 0 && report.devices.empty()) {
    return fail(ErrorCode::kInvalidArgument, "the report {} was made with other drivers or kernels",
                path);
  }
  return report;
}

nlohmann::ordered_json to_json(const Arguments& arguments, const PageText& page) {
  nlohmann::ordered_json lines = nlohmann::json::array();
  nlohmann::ordered_json runs = nlohmann::json::array();
  for (const TextLine& line : page.lines) {
    nlohmann::json box = nlohmann::json::array();
    for (const auto& [s, t] : {std::pair(0, 0), {1, 0}, {1, 1}, {0, 1}}) {
      const Point corner = line.place.at(s, t);
      box.push_back({corner.x, corner.y});
    }
    lines.push_back(
        {{"text", line.text}, {"score", line.score}, {"turned", line.turned}, {"box", box}});
  }
  for (const RunRecord& run : page.runs) {
    const auto on_device =
        std::count_if(run.nodes.begin(), run.nodes.end(),
                      [](const NodeRecord& row) { return row.place != Place::kHost; });
    runs.push_back({{"device", run.device},
                    {"nodes", run.nodes.size()},
                    {"on_opencl", on_device},
                    {"warnings", run.warnings},
                    {"ms", run.first_ms}});
  }
  return nlohmann::ordered_json{{"page", arguments.page}, {"lines", lines}, {"runs", runs}};
}

Status run(const Arguments& arguments) {
  CLVET_ASSIGN_OR_RETURN(const Picture page, read_picture(arguments.page));
  CLVET_ASSIGN_OR_RETURN(const PageReader reader, PageReader::open(arguments.models));
  CLVET_ASSIGN_OR_RETURN(const auto report, find_report(arguments));
  CLVET_ASSIGN_OR_RETURN(const PageText text,
                         reader.read(page, report ? &*report : nullptr, arguments.options));
  const std::string json =
      to_json(arguments, text).dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  if (arguments.json == "-") {
    std::fputs(json.c_str(), stdout);
    return {};
  }
  for (const TextLine& line : text.lines) std::printf("%.3f  %s\n", line.score, line.text.c_str());
  return arguments.json.empty() ? Status() : write_file_atomically(arguments.json, json);
}

}  // namespace
}  // namespace clvet::ocr

int main(int argc, char** argv) {
  clvet::ocr::Arguments arguments;
  arguments.options.repeat = 0;
  arguments.options.sink = [](const clvet::Event& event) {
    if (event.level == clvet::EventLevel::kWarning) {
      std::fprintf(stderr, "%s\n", event.text.c_str());
    }
  };
  CLI::App app("Reads the text of a page: one line of text a line, with its score before it.");
  app.add_option("page", arguments.page, "PNG or JPEG")->required();
  app.add_option("--models", arguments.models, "folder of the three PP-OCR models")
      ->capture_default_str();
  app.add_option("--report", arguments.report, "report file (default: in the state folder)");
  app.add_option("--device", arguments.options.device, "auto, host, or a device of the report")
      ->capture_default_str();
  app.add_option("--json", arguments.json,
                 "write texts, boxes and where each network ran here; - is stdout");
  CLI11_PARSE(app, argc, argv);
  const clvet::Status done = clvet::ocr::run(arguments);
  if (!done) std::fprintf(stderr, "clvet_ocr: %s\n", done.error().message.c_str());
  std::fflush(nullptr);
  ::_exit(done ? 0 : 2);
}
