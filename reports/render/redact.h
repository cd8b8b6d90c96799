// Makes text of a report fit for strangers: no home folders, user or host names, serial numbers.
#pragma once

#include <string>
#include <vector>

#include "probe/report/report.h"

namespace clvet {

class Redactor {
 public:
  // `words` (user and host names) are removed wherever they stand as words; those too short or too
  // common to tell anybody apart are left. `paths` are taken as wholes, blanks in them too.
  explicit Redactor(std::vector<std::string> words, std::vector<std::string> paths = {});

  // Paths outside the system's own folders keep their last name alone; e-mail, hardware and network
  // addresses, UUIDs and what follows the word "serial" go.
  std::string operator()(const std::string& text) const;

 private:
  std::vector<std::string> words_, paths_;
};

// Every path of a report's loader, libraries, ICD files and variables.
std::vector<std::string> paths_in(const Report& report);

// The user names that a report's paths give away: that in /home/NAME/lib, and so on.
std::vector<std::string> names_in_paths(const Report& report);

}  // namespace clvet
