"""clvet: neural networks and language models on OpenCL drivers that were tested first.

    session = clvet.Session("model.onnx")
    outputs = session.run(None, {"x": array})

    for piece in clvet.generate("model.gguf", "Once upon a time"):
        print(piece, end="", flush=True)
"""

from ._native import version as __version__
from .errors import (
    Busy,
    Cancelled,
    DeviceError,
    Error,
    InternalError,
    InvalidArgument,
    NotFound,
    ResourceExhausted,
    Stale,
    Unavailable,
    Unsupported,
)
from .language import Generation, LanguageModel, generate
from .machine import Report, plan, probe, read_report
from .session import Context, Mapped, Placement, Run, Session, Tensor

__all__ = [
    "Busy",
    "Cancelled",
    "Context",
    "DeviceError",
    "Error",
    "Generation",
    "InternalError",
    "InvalidArgument",
    "LanguageModel",
    "Mapped",
    "NotFound",
    "Placement",
    "Report",
    "ResourceExhausted",
    "Run",
    "Session",
    "Stale",
    "Tensor",
    "Unavailable",
    "Unsupported",
    "__version__",
    "generate",
    "plan",
    "probe",
    "read_report",
]
