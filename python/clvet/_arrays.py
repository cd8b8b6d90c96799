"""numpy arrays over the library's memory, and the library's views of numpy arrays."""

from __future__ import annotations

import ctypes
from ctypes import c_int64, c_size_t, c_void_p
from typing import Any, Dict, List, Mapping, Tuple

import numpy as np
from numpy.typing import NDArray

from ._native import TensorInfo, Values, check, encoded, lib
from .errors import InvalidArgument

Array = NDArray[Any]

DTYPES: Tuple["np.dtype[Any]", ...] = tuple(
    np.dtype(name) for name in ("f4", "f8", "f2", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?")
)
ONNX_TYPES = tuple(
    f"tensor({name})"
    for name in ("float", "double", "float16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool")
)


_CODES = {dtype: code for code, dtype in enumerate(DTYPES)}
_NOTHING = ctypes.c_double()  # numpy wants an address even of no elements


class Memory:
    """The memory of a mapping, which is freed with it. numpy reads __array_interface__ and keeps this object alive."""

    __slots__ = ("__array_interface__", "_free", "_mapping", "keeps")

    def __init__(self, mapping: int, writes: bool, keeps: Any = None) -> None:
        self._free, self._mapping, self.keeps = lib.clvet_mapping_free, mapping, keeps
        info, data, size = TensorInfo(), c_void_p(), c_size_t()
        check(lib.clvet_mapping_info(mapping, ctypes.byref(info)))
        check(lib.clvet_mapping_data(mapping, info.type, ctypes.byref(data), ctypes.byref(size)))
        self.__array_interface__ = {
            "data": (data.value or ctypes.addressof(_NOTHING), not writes),
            "shape": tuple(info.shape[: info.rank]),
            "typestr": DTYPES[info.type].str,
            "version": 3,
        }

    def unmap(self) -> None:
        check(lib.clvet_mapping_unmap(self._mapping))

    def __del__(self) -> None:
        self._free(self._mapping)


def given_arrays(feeds: Mapping[str, Any], wanted: Mapping[str, "np.dtype[Any]"]) -> Dict[str, Array]:
    """The arrays to lend: those that were given where they can be read as they lie."""
    arrays = {}
    for name, value in feeds.items():
        array = np.asarray(value)
        dtype = wanted.get(name, array.dtype)
        if array.dtype != dtype:
            raise InvalidArgument(f"'{name}' wants {dtype.name}, and this array holds {array.dtype.name}: convert it with astype()")
        if array.dtype not in _CODES:
            raise InvalidArgument(f"'{name}' cannot be of {array.dtype}")
        readable = array.flags.c_contiguous and array.flags.aligned
        arrays[name] = array if readable else np.require(array, requirements=["C", "A"])
    return arrays


def values_of(arrays: Mapping[str, Array]) -> Tuple[Any, List[Any]]:
    """An array of Values, and what must outlive the call."""
    kept: List[Any] = []
    values = (Values * len(arrays))()
    for one, (name, array) in zip(values, arrays.items()):
        shape = (c_int64 * array.ndim)(*array.shape)
        raw = encoded(name, "the name of an input")
        kept += [shape, raw]
        info = one.info
        info.name, info.type, info.rank, info.shape = raw, _CODES[array.dtype], array.ndim, shape
        one.data, one.bytes = array.ctypes.data, array.nbytes
    return values, kept
