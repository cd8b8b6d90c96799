#!/usr/bin/env python3
"""ci/personalities.py reads traces and tables as they are meant."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "ci"))
import personalities  # noqa: E402

TRACE = """\
12 openat(AT_FDCWD, "/w/seen/glibc-hwcaps/x86-64-v3/libOpenCL.so", O_RDONLY|O_CLOEXEC) = -1 ENOENT (No such file or directory)
12 newfstatat(AT_FDCWD, "/w/seen/glibc-hwcaps/x86-64-v3", 0x7ffc, 0) = -1 ENOENT (No such file or directory)
12 openat(AT_FDCWD, "/w/seen/libOpenCL.so", O_RDONLY|O_CLOEXEC) = -1 ENOENT (No such file or directory)
12 openat(AT_FDCWD, "/lib/x86_64-linux-gnu/libOpenCL.so", O_RDONLY|O_CLOEXEC) = -1 ENOENT (No such file or directory)
12 openat(AT_FDCWD, "/w/seen/libcuda.so", O_RDONLY|O_CLOEXEC) = -1 ENOENT (No such file or directory)
13 stat("/usr/lib/libOpenCL.so", 0x7ffd) = -1 ENOENT (No such file or directory)
13 openat(AT_FDCWD, "/opt/my.so", O_RDONLY|O_CLOEXEC) = -1 ENOENT (No such file or directory)
13 openat(AT_FDCWD, "/w/seen/libOpenCL.so.1", O_RDONLY|O_CLOEXEC) = 3
"""
ROW = {"stops_at": "opened", "variables": ["V"], "names": {"linux": ["a.so", "b.so", "c.so"]}}


class Traces(unittest.TestCase):
    def test_tell_bare_names_from_paths(self):
        self.assertEqual(personalities.names_tried(TRACE, "/w/seen", ["/opt/my.so"]),
                         ["libOpenCL.so", "/opt/my.so", "libOpenCL.so.1"])

    def test_tell_a_path_that_is_asked_first(self):
        self.assertEqual(personalities.names_tried(TRACE.splitlines()[5], "/w/seen"), ["/usr/lib/libOpenCL.so"])


class Tables(unittest.TestCase):
    def test_end_at_the_first_that_opens(self):
        self.assertEqual(personalities.expected(ROW, {"b.so": "good"}, {}), (["a.so", "b.so"], "found"))
        self.assertEqual(personalities.expected(ROW, {"a.so": "plain", "b.so": "good"}, {}), (["a.so"], "missing-symbols"))
        self.assertEqual(personalities.expected(ROW, {}, {}), (["a.so", "b.so", "c.so"], "no-library"))

    def test_go_on_behind_one_that_lacks_the_symbol(self):
        row = dict(ROW, stops_at="symbol")
        self.assertEqual(personalities.expected(row, {"a.so": "plain", "b.so": "good"}, {}), (["a.so", "b.so"], "found"))
        self.assertEqual(personalities.expected(row, {"c.so": "plain"}, {})[1], "missing-symbols")

    def test_take_a_variable_first_or_alone(self):
        self.assertEqual(personalities.expected(ROW, {}, {"V": "x"})[0], ["x", "a.so", "b.so", "c.so"])
        self.assertEqual(personalities.expected(dict(ROW, variable_alone=True), {}, {"V": "x"})[0], ["x"])

    def test_of_every_program_exist(self):
        rows = {row["name"] for row in personalities.json.loads(personalities.TABLE.read_text())["personalities"]}
        self.assertLessEqual(set(personalities.PROGRAMS), rows)


if __name__ == "__main__":
    unittest.main()
