#include "clvet/context.h"

#include <memory>
#include <utility>

#include "base/file.h"
#include "base/result.h"
#include "clvet/result.h"
#include "runtime/api/context_impl.h"
#include "runtime/api/guarded.h"
#include "runtime/api/own_process.h"
#include "runtime/api/report_choice.h"

namespace clvet::v1 {

::clvet::Result<std::shared_ptr<ContextImpl>> ContextImpl::open(const ContextOptions& options) {
  auto impl = of_own_process(new ContextImpl);
  impl->state_dir_ = options.state_dir.empty() ? ::clvet::state_dir() : options.state_dir;
  CLVET_RETURN_IF_ERROR(check_private(impl->state_dir_));
  CLVET_ASSIGN_OR_RETURN(ReportChoice chosen, choose_report(options.report, impl->state_dir_));
  impl->report_ = std::move(chosen.report);
  impl->why_not_ = std::move(chosen.why_not);
  return impl;
}

Context::Context(std::shared_ptr<ContextImpl> impl) : impl_(std::move(impl)) {}

Result<Context> Context::open(const ContextOptions& options) {
  return guarded([&]() -> Result<Context> {
    auto impl = ContextImpl::open(options);
    if (!impl) return public_error(impl.error());
    return Context(std::move(*impl));
  });
}

}  // namespace clvet::v1
