"""Language models: GGUF files that go on with a text."""

from __future__ import annotations

import collections
import ctypes
import operator
import threading
import weakref
from ctypes import POINTER, c_int32, c_size_t
from typing import Any, Callable, Deque, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

from . import _native
from ._handle import Handle, Warnings
from ._native import check, encoded, encoded_words, lib, opened, text_from
from .errors import InvalidArgument
from .session import Context, Path, Placement, open_with, placement_from

Message = Union[Mapping[str, str], Tuple[str, str]]
Prompt = Union[str, Sequence[int], Sequence[Message]]

AHEAD = 64  # pieces that are generated before somebody takes them


class LanguageModel:
    """A language model. All calls may come from any thread; those that generate wait for each other, and each begins anew."""

    def __init__(
        self,
        path: Path,
        device: str = "auto",
        precision: str = "auto",
        memory: str = "auto",
        report: Optional[Path] = None,
        state_dir: Optional[Path] = None,
        context: Optional[Context] = None,
        strict: bool = False,
        warning: Optional[Callable[[str], object]] = None,
    ) -> None:
        """`path`: a GGUF file. `warning` gets each warning as it comes; by default the logger "clvet" does."""
        self._warnings = Warnings(warning)
        words = encoded_words(device=device, precision=precision, memory=memory, report=report, state_dir=state_dir)
        options = _native.LanguageOptions(**words, warning=self._warnings.function, strict=int(strict))
        pointer = open_with(context, lib.clvet_language_open, encoded(path, "path"), options, lib.clvet_language_free)
        self._handle = Handle("language model", pointer, lib.clvet_language_free, lib.clvet_language_cancel, keeps=self._warnings)
        self._finalizer = weakref.finalize(self, self._handle.close)
        self._turns = threading.Condition()
        self._waiting: List["_Stream"] = []  # whose text has not begun
        self._warnings.raise_faults()

    def tokenize(self, text: str) -> List[int]:
        tokens, count = POINTER(c_int32)(), c_size_t()
        raw = encoded(text, "the text")
        with self._handle as model:
            check(lib.clvet_language_tokenize(model, raw, ctypes.byref(tokens), ctypes.byref(count)))
        try:
            return list(tokens[: count.value])
        finally:
            lib.clvet_tokens_free(tokens)

    def text_of(self, tokens: Iterable[int]) -> str:
        ids = token_array(tokens)
        with self._handle as model:
            return text_from(lib.clvet_language_text_of, model, ids, len(ids))

    def generate(
        self,
        prompt: Prompt,
        max_tokens: int = 128,
        temperature: float = 0.0,
        top_k: int = 0,
        top_p: float = 1.0,
        seed: int = 0,
    ) -> "Generation":
        """The text that follows, piece by piece: `for piece in model.generate(...)`. Leaving the loop ends it.

        `prompt`: a text, token ids, or a chat: a list of {"role": "user", "content": "..."}, or of (role, text).
        `temperature` 0 always takes the most likely token; the same `seed` gives the same text.
        """
        if max_tokens < 1:
            raise InvalidArgument(f"max_tokens is {max_tokens}: ask for 1 or more")
        if not 0 < top_p <= 1:
            raise InvalidArgument(f"top_p is {top_p}: it is more than 0, and at most 1")
        options = _native.GenerateOptions(
            max_tokens=integer(max_tokens, "max_tokens", 1 << 62),
            temperature=float(temperature),
            top_k=integer(top_k, "top_k", 1 << 62),
            top_p=float(top_p),
            seed=integer(seed, "seed", 1 << 64),
        )
        kept = put_prompt(options, prompt)
        return Generation(self, options, kept)

    @property
    def placement(self) -> Placement:
        with self._handle as model:
            return placement_from(opened(lib.clvet_language_placement, model))

    def cancel(self) -> None:
        """Ends what generates at its next step, and what waits: Cancelled."""
        self._handle.cancel()

    def close(self) -> None:
        """Cancels what still generates, and waits for its end."""
        self._handle.close()

    def __enter__(self) -> "LanguageModel":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Stream:
    """The pieces between the thread that generates and the one that takes them. Does not know the Generation, which may go."""

    def __init__(self, model: LanguageModel, options: _native.GenerateOptions, kept: Any) -> None:
        self.handle, self.warnings = model._handle, model._warnings
        self.turns, self.waiting = model._turns, model._waiting
        self.options, self.kept = options, kept
        self.function = _native.LineFunction(self._take)
        self.pieces: Deque[str] = collections.deque()
        self.unwanted = False
        self.over = False
        self.fault: Optional[BaseException] = None
        self.text, self.ending = "", ""
        self.tokens: List[int] = []
        self.prompt_tokens: List[int] = []
        options.on_text = self.function
        self.waiting.append(self)

    def _take(self, piece: bytes, _: Any) -> int:
        """Not 0: go on. Waits while there are many pieces, unless another text waits for this one."""
        with self.turns:
            if self in self.waiting:
                self.waiting.remove(self)
            self.pieces.append(piece.decode("utf-8", "replace"))
            self.turns.notify_all()
            while len(self.pieces) >= AHEAD and not (self.unwanted or self.waiting or self.handle.closed):
                self.turns.wait(0.1)
            return 0 if self.unwanted else 1

    def work(self) -> None:
        try:
            with self.handle as model:
                result = opened(lib.clvet_language_generate, model, ctypes.byref(self.options))
            try:
                self._read(result)
            finally:
                lib.clvet_generated_free(result)
            self.warnings.raise_faults()
        except BaseException as fault:  # the thread that takes the pieces raises it
            self.fault = fault
        with self.turns:
            if self in self.waiting:
                self.waiting.remove(self)
            self.over = True
            self.function = self.options.on_text = _native.LineFunction()  # it held this: a circle
            self.turns.notify_all()

    def _read(self, result: int) -> None:
        count = c_size_t()
        tokens = lib.clvet_generated_tokens(result, ctypes.byref(count))
        self.tokens = list(tokens[: count.value])
        prompt = lib.clvet_generated_prompt(result, ctypes.byref(count))
        self.prompt_tokens = list(prompt[: count.value])
        self.text = lib.clvet_generated_text(result).decode("utf-8", "replace")
        self.ending = _native.ENDINGS[lib.clvet_generated_ending(result)]


class Generation(Iterator[str]):
    """A text as it comes. `text`, `tokens`, `prompt_tokens` and `ending` are there at its end; read() goes there."""

    def __init__(self, model: LanguageModel, options: _native.GenerateOptions, kept: Any) -> None:
        self._model = model
        self._stream = _Stream(model, options, kept)
        self._thread = threading.Thread(target=self._stream.work, name="clvet text", daemon=True)
        self._thread.start()

    def __iter__(self) -> "Generation":
        return self

    def __next__(self) -> str:
        stream = self._stream
        try:
            with stream.turns:
                while not (stream.pieces or stream.over):
                    stream.turns.wait()
                if stream.pieces:
                    stream.turns.notify_all()
                    return stream.pieces.popleft()
        except BaseException:  # Ctrl-C
            self._end()
            self._model._handle.cancel()
            raise
        self._thread.join()
        if stream.fault is not None:
            fault, stream.fault = stream.fault, None
            raise fault
        raise StopIteration

    @property
    def text(self) -> str:
        """All of it."""
        return self._stream.text

    @property
    def tokens(self) -> List[int]:
        return self._stream.tokens

    @property
    def prompt_tokens(self) -> List[int]:
        return self._stream.prompt_tokens

    @property
    def ending(self) -> str:
        """ "end of text", "limit" (max_tokens) or "stopped" (by close()); "" before the end."""
        return self._stream.ending

    def read(self) -> str:
        """Waits for the end, and gives all of the text."""
        for _ in self:
            pass
        return self.text

    def close(self) -> None:
        """Ends the text after the token in hand, and waits for that. What came stays in `text`."""
        self._end()
        self._thread.join()
        self._stream.pieces.clear()
        self._stream.fault = None

    def __enter__(self) -> "Generation":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if hasattr(self, "_stream"):
            self._end()

    def _end(self) -> None:
        # Without the lock: a destructor may run while this thread holds it.
        self._stream.unwanted = True


def generate(
    path: Path,
    prompt: Prompt,
    max_tokens: int = 128,
    temperature: float = 0.0,
    top_k: int = 0,
    top_p: float = 1.0,
    seed: int = 0,
    **options: Any,
) -> Generation:
    """Opens a model (`options` are LanguageModel's) and generates one text: see LanguageModel.generate."""
    return LanguageModel(path, **options).generate(prompt, max_tokens, temperature, top_k, top_p, seed)


def integer(value: Any, what: str, end: int) -> int:
    """An integer that C can hold: from 0 to below `end`."""
    try:
        number = operator.index(value)
    except TypeError:
        raise InvalidArgument(f"{what} is {value!r}: it is an integer") from None
    if not 0 <= number < end:
        raise InvalidArgument(f"{what} is {number}: it is at least 0 and below {end}")
    return number


def token_array(tokens: Iterable[int]) -> Any:
    ids = [integer(token, "a token", 1 << 31) for token in tokens]
    return (c_int32 * len(ids))(*ids)


def put_prompt(options: _native.GenerateOptions, prompt: Prompt) -> Any:
    """Writes what to go on from, and gives what must outlive the call."""
    if isinstance(prompt, str):
        options.prompt = encoded(prompt, "the prompt")
        return None
    items: List[Any] = list(prompt)
    if not items or not isinstance(items[0], (Mapping, tuple)):
        ids = token_array(items)
        options.prompt_tokens, options.prompt_token_count = ids, len(ids)
        return ids
    turns = (_native.ChatTurn * len(items))()
    for turn, item in zip(turns, items):
        if isinstance(item, Mapping):
            item = item.get("role"), item.get("content")
        role, text = item if isinstance(item, tuple) and len(item) == 2 else (None, None)
        if not isinstance(role, str) or not isinstance(text, str):
            raise InvalidArgument('a message is {"role": "user", "content": "..."}, or (role, text)')
        turn.role, turn.text = encoded(role, "a role"), encoded(text, "a message")
    options.turns, options.turn_count = turns, len(items)
    return turns
