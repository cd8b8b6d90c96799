// What `clvet generate` did and said: `clvet.generate/1`.
#pragma once

#include <string>

#include "runtime/run/answer.h"
#include "runtime/run/language_session.h"

namespace clvet {

std::string generate_record_to_json(const std::string& model, const LanguageRecord& record,
                                    const Answer& answer);

}  // namespace clvet
