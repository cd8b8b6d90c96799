#include <gmock/gmock.h>

#include <string>

#include "probe/cl/library.h"
#include "probe/report/report.h"

namespace clvet {
namespace {

struct Row {
  const char* name;
  std::string asked, text;
  CandidateOutcome outcome;
};

class LoadErrorClass : public testing::TestWithParam<Row> {};

TEST_P(LoadErrorClass, IsReadFromTheLinkersText) {
  const LoadFailure found = classify_load_error(GetParam().asked, GetParam().text);
  EXPECT_EQ(found.outcome, GetParam().outcome) << to_string(found.outcome);
  EXPECT_THAT(found.reason, testing::HasSubstr(GetParam().text.substr(0, 12)));
}

INSTANTIATE_TEST_SUITE_P(
    Library, LoadErrorClass,
    testing::Values(
        Row{"absent", "libmali.so",
            "libmali.so: cannot open shared object file: No such file or directory",
            CandidateOutcome::kAbsent},
        Row{"absent_path", "/opt/libmali.so",
            "/opt/libmali.so: cannot open shared object file: No such file or directory",
            CandidateOutcome::kAbsent},
        Row{"dependency", "libmali.so",
            "libwayland-client.so.0: cannot open shared object file: No such file or directory",
            CandidateOutcome::kMissingDependency},
        Row{"newer_libc", "libmali.so",
            "/lib/libc.so.6: version `GLIBC_2.38' not found (required by /opt/libmali.so)",
            CandidateOutcome::kMissingDependency},
        Row{"undefined_symbol", "libmali.so", "/opt/libmali.so: undefined symbol: gbm_create",
            CandidateOutcome::kMissingDependency},
        Row{"word_size", "libmali.so", "libmali.so: wrong ELF class: ELFCLASS32",
            CandidateOutcome::kWrongElfClass},
        Row{"permission", "/opt/libmali.so",
            "/opt/libmali.so: cannot open shared object file: Permission denied",
            CandidateOutcome::kNotAccessible},
        Row{"android_namespace", "libOpenCL.so",
            "library \"libOpenCL.so\" needed or dlopened by \"x\" is not accessible for the "
            "namespace",
            CandidateOutcome::kNotAccessible},
        Row{"not_elf", "/opt/x.so", "/opt/x.so: invalid ELF header", CandidateOutcome::kError},
        Row{"cut_file", "/opt/x.so", "/opt/x.so: file too short", CandidateOutcome::kError}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace clvet
