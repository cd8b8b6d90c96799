"""A session as a Python program uses it: right use, and what each misuse is told."""

import gc
import os
import tempfile
import threading
import time
import unittest

import numpy as np
import onnxruntime
from onnx import TensorProto

import clvet
from small_models import CLS, write_doubling, write_long, write_passing

N = np.array([5, 6])


def address(array):
    return array.__array_interface__["data"][0]


class Folder(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.doubling = write_doubling(cls.folder.name)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def session(self, path=None, **options):
        session = clvet.Session(path or self.doubling, **{"device": "host", **options})
        self.addCleanup(session.close)
        return session


class Runs(Folder):
    def test_a_real_network_gives_what_onnxruntime_gives(self):
        x = np.random.default_rng(1).random((2, 3, 48, 192), np.float32)
        want = onnxruntime.InferenceSession(CLS, providers=["CPUExecutionProvider"]).run(None, {"x": x})
        with clvet.Session(CLS, device="host") as session:
            got = session.run(None, {"x": x})
        self.assertEqual(len(got), len(want))
        for one, other in zip(got, want):
            np.testing.assert_allclose(one, other, atol=1e-4)

    def test_shapes_follow_the_arrays(self):
        session = self.session()
        for rows in (2, 3, 1):
            x = np.arange(2 * rows, dtype=np.float32).reshape(rows, 2)
            np.testing.assert_array_equal(session.run(["y"], {"x": x, "n": N})[0], 2 * x)

    def test_what_is_not_given_stays(self):
        session = self.session()
        x = np.ones((1, 2), np.float32)
        session.run(None, {"x": x, "n": N})
        y, m = session.run(None, {"x": 3 * x})
        np.testing.assert_array_equal(y, 6 * x)
        np.testing.assert_array_equal(m, N)

    def test_outputs_stay_through_later_runs_and_the_sessions_end(self):
        session = self.session()
        x = np.ones((1, 2), np.float32)
        first = session.run(["y"], {"x": x, "n": N})[0]
        x[:] = 7
        second = session.run(["y"], {"x": x})[0]
        session.close()
        del session
        gc.collect()
        np.testing.assert_array_equal(first, [[2, 2]])
        np.testing.assert_array_equal(second, [[14, 14]])
        self.assertFalse(first.flags.writeable)

    def test_an_output_that_is_an_input_does_not_change_with_the_callers_array(self):
        session = self.session()
        n = N.copy()
        m = session.run(["m"], {"x": np.ones((1, 2), np.float32), "n": n})[0]
        n[:] = 0
        np.testing.assert_array_equal(m, N)

    def test_arrays_are_read_and_given_without_a_copy(self):
        session = self.session()
        x = np.ones((1, 2), np.float32)
        y = session.run(["y"], {"x": x, "n": N})[0]
        with session.map("x") as held:
            self.assertEqual(address(held), address(x))
        with session.map("y") as held:
            self.assertEqual(address(held), address(y))

    def test_arrays_live_as_long_as_they_are_needed(self):
        session = self.session()
        session.run(None, {"x": np.full((100, 2), 3, np.float32), "n": N})
        gc.collect()
        other = np.zeros((100, 2), np.float32)
        np.testing.assert_array_equal(session.run(["y"], {})[0], np.full((100, 2), 6))
        del other

    def test_arrays_of_a_run_that_failed_live_as_long_as_they_are_needed(self):
        session = self.session()
        for _ in range(3):  # later runs are asked for in another way than the first
            session.run(None, {"x": np.ones((100, 2), np.float32), "n": N})
        with self.assertRaises(clvet.InvalidArgument):
            session.run(["z"], {"x": np.full((100, 2), 3, np.float32)})
        with self.assertRaises(clvet.InvalidArgument):
            session.run(None, {"x": np.ones((100, 3), np.float32)})
        gc.collect()
        other = np.zeros((100, 2), np.float32)
        np.testing.assert_array_equal(session.run(("y",), {})[0], np.full((100, 2), 6))
        del other

    def test_other_layouts_are_copied(self):
        session = self.session()
        wide = np.arange(8, dtype=np.float32).reshape(2, 4)
        for x in (wide[:, ::2], wide[:, :2].T.copy().T, np.asfortranarray(wide[:, :2])):
            np.testing.assert_array_equal(session.run(["y"], {"x": x, "n": N})[0], 2 * x)

    def test_each_type_passes(self):
        types = [TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16, TensorProto.INT8, TensorProto.INT16, TensorProto.INT32,
                 TensorProto.INT64, TensorProto.UINT8, TensorProto.UINT16, TensorProto.UINT32, TensorProto.UINT64, TensorProto.BOOL]
        dtypes = "f4 f8 f2 i1 i2 i4 i8 u1 u2 u4 u8 ?".split()
        for onnx_type, dtype in zip(types, dtypes):
            with self.subTest(dtype):
                session = self.session(write_passing(self.folder.name, onnx_type, f"pass_{onnx_type}"))
                for x in (np.array([0, 1, 1], dtype), np.empty(0, dtype)):
                    y = session.run(None, {"x": x})[0]
                    self.assertEqual(y.dtype, x.dtype)
                    np.testing.assert_array_equal(y, x)
                self.assertEqual(session.get_inputs()[0].dtype, np.dtype(dtype))

    def test_bfloat16_is_given_and_taken_as_float32(self):
        session = self.session(write_passing(self.folder.name, TensorProto.BFLOAT16, "pass_bfloat16"))
        self.assertEqual((session.inputs[0].type, session.inputs[0].dtype), ("tensor(bfloat16)", np.float32))
        # Ties go to the even one; a NaN stays one, also where its bits would round to infinity.
        x = np.array([1, 1 + 2**-8, 1 + 3 * 2**-8, -3.14159, 3.4e38, np.inf, np.nan], np.float32)
        x[6:].view(np.uint32)[0] = 0x7F800001
        y = session.run(None, {"x": x})[0]
        self.assertEqual(y.dtype, np.float32)
        np.testing.assert_array_equal(y, np.array([1, 1, 1 + 2**-6, -3.140625, np.inf, np.inf, np.nan], np.float32))
        with self.assertRaises(ValueError):
            y[0] = 0
        np.testing.assert_array_equal(session.run(None, {"x": x[:0]})[0], x[:0])
        np.testing.assert_array_equal(session.run(None, {"x": x[::2]})[0], y[::2])
        with self.assertRaisesRegex(clvet.InvalidArgument, "wants float32, which is rounded to bfloat16"):
            session.run(None, {"x": np.ones(2, np.float16)})
        with session.map("x", "r") as array:
            np.testing.assert_array_equal(array, y[::2])
        session.resize({"x": (2,)})
        with session.map("x", "w") as array:
            array[:] = [1 + 2**-8, -2]
        np.testing.assert_array_equal(session.run(None, {})[0], np.array([1, -2], np.float32))

    def test_inputs_and_outputs_are_described(self):
        session = self.session()
        x, n = session.get_inputs()
        self.assertEqual((x.name, x.shape, x.type), ("x", [None, 2], "tensor(float)"))
        self.assertEqual((n.name, n.shape, n.type), ("n", [2], "tensor(int64)"))
        self.assertEqual([one.name for one in session.get_outputs()], ["y", "m"])
        session.run(None, {"x": np.ones((4, 2), np.float32), "n": N})
        self.assertEqual(session.outputs[0].shape, [4, 2])
        self.assertEqual(session.placement.device, "host")
        self.assertEqual(session.placement.precision, "high")

    def test_mappings_are_written_and_read(self):
        session = self.session()
        session.resize({"x": (1, 2)})
        with session.map("x", "w") as x:
            x[:] = 4
        with session.map("n", "w") as n:
            n[:] = N
        session.warm_up()
        np.testing.assert_array_equal(session.run(["y"], {})[0], [[8, 8]])
        self.assertFalse(x.flags.writeable)
        with session.map("y") as y, self.assertRaises(ValueError):
            y[0] = 1

    def test_other_threads_go_on_during_a_run(self):
        session = self.session(write_long(self.folder.name))
        x = np.ones((2048, 64), np.float32)
        run = session.run_async(None, {"x": x})
        steps = 0
        while not run.done():
            time.sleep(0.001)
            steps += 1
        np.testing.assert_array_equal(run.result()[0], x)
        self.assertGreater(steps, 20)


class AsyncRuns(Folder):
    def test_each_has_its_own_values(self):
        session = self.session()
        runs = [session.run_async(["y"], {"x": np.full((1, 2), i, np.float32), "n": N}) for i in range(20)]
        for i, run in enumerate(runs):
            np.testing.assert_array_equal(run.result(60)[0], [[2 * i, 2 * i]])

    def test_one_that_is_cancelled_says_so_and_the_session_goes_on(self):
        session = self.session(write_long(self.folder.name))
        x = np.ones((4096, 64), np.float32)
        first, second = session.run_async(None, {"x": x}), session.run_async(None, {"x": x})
        while not first.running():
            time.sleep(0.001)
        self.assertTrue(second.cancel())
        self.assertTrue(second.cancelled())
        self.assertTrue(first.cancel())
        with self.assertRaises(clvet.Cancelled):
            first.result(60)
        np.testing.assert_array_equal(session.run(None, {"x": x[:1]})[0], x[:1])

    def test_close_ends_what_runs(self):
        session = self.session(write_long(self.folder.name))
        runs = [session.run_async(None, {"x": np.ones((4096, 64), np.float32)}) for _ in range(3)]
        while not runs[0].running():
            time.sleep(0.001)
        session.close()
        for run in runs:
            with self.assertRaises((clvet.Cancelled, clvet.Stale)):
                run.result(60)

    def test_many_threads_share_a_session(self):
        session = self.session()
        faults = []

        def work(i):
            try:
                for _ in range(50):
                    np.testing.assert_array_equal(session.run(["y"], {"x": np.full((1, 2), i, np.float32), "n": N})[0], [[2 * i, 2 * i]])
            except BaseException as fault:
                faults.append(fault)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(faults, [])


class Misuse(Folder):
    def refused(self, kind, says, call, *arguments, **options):
        with self.assertRaises(kind) as caught:
            call(*arguments, **options)
        self.assertIn(says, str(caught.exception))
        self.assertIsInstance(caught.exception, clvet.Error)

    def test_wrong_arrays_are_told_what_is_wrong(self):
        session = self.session()
        x = np.ones((1, 2), np.float32)
        for says, feeds in (
            ("'x' wants float32, and this array holds float64", {"x": x.astype(np.float64)}),
            ("'x' wants float32", {"x": [[1.0, 2.0]]}),
            ("'x' wants float32", {"x": x.astype(">f4")}),
            ("'x' wants float32, and this array holds object", {"x": np.array([None, x], dtype=object)}),
            ("'x' wants float32", {"x": "text"}),
            ("2 axes", {"x": x[0]}),
            ("the model wants", {"x": np.ones((1, 3), np.float32)}),
            ("no input 'z'", {"z": x}),
            ("no input 'z'", {"z": N}),
            ("'z' cannot be of", {"z": np.array(["a"])}),
            ("shape [?,2] of 'x' is open", {}),
            ("NUL", {"a\0b": x}),
        ):
            with self.subTest(says):
                self.refused(clvet.InvalidArgument, says, session.run, None, feeds)
        self.refused(clvet.InvalidArgument, "'z'", session.run, ["z"], {"x": x, "n": N})
        self.refused(clvet.InvalidArgument, "a list of names", session.run, "y", {"x": x})
        np.testing.assert_array_equal(session.run(["y"], {"x": x})[0], 2 * x)

    def test_wrong_shapes_are_told_what_is_wrong(self):
        session = self.session()
        self.refused(clvet.InvalidArgument, "no input 'z'", session.resize, {"z": (1,)})
        self.refused(clvet.InvalidArgument, "2 axes", session.resize, {"x": (1,)})
        self.refused(clvet.InvalidArgument, "0 or more", session.resize, {"x": (-1, 2)})

    def test_mappings_are_told_what_is_wrong(self):
        session = self.session()
        session.resize({"x": (1, 2)})
        self.refused(clvet.InvalidArgument, "'r' or 'w'", session.map, "x", "rw")
        self.refused(clvet.InvalidArgument, "outputs are for reading", session.map, "y", "w")
        self.refused(clvet.Unavailable, "before the first run", session.map, "y")
        with session.map("x", "w"):
            self.refused(clvet.Busy, "mapped for writing", session.map, "x", "w")
            self.refused(clvet.Busy, "mapped for writing", session.run, None, {"n": N})
        with self.assertRaises(clvet.Stale), session.map("x", "w"):
            session.resize({"x": (2, 2)})

    def test_open_tells_what_is_wrong(self):
        self.refused(clvet.NotFound, "nowhere", clvet.Session, "/nowhere/m.onnx", device="host")
        self.refused(FileNotFoundError, "nowhere", clvet.Session, "/nowhere/m.onnx", device="host")
        self.refused(clvet.InvalidArgument, "auto, low, normal or high", clvet.Session, self.doubling, device="host", precision="fp16")
        self.refused(clvet.InvalidArgument, "device or cpu-first", clvet.Session, self.doubling, device="host", start="gpu-first")
        self.refused(ValueError, "path", clvet.Session, 7)
        self.refused(clvet.InvalidArgument, "NUL", clvet.Session, "a\0b")

    def test_a_closed_session_says_so(self):
        session = self.session()
        session.close()
        session.close()
        for call in (lambda: session.run(None, {}), session.cancel, session.warm_up, lambda: session.inputs, lambda: session.placement,
                     lambda: session.map("x"), lambda: session.resize({}), lambda: session.run_async(None, {})):
            self.refused(clvet.Stale, "was closed", call)

    def test_warnings_reach_the_callers_function_and_what_it_raises_the_caller(self):
        said = []
        with tempfile.TemporaryDirectory() as state:
            os.chmod(state, 0o700)
            self.session(device="auto", state_dir=state, warning=said.append)
            self.assertIn("clvet probe", said[0])
            with self.assertLogs("clvet", "WARNING"):
                self.session(device="auto", state_dir=state)

            def full(_):
                raise OSError("the log is full")

            with self.assertRaisesRegex(OSError, "the log is full"):
                self.session(device="auto", state_dir=state, warning=full)

    def test_a_context_serves_several_sessions_and_may_go(self):
        with tempfile.TemporaryDirectory() as state, clvet.Context(state_dir=state) as context:
            os.chmod(state, 0o700)
            sessions = [self.session(device="host", context=context) for _ in range(2)]
            context.close()
            for session in sessions:
                session.run(None, {"x": np.ones((1, 2), np.float32), "n": N})
            self.refused(clvet.Stale, "context was closed", clvet.Session, self.doubling, context=context)


if __name__ == "__main__":
    unittest.main()
