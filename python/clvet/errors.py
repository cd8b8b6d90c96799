"""What goes wrong, by kind. Each message is one line: what is wrong, why, and what to do next."""

from __future__ import annotations

from typing import Dict, Type


class Error(Exception):
    """Any error of clvet."""


class InvalidArgument(Error, ValueError):
    """A value, a file or a model is wrong: give another."""


class NotFound(Error, FileNotFoundError):
    """A named thing (a file, a device) does not exist: name another."""


class Unsupported(Error):
    """Known, and never possible here: choose another way."""


class Unavailable(Error):
    """Not possible now (no device, no report, another process after fork): skip it or try later."""


class Busy(Error):
    """Somebody else holds it (a mapping, a run, another process): wait."""


class Stale(Error):
    """It was made before a resize, or what it belongs to was closed: ask for a new one."""


class Cancelled(Error):
    """It was cancelled, or its session was closed."""


class DeviceError(Error):
    """The driver failed, and nothing was left to fall back to."""


class ResourceExhausted(Error, MemoryError):
    """Too large: try a smaller one."""


class InternalError(Error):
    """A fault of clvet's own: report it."""


BY_CODE: Dict[int, Type[Error]] = {
    1: InvalidArgument,
    2: NotFound,
    3: Unsupported,
    4: Unavailable,
    5: Busy,
    6: Stale,
    7: Cancelled,
    8: DeviceError,
    9: ResourceExhausted,
    10: InternalError,
}
