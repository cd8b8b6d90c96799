"""libclvet: found, loaded, and its functions declared (clvet/clvet_c.h)."""

from __future__ import annotations

import ctypes
import os
import pathlib
from ctypes import POINTER, c_char_p, c_double, c_int32, c_int64, c_size_t, c_uint64, c_void_p
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple, Union

from .errors import BY_CODE, Error, InternalError, InvalidArgument

ABI = 1
SYSTEM_NAME = "libclvet.so.0.1"
PACKAGE = pathlib.Path(__file__).resolve().parent

READ, WRITE = 0, 1
ENDINGS = ("end of text", "limit", "stopped")

WarningFunction = ctypes.CFUNCTYPE(None, c_char_p, c_void_p)
LineFunction = ctypes.CFUNCTYPE(c_int32, c_char_p, c_void_p)


class TensorInfo(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("type", c_int32), ("rank", c_size_t), ("shape", POINTER(c_int64))]


class Values(ctypes.Structure):
    _fields_ = [("info", TensorInfo), ("data", c_void_p), ("bytes", c_size_t), ("release", c_void_p), ("user", c_void_p)]


class Output(ctypes.Structure):
    _fields_ = [("asked", c_char_p), ("info", TensorInfo), ("data", c_void_p), ("bytes", c_size_t), ("mapping", c_void_p)]
    _anonymous_ = ("info",)


class Options(ctypes.Structure):
    """Options whose defaults are zeros."""

    def __init__(self, **members: Any) -> None:
        super().__init__(struct_size=ctypes.sizeof(self), **members)


class SessionOptions(Options):
    _fields_ = [
        ("struct_size", c_size_t),
        ("device", c_char_p),
        ("precision", c_char_p),
        ("report", c_char_p),
        ("state_dir", c_char_p),
        ("context", c_void_p),
        ("warning", WarningFunction),
        ("warning_user", c_void_p),
        ("strict", c_int32),
        ("start", c_char_p),
    ]


class LanguageOptions(Options):
    _fields_ = [
        ("struct_size", c_size_t),
        ("device", c_char_p),
        ("precision", c_char_p),
        ("memory", c_char_p),
        ("report", c_char_p),
        ("state_dir", c_char_p),
        ("context", c_void_p),
        ("warning", WarningFunction),
        ("warning_user", c_void_p),
        ("strict", c_int32),
    ]


class ChatTurn(ctypes.Structure):
    _fields_ = [("role", c_char_p), ("text", c_char_p)]


class GenerateOptions(Options):
    _fields_ = [
        ("struct_size", c_size_t),
        ("prompt", c_char_p),
        ("prompt_tokens", POINTER(c_int32)),
        ("turns", POINTER(ChatTurn)),
        ("prompt_token_count", c_size_t),
        ("turn_count", c_size_t),
        ("max_tokens", c_int64),
        ("temperature", c_double),
        ("top_k", c_int64),
        ("top_p", c_double),
        ("seed", c_uint64),
        ("on_text", LineFunction),
        ("on_text_user", c_void_p),
    ]


class ProbeOptions(Options):
    _fields_ = [
        ("struct_size", c_size_t),
        ("libraries", POINTER(c_char_p)),
        ("library_count", c_size_t),
        ("device", c_char_p),
        ("tier", c_char_p),
        ("report", c_char_p),
        ("state_dir", c_char_p),
        ("program", c_char_p),
        ("budget_seconds", c_double),
        ("progress", LineFunction),
        ("progress_user", c_void_p),
        ("fresh", c_int32),
        ("if_changed", c_int32),
    ]


class PlanOptions(Options):
    _fields_ = [
        ("struct_size", c_size_t),
        ("device", c_char_p),
        ("precision", c_char_p),
        ("memory", c_char_p),
        ("report", c_char_p),
        ("state_dir", c_char_p),
        ("shapes", POINTER(TensorInfo)),
        ("shape_count", c_size_t),
    ]


_OUT = POINTER(c_void_p)
_SIZE = POINTER(c_size_t)
_TOKENS = POINTER(c_int32)
_FUNCTIONS: Dict[str, Tuple[Any, ...]] = {  # what it gives, then what it takes
    "clvet_abi": (c_int32,),
    "clvet_version": (c_char_p,),
    "clvet_last_error": (c_char_p,),
    "clvet_string_free": (None, c_void_p),
    "clvet_context_open": (c_int32, c_char_p, c_char_p, _OUT),
    "clvet_context_free": (None, c_void_p),
    "clvet_session_open": (c_int32, c_char_p, POINTER(SessionOptions), _OUT),
    "clvet_session_free": (None, c_void_p),
    "clvet_session_inputs": (c_int32, c_void_p, _OUT),
    "clvet_session_outputs": (c_int32, c_void_p, _OUT),
    "clvet_tensor_list_size": (c_size_t, c_void_p),
    "clvet_tensor_list_get": (c_int32, c_void_p, c_size_t, POINTER(TensorInfo)),
    "clvet_tensor_list_free": (None, c_void_p),
    "clvet_session_resize": (c_int32, c_void_p, POINTER(TensorInfo), c_size_t),
    "clvet_session_set": (c_int32, c_void_p, POINTER(Values), c_size_t),
    "clvet_session_warm_up": (c_int32, c_void_p),
    "clvet_session_run": (c_int32, c_void_p),
    "clvet_session_cancel": (c_int32, c_void_p),
    "clvet_session_run_async": (c_int32, c_void_p, _OUT),
    "clvet_pending_wait": (c_int32, c_void_p, c_double, POINTER(c_int32)),
    "clvet_pending_free": (None, c_void_p),
    "clvet_session_map": (c_int32, c_void_p, c_char_p, c_int32, _OUT),
    "clvet_mapping_info": (c_int32, c_void_p, POINTER(TensorInfo)),
    "clvet_mapping_data": (c_int32, c_void_p, c_int32, _OUT, _SIZE),
    "clvet_mapping_unmap": (c_int32, c_void_p),
    "clvet_mapping_free": (None, c_void_p),
    "clvet_session_read": (c_int32, c_void_p, POINTER(Output), c_size_t),
    "clvet_session_answer": (c_int32, c_void_p, POINTER(Values), c_size_t, POINTER(Output), c_size_t, POINTER(c_int32)),
    "clvet_session_placement": (c_int32, c_void_p, _OUT),
    "clvet_language_placement": (c_int32, c_void_p, _OUT),
    "clvet_placement_device": (c_char_p, c_void_p),
    "clvet_placement_precision": (c_char_p, c_void_p),
    "clvet_placement_generation": (c_uint64, c_void_p),
    "clvet_placement_warning_count": (c_size_t, c_void_p),
    "clvet_placement_warning": (c_char_p, c_void_p, c_size_t),
    "clvet_placement_free": (None, c_void_p),
    "clvet_language_open": (c_int32, c_char_p, POINTER(LanguageOptions), _OUT),
    "clvet_language_free": (None, c_void_p),
    "clvet_language_tokenize": (c_int32, c_void_p, c_char_p, POINTER(_TOKENS), _SIZE),
    "clvet_tokens_free": (None, _TOKENS),
    "clvet_language_text_of": (c_int32, c_void_p, _TOKENS, c_size_t, _OUT),
    "clvet_language_generate": (c_int32, c_void_p, POINTER(GenerateOptions), _OUT),
    "clvet_language_cancel": (c_int32, c_void_p),
    "clvet_generated_text": (c_char_p, c_void_p),
    "clvet_generated_tokens": (_TOKENS, c_void_p, _SIZE),
    "clvet_generated_prompt": (_TOKENS, c_void_p, _SIZE),
    "clvet_generated_ending": (c_int32, c_void_p),
    "clvet_generated_free": (None, c_void_p),
    "clvet_probe": (c_int32, POINTER(ProbeOptions), _OUT),
    "clvet_report_read": (c_int32, c_char_p, c_char_p, _OUT),
    "clvet_plan": (c_int32, c_char_p, POINTER(PlanOptions), _OUT),
}


def bundled_program() -> Optional[str]:
    """The clvet program inside this package, where there is one."""
    program = PACKAGE / "bin" / "clvet"
    return str(program) if os.access(program, os.X_OK) else None


def _candidates() -> Iterator[str]:
    yield from (str(path) for path in sorted((PACKAGE / "lib").glob("libclvet.so*")))
    named = os.environ.get("CLVET_LIBRARY")
    if named:
        yield named
    yield SYSTEM_NAME


def load() -> ctypes.CDLL:
    """The first of the package's own library, $CLVET_LIBRARY and the system's that is there."""
    tried: List[str] = []
    for name in _candidates():
        try:
            library = ctypes.CDLL(name)
            for function, (gives, *takes) in _FUNCTIONS.items():
                known = getattr(library, function)
                known.restype, known.argtypes = gives, takes
        except (OSError, AttributeError) as fault:
            tried.append(str(fault))
            continue
        if library.clvet_abi() == ABI:
            return library
        tried.append(f"{name}: its ABI is {library.clvet_abi()}, and this package needs {ABI}")
    raise ImportError(
        "libclvet was not found: install a wheel of clvet that has it, or set CLVET_LIBRARY to the file (" + "; ".join(tried) + ")"
    )


lib = load()
version: str = lib.clvet_version().decode()


def error_of(code: int) -> Error:
    """What the last call of this thread said."""
    return BY_CODE.get(code, InternalError)(lib.clvet_last_error().decode("utf-8", "replace"))


def check(code: int) -> None:
    if code:
        raise error_of(code)


def opened(function: Callable[..., int], *arguments: Any) -> int:
    """The handle that `function` gives through its last parameter."""
    out = c_void_p()
    check(function(*arguments, ctypes.byref(out)))
    assert out.value
    return out.value


def text_from(function: Callable[..., int], *arguments: Any) -> str:
    """The text that `function` gives through its last parameter."""
    out = opened(function, *arguments)
    try:
        return ctypes.string_at(out).decode("utf-8", "replace")
    finally:
        lib.clvet_string_free(out)


def encoded(text: Union[str, os.PathLike[str], None], what: str) -> Optional[bytes]:
    """As C takes it: bytes of a path or a word, in which no NUL may stand."""
    if text is None:
        return None
    try:
        raw = os.fspath(text).encode("utf-8", "surrogateescape")
    except (TypeError, UnicodeError, AttributeError) as fault:
        raise InvalidArgument(f"{what} is no text: {fault}") from None
    if b"\0" in raw:
        raise InvalidArgument(f"{what} has a NUL character in it")
    return raw


def encoded_words(**words: Union[str, os.PathLike[str], None]) -> Dict[str, Optional[bytes]]:
    """The same of several members of a structure, by their names."""
    return {name: encoded(word, name) for name, word in words.items()}


def tensor_infos(shapes: Dict[str, Tuple[int, ...]]) -> Tuple[Any, List[Any]]:
    """An array of TensorInfo, and what must outlive it."""
    kept: List[Any] = []
    infos = (TensorInfo * len(shapes))()
    for info, (name, shape) in zip(infos, shapes.items()):
        sizes = (c_int64 * len(shape))(*shape)
        raw = encoded(name, "the name of an input")
        kept += [sizes, raw]
        info.name, info.rank, info.shape = raw, len(shape), sizes
    return infos, kept
