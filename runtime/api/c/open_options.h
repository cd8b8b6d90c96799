// What is asked of a session and of a language model alike.
#pragma once

#include <string>

#include "runtime/api/c/call.h"
#include "runtime/api/c/handles.h"  // IWYU pragma: keep

namespace clvet::v1::c {

template <class Options, class Given>
Options opened_with(const Given& given) {
  Options options;
  options.device = text_or(given.device, "auto");
  options.precision = text_or(given.precision, "auto");
  options.report = text_or(given.report);
  options.state_dir = text_or(given.state_dir);
  if (given.context) options.context = given.context->context;
  options.strict = given.strict != 0;
  if (given.warning)
    options.warning = [warning = given.warning, user = given.warning_user](
                          const std::string& text) { warning(text.c_str(), user); };
  return options;
}

}  // namespace clvet::v1::c
