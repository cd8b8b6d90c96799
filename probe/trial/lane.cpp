#include "probe/trial/lane.h"

#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "probe/host/environment.h"
#include "probe/process/stage_page.h"
#include "probe/worker/supervisor.h"
#include "probe/worker/worker_limits.h"

namespace clvet {

Result<Lane> Lane::create(const std::string& stage_path, std::string scratch) {
  CLVET_ASSIGN_OR_RETURN(StageView stage, StageView::create(stage_path));
  return Lane(std::move(stage), std::move(scratch));
}

Status Lane::start(WorkerSettings settings) {
  clear();
  const std::string folder = fmt::format("{}/{}", scratch_, ++workers_);
  CLVET_ASSIGN_OR_RETURN(const auto caches, cache_variables(folder));
  CLVET_RETURN_IF_ERROR(make_folders(folder));
  settings.environment.insert(caches.begin(), caches.end());
  CLVET_ASSIGN_OR_RETURN(worker_, Worker::start(settings, *stage_));
  return {};
}

Outcome Lane::call(const nlohmann::json& request, const std::vector<int>& fds) {
  return worker_->call(request, fds);
}

void Lane::clear() {
  end_worker();
  std::error_code ignored;
  std::filesystem::remove_all(scratch_, ignored);
}

}  // namespace clvet
