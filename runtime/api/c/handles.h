// What the handles of C programs hold.
#pragma once

#include <sys/types.h>

#include <future>
#include <vector>

#include "clvet/context.h"
#include "clvet/language.h"
#include "clvet/placement.h"
#include "clvet/result.h"
#include "clvet/session.h"
#include "clvet/tensor.h"

struct clvet_context {
  clvet::v1::Context context;
};

struct clvet_session {
  clvet::v1::Session session;
};

struct clvet_tensor_list {
  std::vector<clvet::v1::TensorInfo> infos;
};

struct clvet_pending {
  std::shared_future<clvet::v1::Status> done;
  pid_t process;
};

struct clvet_mapping {
  clvet::v1::Mapping mapping;
};

struct clvet_placement {
  clvet::v1::Placement placement;
};

struct clvet_language {
  clvet::v1::LanguageModel model;
};

struct clvet_generated {
  clvet::v1::Generated generated;
};
