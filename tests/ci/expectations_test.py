"""What ci/check_expectations.py accepts and refuses; and that the repository's own expectation files can be used."""
import contextlib
import io
import json
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "ci"))
import check_expectations  # noqa: E402


def verdict(case, word="pass", stage="exit", signal=0, constructs=(), note=""):
    kernel, precision, memory, activations, weights, weight_type = case.split("/")[:6]
    none = lambda text: None if text == "-" else text
    return {"case": case, "kernel": kernel, "op": kernel.split("_")[0], "verdict": word, "stage": stage,
            "combination": {"precision": precision, "memory": none(memory), "activations": activations, "weights": none(weights)},
            "weight_type": none(weight_type), "constructs": list(constructs), "evidence": {"signal": signal, "note": note}}


GEMM = "gemm_tile4x4/high/normal/buffer/buffer/float/odd"
POOL = "pool_window/low/-/image/-/-/odd"


class Expectations(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def run_check(self, verdicts, rules, complete=True, devices=("Mali-G52",), **fields):
        report = {"devices": [{"platform": "rusticl", "name": name} for name in devices], "complete": complete,
                  "verdicts": verdicts, "run": {"wall_s": 1.5}}
        expectations = {"comment": "", "driver": "d", "nightly": False, "probe": [], "platform": "rusticl", "device": "Mali-*",
                        "rules": rules, **fields}
        return self.run_files(json.dumps(report), json.dumps(expectations))

    def run_files(self, report, expectations):
        paths = [str(pathlib.Path(self.folder.name) / name) for name in ("report", "expectations")]
        for path, text in zip(paths, (report, expectations)):
            pathlib.Path(path).write_text(text)
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            code = check_expectations.main(paths)
        return code, out.getvalue()

    def expect(self, result, code, *texts):
        self.assertEqual(result[0], code, result[1])
        for text in texts:
            self.assertIn(text, result[1])

    def test_a_report_in_which_all_pass_needs_no_rule_and_is_counted(self):
        self.expect(self.run_check([verdict(GEMM), verdict(POOL)], []), 0, "d: 2 cases in 2 s: 2 pass")

    def test_a_failure_that_no_rule_expects_fails_the_run(self):
        self.expect(self.run_check([verdict(GEMM, "wrong", "read", note="35 of 35 values")], []), 1,
                    GEMM + ": wrong at read, expected pass (35 of 35 values)")

    def test_an_expected_failure_is_right(self):
        rule = {"precision": "low", "expect": ["wrong"], "reason": "r"}
        self.expect(self.run_check([verdict(GEMM), verdict(POOL, "wrong")], [rule]), 0, "1 pass, 1 wrong")

    def test_an_expected_failure_that_passes_fails_the_run(self):
        rule = {"precision": "low", "expect": ["wrong"], "reason": "r"}
        self.expect(self.run_check([verdict(POOL)], [rule]), 1, POOL + ": pass at exit, expected wrong")

    def test_an_unsupported_case_must_stay_unsupported(self):
        rule = {"precision": "low", "expect": ["unsupported"], "reason": "no fp16"}
        self.expect(self.run_check([verdict(POOL, "build-error")], [rule]), 1, "expected unsupported")

    def test_a_case_that_becomes_unsupported_without_a_rule_fails_the_run(self):
        self.expect(self.run_check([verdict(POOL, "unsupported")], []), 1, "unsupported at exit, expected pass")

    def test_a_rule_that_fits_no_case_fails_the_run(self):
        rule = {"case": "conv*", "expect": ["crash"], "reason": "the compiler asserts"}
        self.expect(self.run_check([verdict(GEMM)], [rule]), 1, "rule 0 fits no case: the compiler asserts")

    def test_the_first_rule_that_fits_decides_and_one_it_hides_fits_nothing(self):
        rules = [{"op": "gemm", "expect": ["pass"], "reason": "r"}, {"precision": "high", "expect": ["wrong"], "reason": "hidden"}]
        self.expect(self.run_check([verdict(GEMM)], rules), 1, "rule 1 fits no case: hidden")

    def test_a_rule_with_several_fields_fits_only_where_all_of_them_do(self):
        rule = {"precision": "low", "activations": "buffer", "expect": ["wrong"], "reason": "r"}
        self.expect(self.run_check([verdict(POOL, "wrong")], [rule]), 1, "wrong at exit, expected pass", "rule 0 fits no case")

    def test_an_absent_memory_or_weight_type_is_not_a_word(self):
        rules = [{"memory": "normal", "expect": ["wrong"], "reason": "r"}, {"weight_type": "int4", "expect": ["wrong"], "reason": "r"}]
        self.expect(self.run_check([verdict(POOL)], rules), 1, "rule 0 fits no case", "rule 1 fits no case")

    def test_constructs_must_all_be_used(self):
        rule = {"constructs": ["half_type", "read_imageh"], "expect": ["crash"], "reason": "r"}
        rows = [verdict(POOL, "crash", constructs=["image_half", "half_type", "read_imageh"]), verdict(GEMM, constructs=["half_type"])]
        self.expect(self.run_check(rows, [rule]), 0, "1 crash, 1 pass")

    def test_stage_and_signal_are_part_of_what_is_expected(self):
        rule = {"case": "pool*", "expect": ["crash"], "stage": "build", "signal": 6, "reason": "r"}
        self.expect(self.run_check([verdict(POOL, "crash", "build", 6)], [rule]), 0)
        self.expect(self.run_check([verdict(POOL, "crash", "enqueue", 6)], [rule]), 1, "crash at enqueue, expected at build")
        self.expect(self.run_check([verdict(POOL, "crash", "build", 11)], [rule]), 1, "crash by signal 11, expected 6")

    def test_missing_and_tool_error_fail_and_can_be_expected_of_no_driver(self):
        for word in ("missing", "tool-error", "interrupted"):
            self.expect(self.run_check([verdict(GEMM, word)], []), 1, word + " at exit, expected pass")
            rule = {"case": "*", "expect": [word], "reason": "r"}
            self.expect(self.run_check([verdict(GEMM, word)], [rule]), 2, f"'{word}' can be expected of no driver")

    def test_another_device_no_device_and_two_devices_fail_the_run(self):
        self.expect(self.run_check([verdict(GEMM)], [], devices=["llvmpipe"]), 1, "device of the device is 'llvmpipe'")
        self.expect(self.run_check([], [], devices=[]), 1, "0 devices", "no case was tried")
        self.expect(self.run_check([verdict(GEMM)], [], devices=["Mali-G52", "Mali-G52"]), 1, "2 devices")

    def test_an_incomplete_report_fails_unless_cases_were_chosen(self):
        self.expect(self.run_check([verdict(GEMM)], [], complete=False), 1, "not complete")
        self.expect(self.run_check([verdict(GEMM)], [], complete=False, probe=["--case", "gemm"]), 0)

    def test_a_rule_that_cannot_fail_or_says_nothing_is_refused(self):
        for rule, text in (({"case": "*", "expect": ["pass", "wrong"], "reason": "r"}, "cannot fail"),
                           ({"expect": ["wrong"], "reason": "r"}, "says nothing of the cases"),
                           ({"case": "*", "expect": ["wrong"]}, "no reason"),
                           ({"case": "*", "expect": [], "reason": "r"}, "no list of verdicts"),
                           ({"case": "*", "expect": "wrong", "reason": "r"}, "no list of verdicts"),
                           ({"case": "*", "expect": ["wrng"], "reason": "r"}, "'wrng'"),
                           ({"cases": "*", "expect": ["wrong"], "reason": "r"}, "unknown field cases"),
                           ("wrong", "not an object")):
            self.expect(self.run_check([verdict(GEMM, "wrong")], [rule]), 2, "rule 0", text)

    def test_a_file_that_is_none_is_refused_by_name(self):
        good = json.dumps({"comment": "", "driver": "d", "nightly": False, "probe": [], "platform": "*", "device": "*", "rules": []})
        for report, expectations in (("", good), ("[]", good), ('{"devices": 3}', good), ("{}", good), ("{}", "{"), ("{}", "{}"), ("{}", "[]"),
                                     ("{}", good.replace("false", '"no"')), ("{}", good.replace('"comment"', '"remark"'))):
            result = self.run_files(report, expectations)
            self.expect(result, 2, self.folder.name)

    def test_every_file_of_the_repository_can_be_used_and_is_one_run_of_one_driver(self):
        files = sorted((ROOT / "ci/expectations").glob("*.json"))
        self.assertGreater(len(files), 0)
        runs = []
        for file in files:
            document = check_expectations.read_expectations(str(file))
            runs.append((document["driver"], document["nightly"]))
        self.assertEqual(len(runs), len(set(runs)))


if __name__ == "__main__":
    unittest.main()
