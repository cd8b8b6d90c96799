"""What signals, forks and the end of the interpreter do to sessions. Each case is a process of its own."""

import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import clvet
from small_models import child, write_doubling, write_language_model, write_long

LONG_RUN = """
    import sys, numpy, clvet
    session = clvet.Session(sys.argv[1], device="host")
    x = numpy.ones((16384, 64), numpy.float32)
"""


class Processes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.doubling = write_doubling(cls.folder.name)
        cls.long = write_long(cls.folder.name)
        cls.letters = write_language_model(cls.folder.name)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def run_child(self, code, *arguments):
        process = child(code, *arguments)
        out, err = process.communicate(timeout=120)
        self.assertEqual((process.returncode, err), (0, ""), out + err)
        return out

    def interrupted(self, code, *arguments):
        """What a child says that gets SIGINT after its first line, and the seconds from there to its end."""
        process = child(code, *arguments)
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.readline(), "ready\n", process.poll() is not None and process.stderr.read())
        time.sleep(0.3)
        started = time.monotonic()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
        self.assertEqual((process.returncode, err), (0, ""), out + err)
        return out, time.monotonic() - started

    def test_ctrl_c_ends_a_run_and_the_session_goes_on(self):
        out, seconds = self.interrupted(LONG_RUN + """
    print("ready", flush=True)
    try:
        session.run(None, {"x": x})
        print("it ended")
    except KeyboardInterrupt:
        print(session.run(None, {"x": x[:1]})[0].sum())
""", self.long)
        self.assertEqual(out, "64.0\n")
        self.assertLess(seconds, 3)

    def test_ctrl_c_ends_a_warm_up(self):
        out, seconds = self.interrupted(LONG_RUN + """
    session.resize({"x": x.shape})
    print("ready", flush=True)
    try:
        session.warm_up()
        print("it ended")
    except KeyboardInterrupt:
        print("interrupted")
""", self.long)
        self.assertEqual(out, "interrupted\n")
        self.assertLess(seconds, 3)

    def test_ctrl_c_ends_a_text(self):
        out, seconds = self.interrupted("""
            import sys, clvet
            model = clvet.LanguageModel(sys.argv[1], device="host")
            try:
                for piece in model.generate("bcd", max_tokens=4000, temperature=1, seed=3):
                    if piece:
                        print("ready", flush=True) if not getattr(sys, "said", 0) else None
                        sys.said = 1
                while True:
                    for piece in model.generate("bcd", max_tokens=4000, temperature=1):
                        pass
            except KeyboardInterrupt:
                print(len(model.generate("bcd", 3).read()) > 0)
        """, self.letters)
        self.assertEqual(out, "True\n")
        self.assertLess(seconds, 3)

    def test_ctrl_c_ends_a_probe(self):
        program = os.path.join(self.folder.name, "clvet")
        with open(program, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\ntrap 'exit 130' INT; while :; do echo on; sleep 0.1; done\n")
        os.chmod(program, 0o700)
        out, seconds = self.interrupted("""
            import sys, clvet
            print("ready", flush=True)
            try:
                clvet.probe(program=sys.argv[1], state_dir=sys.argv[2])
            except KeyboardInterrupt:
                print("interrupted")
        """, program, self.folder.name)
        self.assertEqual(out, "interrupted\n")
        self.assertLess(seconds, 3)

    def test_a_child_process_is_told_to_open_its_own(self):
        out = self.run_child("""
            import os, sys, numpy, clvet
            session = clvet.Session(sys.argv[1], device="host")
            model = clvet.LanguageModel(sys.argv[2], device="host")
            feeds = {"x": numpy.ones((1, 2), numpy.float32), "n": numpy.array([1, 2])}
            y = session.run(None, feeds)
            session.run_async(None, feeds).result()
            child = os.fork()
            if child == 0:
                for call in (lambda: session.run(None, feeds), lambda: model.tokenize("b"), lambda: session.inputs):
                    try:
                        call()
                        print("it was allowed", flush=True)
                    except clvet.Unavailable:
                        print("unavailable", flush=True)
                own = clvet.Session(sys.argv[1], device="host")
                print(own.run(["y"], feeds)[0].sum(), flush=True)
                sys.exit(0)
            print(os.waitpid(child, 0)[1], session.run(["y"], feeds)[0].sum())
        """, self.doubling, self.letters)
        self.assertEqual(out, "unavailable\n" * 3 + "4.0\n0 4.0\n")

    def test_the_interpreter_may_end_with_all_open(self):
        for last in ("", "sys.exit(0)", "session.run_async(None, {'x': big})", "generation = model.generate('bcd', 4000, 1); next(generation)"):
            with self.subTest(last):
                self.run_child(LONG_RUN + f"""
    model = clvet.LanguageModel(sys.argv[2], device="host")
    big = numpy.ones((16384, 64), numpy.float32)
    outputs = session.run(None, {{"x": x[:2]}})
    mapped = session.map("y")
    array = mapped.array
    written = session.map("x", "w")
    del written
    {last}
""", self.long, self.letters)

    def test_the_system_is_asked_for_the_library_of_this_version(self):
        self.assertEqual(clvet._native.SYSTEM_NAME, "libclvet.so." + clvet.__version__.rpartition(".")[0])

    def test_a_library_that_is_not_there_is_an_import_error(self):
        environment = {**os.environ, "CLVET_LIBRARY": "/nowhere/libclvet.so"}
        done = subprocess.run([sys.executable, "-c", "import clvet"], capture_output=True, text=True, env=environment, check=False)
        self.assertIn("ImportError: libclvet was not found", done.stderr)
        self.assertIn("/nowhere/libclvet.so", done.stderr)

    def test_the_module_starts_the_program(self):
        command = [sys.executable, "-m", "clvet", "--version"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, f"clvet {clvet.__version__}\n"), done.stderr)
        environment = {name: value for name, value in os.environ.items() if name != "CLVET_PROGRAM"}
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("CLVET_PROGRAM", done.stderr)


if __name__ == "__main__":
    unittest.main()
