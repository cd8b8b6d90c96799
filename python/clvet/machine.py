"""What is known of this machine: reports, how they are made, and the plans that follow from them."""

from __future__ import annotations

import ctypes
import json
import threading
from ctypes import c_char_p
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence

from . import _native
from ._handle import interruptible
from ._native import encoded, encoded_words, lib, text_from
from .errors import Error
from .session import Path


class Report(Dict[str, Any]):
    """All of a report (clvet.report/1), as a dict."""

    @property
    def devices(self) -> List[Dict[str, Any]]:
        found: List[Dict[str, Any]] = self["devices"]
        return found

    @property
    def best(self) -> Dict[str, Optional[Dict[str, Any]]]:
        """Each device's best combination that was found right, by the device's id; None where there is none."""
        return {device["id"]: device.get("best") for device in self.devices}


def probe(
    libraries: Sequence[Path] = (),
    device: Optional[str] = None,
    tier: str = "core",
    report: Optional[Path] = None,
    state_dir: Optional[Path] = None,
    program: Optional[Path] = None,
    budget_seconds: float = 0.0,
    fresh: bool = False,
    if_changed: bool = False,
    progress: Optional[Callable[[str], object]] = None,
) -> Report:
    """Tries this machine's OpenCL drivers, in another process, and keeps the report, which sessions then go by.

    `libraries`: these alone; none: all that are found. `budget_seconds`: ends then, with what is known; 0: no limit.
    `progress` gets a line at a time; where it gives False, the probe ends with Cancelled.
    """
    faults: List[BaseException] = []
    unwanted = threading.Event()

    def told(line: bytes, _: Any) -> int:
        try:
            goes_on = progress is None or not line or progress(line.decode("utf-8", "replace")) is not False
        except BaseException as fault:  # it may not pass through C
            faults.append(fault)
            goes_on = False
        return int(goes_on and not unwanted.is_set())

    names = (c_char_p * len(libraries))(*(encoded(one, "a library") for one in libraries))
    options = _native.ProbeOptions(
        libraries=names if len(libraries) else None,
        library_count=len(libraries),
        **encoded_words(
            device=device,
            tier=tier,
            report=report,
            state_dir=state_dir,
            program=program if program is not None else _native.bundled_program(),
        ),
        budget_seconds=budget_seconds,
        progress=_native.LineFunction(told),
        fresh=int(fresh),
        if_changed=int(if_changed),
    )

    def work() -> str:
        try:
            document = text_from(lib.clvet_probe, ctypes.byref(options))
        except Error:
            if not faults:
                raise
        if faults:
            raise faults[0]
        return document

    return Report(json.loads(interruptible(work, unwanted.set)))


def read_report(file: Optional[Path] = None, state_dir: Optional[Path] = None) -> Report:
    """The report in `file`; None: the one that is kept on this machine. Unavailable: there is none yet."""
    return Report(json.loads(text_from(lib.clvet_report_read, encoded(file, "file"), encoded(state_dir, "state_dir"))))


def plan(
    model: Path,
    device: str = "auto",
    precision: str = "auto",
    memory: str = "auto",
    report: Optional[Path] = None,
    state_dir: Optional[Path] = None,
    shapes: Optional[Mapping[str, Sequence[int]]] = None,
) -> Dict[str, Any]:
    """How an ONNX or GGUF model runs on a device of a report, which may be another machine's (clvet.plan/1)."""
    infos, kept = _native.tensor_infos({name: tuple(shape) for name, shape in (shapes or {}).items()})
    options = _native.PlanOptions(
        **encoded_words(device=device, precision=precision, memory=memory, report=report, state_dir=state_dir),
        shapes=infos if len(infos) else None,
        shape_count=len(infos),
    )
    document: Dict[str, Any] = json.loads(text_from(lib.clvet_plan, encoded(model, "model"), ctypes.byref(options)))
    del kept
    return document
