// What the files of a machine or a tree tell about its OpenCL, as facts for the rules. Loads
// nothing.
#pragma once

#include <vector>

#include "probe/diagnose/fact.h"
#include "probe/files/file_view.h"
#include "probe/files/survey.h"

namespace clvet {

std::vector<Fact> facts_of_files(const FileSystemView& view, const Survey& survey);

}  // namespace clvet
