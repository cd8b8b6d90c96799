"""Language models, reports and plans as a Python program uses them."""

import gc
import os
import pathlib
import tempfile
import threading
import time
import unittest

import numpy as np

import clvet
from small_models import write_doubling, write_language_model


class Folder(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def refused(self, kind, says, call, *arguments, **options):
        with self.assertRaises(kind) as caught:
            call(*arguments, **options)
        self.assertIn(says, str(caught.exception))


class Language(Folder):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.file = write_language_model(cls.folder.name)
        cls.model = clvet.LanguageModel(cls.file, device="host")
        cls.endless_file = write_language_model(cls.folder.name, ends=False)
        cls.endless = clvet.LanguageModel(cls.endless_file, device="host")

    @classmethod
    def tearDownClass(cls):
        cls.model.close()
        cls.endless.close()
        super().tearDownClass()

    def test_a_text_comes_in_pieces_and_is_whole_at_the_end(self):
        text = self.model.generate("bcd", max_tokens=20, temperature=1, seed=3)
        pieces = list(text)
        self.assertEqual("".join(pieces), text.text)
        self.assertEqual(text.prompt_tokens, self.model.tokenize("bcd"))
        self.assertEqual(self.model.text_of(text.tokens), text.text)
        self.assertIn(text.ending, ("limit", "end of text"))
        self.assertEqual(list(text), [])

    def test_a_text_has_no_ending_while_it_goes_on(self):
        with self.endless.generate("bcd", max_tokens=100000, temperature=1) as text:
            self.assertEqual((text.text, text.ending), ("", ""))

    def test_tokens_go_on_as_their_text_does(self):
        want = self.model.generate("bcd", 8, 1, seed=5).read()
        for prompt in ([1, 2, 3], (1, 2, 3), np.array([1, 2, 3]), range(1, 4)):
            self.assertEqual(self.model.generate(prompt, 8, 1, seed=5).read(), want)

    def test_leaving_the_loop_ends_the_text(self):
        for piece in self.model.generate("bcd", max_tokens=100000, temperature=1):
            break
        gc.collect()
        self.assertTrue(piece)
        self.assertTrue(self.model.generate("bcd", 4).read())  # which waits for the end of the other

    def test_close_ends_the_text_and_keeps_what_came(self):
        with self.endless.generate("bcd", max_tokens=4000, temperature=1) as text:
            first = next(text)
        self.assertTrue(text.text.startswith(first))
        self.assertEqual(text.ending, "stopped")
        self.assertEqual(list(text), [])

    def test_a_text_that_nobody_takes_does_not_keep_another_waiting(self):
        idle = self.endless.generate("bcd", max_tokens=1000, temperature=1, seed=1)
        next(idle)
        self.assertTrue(self.endless.generate("b", 4).read())
        idle.close()

    def test_cancel_ends_a_text_with_an_error(self):
        text = self.endless.generate("bcd", max_tokens=4000, temperature=1)
        next(text)
        self.endless.cancel()
        self.refused(clvet.Cancelled, "cancelled", text.read)

    def test_close_of_the_model_ends_its_texts(self):
        model = clvet.LanguageModel(self.endless_file, device="host")
        text = model.generate("bcd", max_tokens=4000, temperature=1)
        next(text)
        started = time.monotonic()
        model.close()
        self.assertLess(time.monotonic() - started, 5)
        with self.assertRaises(clvet.Cancelled):
            text.read()
        self.refused(clvet.Stale, "was closed", model.tokenize, "b")

    def test_other_threads_take_texts_too(self):
        texts = []
        threads = [threading.Thread(target=lambda: texts.append(self.model.generate("bcd", 8).read())) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(texts), 4)
        self.assertEqual(len(set(texts)), 1)

    def test_wrong_prompts_are_told_what_is_wrong(self):
        generate = self.model.generate
        self.refused(clvet.InvalidArgument, "no tokens", lambda: generate("").read())
        self.refused(clvet.InvalidArgument, "no tokens", lambda: generate([]).read())
        self.refused(clvet.InvalidArgument, "99999", lambda: generate([99999]).read())
        self.refused(clvet.InvalidArgument, "a token is -1", generate, [-1])
        self.refused(clvet.InvalidArgument, "an integer", generate, [1.5])
        self.refused(clvet.InvalidArgument, "NUL", generate, "a\0b")
        self.refused(clvet.InvalidArgument, "no text", generate, "\ud800")
        self.refused(clvet.InvalidArgument, "a message is", generate, [{"role": "user"}])
        self.refused(clvet.InvalidArgument, "no role 'cook'", lambda: generate([("cook", "b")]).read())
        self.refused(clvet.InvalidArgument, "max_tokens", generate, "b", 0)
        self.refused(clvet.InvalidArgument, "top_p", generate, "b", top_p=0)
        self.refused(clvet.InvalidArgument, "seed", generate, "b", seed=-1)
        self.refused(clvet.InvalidArgument, "temperature", lambda: generate("b", temperature=-1).read())
        self.refused(clvet.NotFound, "nowhere", clvet.LanguageModel, "/nowhere.gguf", device="host")

    def test_the_short_way_opens_the_model(self):
        want = self.model.generate("bcd", 8).read()
        self.assertEqual("".join(clvet.generate(self.file, "bcd", 8, device="host")), want)


class RealLanguage(Folder):
    def test_a_chat_is_answered(self):
        file = pathlib.Path(os.environ["CLVET_MODELS"]) / "SmolLM2-135M-Instruct.Q4_1.gguf"
        if not file.exists():
            self.skipTest("run 'bash ci/setup.sh --test' first")
        with clvet.LanguageModel(file, device="host") as model:
            chat = [{"role": "user", "content": "What is the capital of France?"}]
            answer = model.generate(chat, max_tokens=8)
            self.assertIn("Paris", answer.read())
            self.assertGreater(len(answer.prompt_tokens), 8)


class Machine(Folder):
    def test_there_is_no_report_before_the_first_probe(self):
        self.refused(clvet.Unavailable, "probe", clvet.read_report, state_dir=self.folder.name)
        self.refused(clvet.NotFound, "none.json", clvet.read_report, "/none.json")

    def test_probe_gives_the_report_and_its_lines(self):
        # A machine whose only library is none: quick, and the same everywhere.
        state = pathlib.Path(self.folder.name) / "state"
        library = pathlib.Path(self.folder.name) / "libnone.so"
        library.write_text("no library")
        lines = []
        report = clvet.probe([library], state_dir=state, progress=lines.append)
        self.assertEqual(report["schema"], "clvet.report/1")
        self.assertEqual((report.devices, report.best), ([], {}))
        self.assertEqual(clvet.read_report(state_dir=state), report)

    def test_what_progress_raises_ends_the_probe(self):
        program = pathlib.Path(self.folder.name) / "clvet"
        program.write_text("#!/bin/sh\ntrap 'exit 130' INT; echo one; while :; do sleep 0.05; done\n")
        program.chmod(0o700)

        def full(_):
            raise OSError("the log is full")

        self.refused(OSError, "the log is full", clvet.probe, program=program, state_dir=self.folder.name, progress=full)
        self.refused(clvet.Cancelled, "", clvet.probe, program=program, state_dir=self.folder.name, progress=lambda line: False)
        self.refused(clvet.InvalidArgument, "tier", clvet.probe, tier="deep", program=program, state_dir=self.folder.name)

    def test_plan_says_how_a_model_runs(self):
        model = write_doubling(self.folder.name)
        self.assertEqual(clvet.plan(model, device="host", shapes={"x": (2, 2)})["schema"], "clvet.plan/1")
        self.refused(clvet.InvalidArgument, "x", clvet.plan, model, device="host", shapes={"x": (2, 3)})


if __name__ == "__main__":
    unittest.main()
