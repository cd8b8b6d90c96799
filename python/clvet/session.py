"""Networks: ONNX files, run where it is right and fastest."""

from __future__ import annotations

import concurrent.futures
import ctypes
import os
import queue
import threading
import time
import weakref
from ctypes import c_int32, c_void_p
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from . import _native
from ._arrays import BITS, BFLOAT16, DTYPES, ONNX_TYPES, Array, Given, Wanted, given_arrays, mapped, narrowed
from ._handle import Handle, Warnings, interruptible, on_main_thread
from ._native import READ, WRITE, check, encoded, encoded_words, lib, opened
from .errors import Cancelled, Error, InvalidArgument

Path = Union[str, "os.PathLike[str]"]
Feeds = Mapping[str, Any]

SLICE = 0.05  # seconds after which Ctrl-C is noticed at the latest


class Tensor(NamedTuple):
    """An input or an output. None in a shape: left open by the model."""

    name: str
    shape: List[Optional[int]]
    type: str  # as onnxruntime says it: "tensor(float)"
    dtype: "np.dtype[Any]"  # float32 for bfloat16, which numpy does not have


class Placement(NamedTuple):
    """What runs where, at the moment."""

    device: str  # its name, or "host"
    precision: str  # "low", "normal" or "high"
    warnings: List[str]
    generation: int  # one more after each change of a shape


def placement_from(pointer: int) -> Placement:
    try:
        count = lib.clvet_placement_warning_count(pointer)
        return Placement(
            lib.clvet_placement_device(pointer).decode(),
            lib.clvet_placement_precision(pointer).decode(),
            [lib.clvet_placement_warning(pointer, i).decode() for i in range(count)],
            lib.clvet_placement_generation(pointer),
        )
    finally:
        lib.clvet_placement_free(pointer)


class Context:
    """What several sessions share: a report, and each of its devices opened once."""

    def __init__(self, report: Optional[Path] = None, state_dir: Optional[Path] = None) -> None:
        pointer = opened(lib.clvet_context_open, encoded(report, "report"), encoded(state_dir, "state_dir"))
        self._handle = Handle("context", pointer, lib.clvet_context_free)
        self._finalizer = weakref.finalize(self, self._handle.close)

    def close(self) -> None:
        """Sessions that were opened with it keep what they need."""
        self._handle.close()

    def __enter__(self) -> "Context":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Session:
    """A network, ready to run. All calls may come from any thread; those that compute wait for each other."""

    def __init__(
        self,
        path: Path,
        device: str = "auto",
        precision: str = "auto",
        report: Optional[Path] = None,
        state_dir: Optional[Path] = None,
        context: Optional[Context] = None,
        strict: bool = False,
        warning: Optional[Callable[[str], object]] = None,
        start: str = "device",
    ) -> None:
        """`path`: an ONNX file. `warning` gets each warning as it comes; by default the logger "clvet" does. `start`: with
        "cpu-first" the host answers until the device is ready; with "device" answers wait for it."""
        self._warnings = Warnings(warning)
        self._handle = _open_session(path, device, precision, report, state_dir, context, strict, self._warnings, start)
        self._finalizer = weakref.finalize(self, self._handle.close)
        self._computing = threading.Lock()
        self._lent: Dict[str, Array] = {}  # what the inputs hold
        self._coming: List[Dict[str, Array]] = []  # what they may hold after an interrupted call
        self._worker: Optional["queue.SimpleQueue[Optional[Run]]"] = None
        self._given: Optional[Given] = None  # the last arrays, as the library sees them
        self._quick = False  # a run with arrays of these shapes takes less than a slice
        self._has_set = c_int32()
        self._to_has_set = ctypes.byref(self._has_set)
        self._dtypes = {one.name: BITS if one.type == ONNX_TYPES[BFLOAT16] else one.dtype for one in self.inputs}
        self._all = self._wanted = Wanted([one.name for one in self.outputs])  # all outputs, and those of the last call
        self._warnings.raise_faults()

    @property
    def inputs(self) -> List[Tensor]:
        """Shapes as set, or as the model leaves them."""
        return self._tensors(lib.clvet_session_inputs)

    @property
    def outputs(self) -> List[Tensor]:
        """Shapes are known after warm_up() or run()."""
        return self._tensors(lib.clvet_session_outputs)

    def get_inputs(self) -> List[Tensor]:
        return self.inputs

    def get_outputs(self) -> List[Tensor]:
        return self.outputs

    @property
    def placement(self) -> Placement:
        with self._handle as session:
            return placement_from(opened(lib.clvet_session_placement, session))

    def run(self, output_names: Optional[Sequence[str]], feeds: Feeds) -> List[Array]:
        """The outputs of those names (None: all), computed of `feeds` (arrays by input; others keep what they hold).

        Arrays are read where they lie, without a copy, if they are contiguous: they must not change during the run. A dtype
        that is not the input's is an error. The results are read-only and lie in the library's memory.
        """
        return self._answer(output_names, feeds)

    def run_async(self, output_names: Optional[Sequence[str]], feeds: Feeds) -> "Run":
        """The same on a thread of the session's own, after the runs that were asked for before."""
        job = Run(self, output_names, feeds)
        with self._handle:
            if self._worker is None:
                jobs: "queue.SimpleQueue[Optional[Run]]" = queue.SimpleQueue()
                threading.Thread(target=_serve, args=(jobs,), name="clvet runs", daemon=True).start()
                weakref.finalize(self, jobs.put, None)
                self._worker = jobs
            self._worker.put(job)
        return job

    def cancel(self) -> None:
        """Ends the run in flight at its next step: it raises Cancelled."""
        self._handle.cancel()

    def warm_up(self) -> None:
        """Plans, builds, and checks an answer, so that the next run takes what runs take."""
        with self._computing:
            self._compute(lib.clvet_session_warm_up)

    def resize(self, shapes: Mapping[str, Sequence[int]]) -> None:
        """Sets shapes of inputs by name. All values are gone, and mappings end."""
        infos, kept = _native.tensor_infos({name: tuple(shape) for name, shape in shapes.items()})
        with self._computing, self._handle as session:
            check(lib.clvet_session_resize(session, infos, len(infos)))
            del kept
            self._lent, self._coming, self._quick = {}, [], False

    def map(self, name: str, mode: str = "r") -> "Mapped":
        """`with session.map(name, "w") as array:` is the memory of an input to write; "r" is that of any tensor to read."""
        if mode not in ("r", "w"):
            raise InvalidArgument(f"the mode is '{mode}': it is 'r' or 'w'")
        return Mapped(self, name, mode == "w")

    def close(self) -> None:
        """Cancels what still runs, and waits for its end. Arrays that run() gave stay as they are."""
        self._handle.close()
        if self._worker is not None:
            self._worker.put(None)

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _tensors(self, function: Callable[..., int]) -> List[Tensor]:
        with self._handle as session:
            tensors = opened(function, session)
        try:
            found, info = [], _native.TensorInfo()
            for i in range(lib.clvet_tensor_list_size(tensors)):
                check(lib.clvet_tensor_list_get(tensors, i, ctypes.byref(info)))
                shape = [None if size < 0 else size for size in info.shape[: info.rank]]
                found.append(Tensor(info.name.decode("utf-8", "replace"), shape, ONNX_TYPES[info.type], DTYPES[info.type]))
            return found
        finally:
            lib.clvet_tensor_list_free(tensors)

    def _answer(self, names: Optional[Sequence[str]], feeds: Feeds, run: Optional[Callable[[int], None]] = None) -> List[Array]:
        """What `run` computes of `feeds`. By default this thread does: one that Ctrl-C comes to in slices, if runs took long so far."""
        if isinstance(names, str):
            raise InvalidArgument("output_names is one text: give a list of names, or None")
        arrays = given_arrays(feeds, self._dtypes)
        with self._computing, self._handle as session:
            wanted = self._all if names is None else self._wanted
            if names is not None and wanted.names != list(names):
                wanted = self._wanted = Wanted(names)
            given = self._given_of(arrays)
            start, quick = time.perf_counter(), False
            try:
                if run is None and (self._quick or not on_main_thread()):
                    self._answer_at_once(session, given, arrays, wanted)
                else:
                    self._set(session, given, arrays)
                    (run or run_in_slices)(session)
                    check(lib.clvet_session_read(session, wanted.outputs, len(wanted.outputs)))
                outputs = wanted.take()
                quick = time.perf_counter() - start < SLICE
                return outputs
            finally:
                self._quick = quick
                self._warnings.raise_faults()

    def _given_of(self, arrays: Dict[str, Array]) -> Given:
        given = self._given
        if given is not None and given.shapes == [(name, array.shape) for name, array in arrays.items()]:
            given.point_to(arrays)
        else:
            given = self._given = Given(arrays)
            self._quick = False
        return given

    def _set(self, session: int, given: Given, arrays: Dict[str, Array]) -> None:
        """The library reads arrays where they lie: they are kept for as long as it may."""
        self._coming.append(arrays)
        code = lib.clvet_session_set(session, given.values, len(arrays))
        if not code:
            self._lent = {**self._lent, **arrays}
        self._coming.pop()
        check(code)

    def _answer_at_once(self, session: int, given: Given, arrays: Dict[str, Array], wanted: Wanted) -> None:
        """All in one call: what a run from cold caches pays for in Python is each step."""
        self._coming.append(arrays)
        code = lib.clvet_session_answer(session, given.values, len(arrays), wanted.outputs, len(wanted.outputs), self._to_has_set)
        if self._has_set.value:
            self._lent = {**self._lent, **arrays}
        self._coming.pop()
        check(code)

    def _compute(self, function: Callable[[int], int]) -> None:
        def work() -> None:
            with self._handle as session:
                check(function(session))

        interruptible(work, self._handle.cancel)
        self._warnings.raise_faults()


class Mapped:
    """The memory of one tensor. After the block (or unmap()) its arrays must not be used: they are not the tensor's any more."""

    def __init__(self, session: Session, name: str, writes: bool) -> None:
        with session._handle as pointer:
            self._memory = mapped(pointer, encoded(name, "the name of a tensor"), WRITE if writes else READ, keeps=session._lent)
        self._ended = False
        self._writes = writes
        self.array: Array = self._memory.array()

    def unmap(self) -> None:
        """Ends the mapping. Stale: its session was resized or closed meanwhile; what was written is lost."""
        self.array.flags.writeable = False
        if self._writes and self._memory.is_bfloat16:
            np.asarray(self._memory)[...] = narrowed(self.array)
        self._ended = True
        self._memory.unmap()

    def __enter__(self) -> Array:
        return self.array

    def __exit__(self, fault: object, *_: object) -> None:
        try:
            if not self._ended:
                self.unmap()
        except Error:
            if fault is None:
                raise


class Run(concurrent.futures.Future):  # type: ignore[type-arg]
    """A run that goes on by itself: a concurrent.futures.Future of the outputs. asyncio.wrap_future() makes it awaitable."""

    def __init__(self, session: Session, names: Optional[Sequence[str]], feeds: Feeds) -> None:
        super().__init__()
        self._session: Optional[Session] = session
        self._asked: Tuple[Optional[Sequence[str]], Feeds] = (names, feeds)
        self._beginning = threading.Lock()
        self._pointer = 0
        self._unwanted = False

    def cancel(self) -> bool:
        """Ends it, also where it runs already: its result() then raises Cancelled."""
        if super().cancel():
            return True
        with self._beginning:
            session = self._session
            self._unwanted = True
            if self._pointer and session is not None:
                session.cancel()
        return not self.done()

    def _work(self) -> None:
        session = self._session
        if session is None or not self.set_running_or_notify_cancel():
            return
        try:
            outputs = session._answer(*self._asked, self._run)
        except BaseException as fault:
            self.set_exception(fault)
        else:
            self.set_result(outputs)
        self._session, self._asked = None, (None, {})

    def _run(self, session: int) -> None:
        with self._beginning:
            if self._unwanted:
                raise Cancelled("the run was cancelled")
            self._pointer = opened(lib.clvet_session_run_async, session)
        try:
            check(lib.clvet_pending_wait(self._pointer, -1.0, ctypes.byref(c_int32())))
        finally:
            with self._beginning:
                lib.clvet_pending_free(self._pointer)
                self._pointer = 0


def run_in_slices(session: int) -> None:
    """On the main thread: Ctrl-C cancels it."""
    wait_for(opened(lib.clvet_session_run_async, session), lambda: lib.clvet_session_cancel(session))


def wait_for(pending: int, cancel: Callable[[], object]) -> None:
    """Waits for a run, and frees it. What a signal raises cancels the run first."""
    done = c_int32()
    try:
        while True:
            code = lib.clvet_pending_wait(pending, SLICE, ctypes.byref(done))
            if code or done.value:
                break
    except BaseException:
        cancel()
        lib.clvet_pending_wait(pending, -1.0, ctypes.byref(done))
        raise
    finally:
        lib.clvet_pending_free(pending)
    check(code)


def _serve(jobs: "queue.SimpleQueue[Optional[Run]]") -> None:
    while True:
        job = jobs.get()
        if job is None:
            return
        job._work()
        del job  # it holds its session


def _open_session(
    path: Path,
    device: str,
    precision: str,
    report: Optional[Path],
    state_dir: Optional[Path],
    context: Optional[Context],
    strict: bool,
    warnings: Warnings,
    start: str,
) -> Handle:
    words = encoded_words(device=device, precision=precision, report=report, state_dir=state_dir, start=start)
    options = _native.SessionOptions(**words, warning=warnings.function, strict=int(strict))
    pointer = open_with(context, lib.clvet_session_open, encoded(path, "path"), options, lib.clvet_session_free)
    return Handle("session", pointer, lib.clvet_session_free, lib.clvet_session_cancel, keeps=warnings)


def open_with(context: Optional[Context], function: Callable[..., int], path: Optional[bytes], options: Any, free: Callable[[int], object]) -> int:
    """What `function` opens, by `context` where there is one."""

    def work() -> int:
        if context is None:
            return opened(function, path, ctypes.byref(options))
        with context._handle as shared:
            options.context = shared
            return opened(function, path, ctypes.byref(options))

    return interruptible(work, undo=free)
