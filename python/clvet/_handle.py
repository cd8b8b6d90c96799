"""Handles of the library, and calls that a signal may end."""

from __future__ import annotations

import logging
import os
import threading
from threading import get_ident
from typing import Any, Callable, List, Optional, TypeVar

from ._native import WarningFunction
from .errors import Busy, Stale

T = TypeVar("T")


class Handle:
    """A clvet_... of C. `with handle as pointer:` keeps it there until the call is over; close() cancels and waits for that."""

    def __init__(
        self, what: str, pointer: int, free: Callable[[int], object], cancel: Optional[Callable[[int], object]] = None, keeps: Any = None
    ) -> None:
        self._what, self._pointer, self._free, self._cancel = what, pointer, free, cancel
        self._keeps = keeps  # callbacks: as long as the handle
        self._users: List[int] = []
        self._closing = False
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._left = threading.Condition(self._lock)

    def __enter__(self) -> int:
        self._users.append(get_ident())  # before the look at _closing, which close() sets before it looks at _users
        if self._closing:
            self.__exit__()
            raise Stale(f"the {self._what} was closed: open another one")
        return self._pointer

    def __exit__(self, *_: object) -> None:
        self._users.remove(get_ident())
        if self._closing:
            with self._lock:
                self._left.notify_all()

    @property
    def closed(self) -> bool:
        return self._closing

    def cancel(self) -> None:
        with self as pointer:
            if self._cancel:
                self._cancel(pointer)

    def close(self) -> None:
        if os.getpid() != self._process:
            return  # after fork: all of it is the parent's
        with self._lock:
            if self._closing:
                return
            if get_ident() in self._users:
                raise Busy(f"the {self._what} cannot be closed from within a call of it")
            self._closing = True
            while self._users:
                if self._cancel:
                    self._cancel(self._pointer)  # again: who came in before may not have begun yet
                self._left.wait(0.05)
        self._free(self._pointer)


class Warnings:
    """The user's function for warnings. What it raises is raised by the call that warned."""

    def __init__(self, say: Optional[Callable[[str], object]]) -> None:
        self._say: Callable[[str], object] = say or logging.getLogger("clvet").warning
        self._faults: List[BaseException] = []
        self.function = WarningFunction(self._told)

    def _told(self, text: bytes, _: Any) -> None:
        try:
            self._say(text.decode("utf-8", "replace"))
        except BaseException as fault:  # it may not pass through C
            self._faults.append(fault)

    def raise_faults(self) -> None:
        if self._faults:
            raise self._faults.pop(0)


def on_main_thread() -> bool:
    return get_ident() == threading.main_thread().ident


def interruptible(work: Callable[[], T], cancel: Callable[[], object] = lambda: None, undo: Callable[[T], object] = lambda _: None) -> T:
    """What `work` gives. On the main thread another one does it meanwhile: Ctrl-C cancels it, and undoes what it still gave.

    Signals come to the main thread alone. One that came in a callback from C would be lost.
    """
    if not on_main_thread():
        return work()
    done: List[Any] = []
    faults: List[BaseException] = []
    over = threading.Event()

    def body() -> None:
        try:
            done.append(work())
        except BaseException as fault:
            faults.append(fault)
        over.set()

    threading.Thread(target=body, name="clvet", daemon=True).start()
    try:
        over.wait()
    except BaseException:
        cancel()
        over.wait()
        if done:
            undo(done[0])
        raise
    if faults:
        raise faults[0]
    result: T = done[0]
    return result
