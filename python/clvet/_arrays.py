"""numpy arrays over the library's memory, and the library's views of numpy arrays."""

from __future__ import annotations

import ctypes
from ctypes import c_int64, c_size_t, c_void_p
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

import numpy as np
from numpy.typing import NDArray

from ._native import READ, Output, TensorInfo, Values, check, encoded, lib, opened
from .errors import InvalidArgument

Array = NDArray[Any]

# numpy has no bfloat16: float32 holds its values.
DTYPES: Tuple["np.dtype[Any]", ...] = tuple(
    np.dtype(name) for name in ("f4", "f8", "f2", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?", "f4")
)
BFLOAT16 = 12
ONNX_TYPES = tuple(
    f"tensor({name})"
    for name in ("float", "double", "float16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool", "bfloat16")
)
BITS = np.dtype([("bfloat16", "<u2")])  # as the library has values of bfloat16

_CODES = {**{dtype: code for code, dtype in enumerate(DTYPES[:BFLOAT16])}, BITS: BFLOAT16}
_TYPE_STRINGS = (*(dtype.str for dtype in DTYPES[:BFLOAT16]), "<u2")
_NOTHING = ctypes.c_double()  # numpy wants an address even of no elements


def widened(bits: Array) -> Array:
    """The values, float32, whose bits as bfloat16 these are."""
    wide = bits.astype(np.uint32)
    wide <<= 16
    return wide.view(np.float32)


def narrowed(values: Array) -> Array:
    """The bits of the nearest values of bfloat16; ties go to the even one."""
    bits = np.require(values, np.float32, "C").view(np.uint32)
    rounded = (bits + (0x7FFF + (bits >> 16 & 1))) >> 16
    return np.where(np.isnan(values), bits >> 16 | 0x40, rounded).astype(np.uint16)


class Memory:
    """The memory of a mapping, which is freed with it. numpy reads __array_interface__ and keeps this object alive."""

    __slots__ = ("__array_interface__", "_free", "_mapping", "is_bfloat16", "keeps")

    def __init__(self, mapping: int, data: Optional[int], info: Any, reads: bool, keeps: Any = None) -> None:
        self._free, self._mapping, self.keeps = lib.clvet_mapping_free, mapping, keeps
        self.__array_interface__ = {
            "data": (data or ctypes.addressof(_NOTHING), reads),
            "shape": tuple(info.shape[: info.rank]),
            "typestr": _TYPE_STRINGS[info.type],
            "version": 3,
        }
        self.is_bfloat16 = info.type == BFLOAT16

    def unmap(self) -> None:
        check(lib.clvet_mapping_unmap(self._mapping))

    def array(self) -> Array:
        """The memory itself; of bfloat16 a copy as float32."""
        array = np.asarray(self)
        if self.is_bfloat16:
            writeable, array = array.flags.writeable, widened(array)
            array.flags.writeable = writeable
        return array

    def __del__(self) -> None:
        self._free(self._mapping)


def mapped(session: int, name: Optional[bytes], mode: int, keeps: Any = None) -> Memory:
    mapping = opened(lib.clvet_session_map, session, name, mode)
    info, data, size = TensorInfo(), c_void_p(), c_size_t()
    try:
        check(lib.clvet_mapping_info(mapping, ctypes.byref(info)))
        check(lib.clvet_mapping_data(mapping, info.type, ctypes.byref(data), ctypes.byref(size)))
    except BaseException:
        lib.clvet_mapping_free(mapping)
        raise
    return Memory(mapping, data.value, info, mode == READ, keeps)


class Wanted:
    """The outputs of these names, as the library gives them. Made once: a run from cold caches pays for each object."""

    __slots__ = ("_each", "names", "outputs")

    def __init__(self, names: Sequence[str]) -> None:
        self.names = list(names)
        self.outputs = (Output * len(names))()
        self._each = list(self.outputs)
        for one, name in zip(self._each, names):
            one.asked = encoded(name, "the name of an output")

    def take(self) -> List[Array]:
        """The arrays, once for each time that the library gave them."""
        return [Memory(one.mapping, one.data, one, True).array() for one in self._each]


def given_arrays(feeds: Mapping[str, Any], wanted: Mapping[str, "np.dtype[Any]"]) -> Dict[str, Array]:
    """The arrays to lend: those that were given where they can be read as they lie."""
    arrays = {}
    for name, value in feeds.items():
        array = np.asarray(value)
        dtype = wanted.get(name)
        if dtype is BITS:
            array = _bits_of(name, array)
        if dtype is not array.dtype and dtype != array.dtype:
            if dtype is not None:
                raise InvalidArgument(f"'{name}' wants {dtype.name}, and this array holds {array.dtype.name}: convert it with astype()")
            if array.dtype not in _CODES:
                raise InvalidArgument(f"'{name}' cannot be of {array.dtype}")
        flags = array.flags
        arrays[name] = array if flags.c_contiguous and flags.aligned else np.require(array, requirements=["C", "A"])
    return arrays


def _bits_of(name: str, array: Array) -> Array:
    """What an input of bfloat16 takes: float32, which is rounded, or bfloat16 of ml_dtypes."""
    if array.dtype == np.float32:
        return narrowed(array).view(BITS)
    if array.dtype.name == "bfloat16":
        return array.view(np.uint16).view(BITS)
    raise InvalidArgument(f"'{name}' wants float32, which is rounded to bfloat16, and this array holds {array.dtype.name}: convert it with astype()")


class Given:
    """The library's view of arrays of these names, types and shapes; each call names others of them."""

    __slots__ = ("_each", "_kept", "shapes", "values")

    def __init__(self, arrays: Mapping[str, Array]) -> None:
        self.shapes = [(name, array.shape) for name, array in arrays.items()]
        self._kept: List[Any] = []  # what the values point to
        self.values = (Values * len(arrays))()
        self._each = list(self.values)
        for one, (name, array) in zip(self._each, arrays.items()):
            shape = (c_int64 * array.ndim)(*array.shape)
            raw = encoded(name, "the name of an input")
            self._kept += [shape, raw]
            info = one.info
            info.name, info.type, info.rank, info.shape = raw, _CODES[array.dtype], array.ndim, shape
            one.bytes = array.nbytes
        self.point_to(arrays)

    def point_to(self, arrays: Mapping[str, Array]) -> None:
        for one, array in zip(self._each, arrays.values()):
            one.data = array.__array_interface__["data"][0]
