// The layout is glibc's own (elf/ldconfig's "new" format): 20 bytes of magic and version, the
// number of entries, the length of the strings, flags; from byte 48 on entries of 24 bytes.
#include <gmock/gmock.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "probe/files/file_view.h"
#include "probe/files/library_scan.h"
#include "probe/files/linker_cache.h"
#include "tests/boards.h"
#include "tests/support.h"

namespace clvet {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

void put(std::string& bytes, size_t at, uint32_t value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

std::string cache_of(const std::vector<std::string>& paths) {
  std::string bytes("glibc-ld.so.cache1.1");
  bytes.resize(48 + 24 * paths.size(), '\0');
  put(bytes, 20, static_cast<uint32_t>(paths.size()));
  for (size_t i = 0; i < paths.size(); ++i) {
    put(bytes, 48 + 24 * i + 8, static_cast<uint32_t>(bytes.size()));
    bytes += paths[i] + '\0';
  }
  return bytes;
}

TEST(LinkerCache, GivesItsPathsInOrder) {
  const std::string cache = cache_of({"/opt/x/libmali.so.1", "/usr/lib/libz.so.1"});
  EXPECT_THAT(paths_in_linker_cache(cache),
              ElementsAre("/opt/x/libmali.so.1", "/usr/lib/libz.so.1"));
  EXPECT_THAT(paths_in_linker_cache("ld.so-1.7.0" + std::string(53, '\0') + cache),
              ElementsAre("/opt/x/libmali.so.1", "/usr/lib/libz.so.1"))
      << "behind the table of an older format";
}

TEST(LinkerCache, ReadsNothingOutsideOfTheFile) {
  const std::string cache = cache_of({"/opt/x/libmali.so.1"});
  for (size_t size = 0; size < cache.size(); ++size)
    EXPECT_THAT(paths_in_linker_cache(std::string_view(cache).substr(0, size)), IsEmpty());
  std::string bad = cache;
  put(bad, 20, 0xffffffff);
  put(bad, 48 + 8, 0xfffffff0);
  EXPECT_THAT(paths_in_linker_cache(bad), IsEmpty());
  EXPECT_THAT(paths_in_linker_cache(""), IsEmpty());
}

TEST(LibraryScan, FindsWhatTheLinkersCacheAloneNames) {
  const test::TempDir dir;
  test::build_tree({{"/srv/vendor/libmali.so.1.9", test::text("x")},
                    {"/srv/vendor/libmali.so.1", test::link("libmali.so.1.9")},
                    {"/srv/vendor/libz.so.1", test::text("x")},
                    {"/etc/ld.so.conf", test::text("")}},
                   dir.path());
  test::put(dir / "etc/ld.so.cache",
            cache_of({"/srv/vendor/libmali.so.1", "/srv/vendor/libz.so.1", "/gone/libOpenCL.so"}));
  EXPECT_THAT(scan_libraries(*view_of(dir.path())), ElementsAre("/srv/vendor/libmali.so.1.9"));
}

}  // namespace
}  // namespace clvet
