// Where one worker of a device lives: its stage page, its folder for drivers' caches, the worker.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "probe/process/stage_page.h"
#include "probe/worker/supervisor.h"
#include "probe/worker/worker_limits.h"

namespace clvet {

class Lane {
 public:
  // `stage_path`: the file of the stage page. `scratch`: a folder that this lane owns.
  static Result<Lane> create(const std::string& stage_path, std::string scratch);

  // Starts a worker, on empty caches, in place of the one before.
  Status start(WorkerSettings settings);
  // Needs a worker that was started; see Worker::call.
  Outcome call(const nlohmann::json& request, const std::vector<int>& fds = {});
  bool alive() { return worker_ && worker_->alive(); }
  // Ends the worker, if there is one.
  void end_worker() { worker_.reset(); }
  // Ends the worker and removes the scratch folder.
  void clear();

 private:
  Lane(StageView stage, std::string scratch)
      : stage_(std::make_unique<StageView>(std::move(stage))), scratch_(std::move(scratch)) {}
  std::unique_ptr<StageView> stage_;  // the worker keeps its address
  std::string scratch_;
  std::optional<Worker> worker_;
  int workers_ = 0;
};

}  // namespace clvet
