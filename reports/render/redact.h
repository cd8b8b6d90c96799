// Makes text of a report fit for strangers: no home folders, user or host names, serial numbers.
#pragma once

#include <string>
#include <vector>

#include "probe/report/report.h"

namespace clvet {

class Redactor {
 public:
  // `words` (user and host names) are removed wherever they stand as words; those too short or too
  // common to tell anybody apart are left.
  explicit Redactor(std::vector<std::string> words);

  // Paths outside the system's own folders keep their last name alone; e-mail and hardware
  // addresses, UUIDs and what follows the word "serial" go.
  std::string operator()(const std::string& text) const;

 private:
  std::vector<std::string> words_;
};

// The user names that a report's paths give away: that in /home/NAME/lib, and so on.
std::vector<std::string> names_in_paths(const Report& report);

}  // namespace clvet
