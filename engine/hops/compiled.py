"""Compiled kernels: plain functions over arrays, which run as machine code once that is loaded.

A kernel is written in the part of Python that Numba compiles, and declared with the types of its arguments:

    Ints, Int32s, Bytes, Words, Flags, Floats   arrays of one dimension, C-contiguous
    Table                                       an array of two dimensions
    int, bool
    a NamedTuple of these arrays, or of such tuples

It returns nothing, a number, a truth value or a tuple of numbers, and allocates nothing: the caller brings the
arrays to write to. Its machine code is therefore self-contained, and running it imports neither Numba nor its compiler:
`machine_code.py` loads it from a file, `numba_compile.py` fills that file.

To Python it is a built-in function (`numba_calls.py`). Objects are passed as they are; the machine code reads addresses
and lengths from them. It first checks that their types, dimensions and layout are the ones it was compiled for; see
`numba_compile.py`.
"""

from __future__ import annotations

import builtins
import ctypes
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache, cached_property
from operator import index
from typing import Annotated, Any, NamedTuple, TypeAlias, TypeVar, cast, get_args, get_origin

import numpy as np
from numpy.typing import NDArray

Ints: TypeAlias = NDArray[np.int64]
Int32s: TypeAlias = NDArray[np.int32]
Bytes: TypeAlias = NDArray[np.uint8]
Words: TypeAlias = NDArray[np.uint64]
Flags: TypeAlias = NDArray[np.bool_]
Floats: TypeAlias = NDArray[np.float64]
Table: TypeAlias = Annotated[NDArray[np.int64], 2]

# The origin of `NDArray[...]`: the array class itself up to NumPy 2.4, a named alias from then on.
_ARRAY = get_origin(Ints)

_Function = TypeVar("_Function", bound=Callable[..., Any])


class ArrayOf(NamedTuple):
    """The type of an array argument."""

    dtype: np.dtype[Any]
    ndim: int


class RecordOf(NamedTuple):
    """The type of a named tuple argument."""

    kind: type
    fields: tuple[ArrayOf | RecordOf, ...]


ArgumentType: TypeAlias = ArrayOf | RecordOf | type[int] | type[bool]


class Signature(NamedTuple):
    """The argument and result types of a kernel. `is_bool`: it returns a bool; `is_single`: one value, not a tuple."""

    arguments: tuple[ArgumentType, ...]
    result_count: int
    is_single: bool
    is_bool: bool

    def known_objects(self) -> tuple[object, ...]:
        """The objects that the machine code compares its arguments' types with, by identity."""
        objects: dict[int, object] = {id(np.ndarray): np.ndarray}
        for argument in self.arguments:
            _add_known(argument, objects)
        return tuple(objects.values())


def _add_known(argument: ArgumentType, objects: dict[int, object]) -> None:
    match argument:
        case ArrayOf(dtype=dtype):
            objects[id(dtype)] = dtype
        case RecordOf(kind=kind, fields=fields):
            objects[id(kind)] = kind
            for field in fields:
                _add_known(field, objects)


class NotLoaded(RuntimeError):
    """A kernel was called before its machine code was loaded."""


# Records of arrays that also exist with smaller integers: kernels that take them are compiled for both.
narrow_forms: dict[type, type] = {}


class _MethodDef(ctypes.Structure):
    """`PyMethodDef` of Python's C interface."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("code", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("documentation", ctypes.c_char_p),
    )


_FAST_CALL = 0x80  # METH_FASTCALL: the arguments come in an array
_OBJECTS = {"int": int, "bool": bool, "None": None, "True": True, "False": False, "NotImplemented": NotImplemented}
_FUNCTIONS = (
    "PyEval_SaveThread",
    "PyEval_RestoreThread",
    "PyLong_AsLongLongAndOverflow",
    "PyLong_FromLongLong",
    "Py_BuildValue",
    "Py_IncRef",
)
ADDRESSED = (*_FUNCTIONS, *_OBJECTS)
"""What the machine code around kernels calls and compares with, in the order in which it expects the addresses."""


@cache
def _addresses() -> tuple[int, ...]:
    functions = (ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0 for name in _FUNCTIONS)
    return *functions, *map(id, _OBJECTS.values())


@cache
def _function_maker() -> Callable[..., Any]:
    """Makes a built-in function from the address of its description, the object it is bound to, and its module."""
    prototype = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.py_object)
    return prototype(("PyCFunction_NewEx", ctypes.pythonapi))


class Variant:
    """A kernel for one form of its records and, once it is loaded, its machine code."""

    def __init__(self, function: Callable[..., Any], is_narrow: bool) -> None:
        self.function = function
        self.is_narrow = is_narrow
        self.name = f"{function.__module__.rpartition('.')[2]}.{function.__qualname__}{'.narrow' if is_narrow else ''}"
        self.run: Callable[..., Any] | None = None  # once it is loaded; NotImplemented: not for such arguments

    @cached_property
    def signature(self) -> Signature:
        hints = _declared(self.function)
        result = hints.pop("return")
        count = 0 if result is None else len(get_args(result)) if get_origin(result) is tuple else 1
        arguments = tuple(argument_type(hint, self.is_narrow) for hint in hints.values())
        return Signature(arguments, count, get_origin(result) is not tuple, result is bool)

    @property
    def is_loaded(self) -> bool:
        return self.run is not None

    def load(self, address: int) -> None:
        """Run the machine code at this address from now on."""
        known = self.signature.known_objects()
        # Versions of Python may share machine code but differ in where a tuple's items begin.
        words = (*_addresses(), tuple.__basicsize__, *map(id, known))
        self._described = _MethodDef(self.name.encode(), address, _FAST_CALL, None)  # the function refers to it
        table = bytes((ctypes.c_int64 * len(words))(*words))
        self.run = _function_maker()(ctypes.addressof(self._described), table, None)


class Kernel:
    """A function that runs as machine code."""

    def __init__(self, function: Callable[..., Any]) -> None:
        assert function.__closure__ is None, "a kernel's machine code depends on its source alone"
        self.function = function
        self._usual = Variant(function, False)

    @cached_property
    def variants(self) -> tuple[Variant, ...]:
        """Its compiled forms: for the usual records, and for narrow ones if it takes any."""
        if any(_has_narrow_form(argument) for argument in self._usual.signature.arguments):
            return self._usual, Variant(self.function, True)
        return (self._usual,)

    @property
    def code(self) -> Callable[..., Any]:
        """The machine code for the usual records, for callers in a hurry: it returns NotImplemented for arguments that
        only `__call__` takes."""
        if self._usual.run is None:
            raise NotLoaded(self._usual.name)
        return self._usual.run

    def __call__(self, *arguments: Any) -> Any:
        """Run it without the interpreter lock, and return what the function returns."""
        run = self._usual.run
        if run is None:
            raise NotLoaded(self._usual.name)
        found = run(*arguments)
        return self._run_otherwise(arguments) if found is NotImplemented else found

    def _run_otherwise(self, arguments: tuple[Any, ...]) -> Any:
        """Run the other variant, or this one with arguments converted to the exact types it expects."""
        loaded = [(variant.signature, variant.run) for variant in self.variants if variant.run is not None]
        for _, run in loaded[1:]:
            found = run(*arguments)
            if found is not NotImplemented:
                return found
        for signature, run in loaded:
            with suppress(TypeError):
                found = run(*_all_conforming(signature.arguments, arguments))
                if found is not NotImplemented:
                    return found
        raise TypeError(f"{self._usual.name} was not compiled for these arguments: {arguments!r:.1000}")


def kernel(function: _Function) -> _Function:
    """Declare a kernel that Python calls."""
    return cast(_Function, Kernel(function))


def is_loaded(function: Callable[..., Any]) -> bool:
    """Whether a kernel can be called."""
    return cast(Kernel, function).variants[0].is_loaded


def inlined(function: _Function) -> _Function:
    """Declare a function that only kernels call."""
    return function


def unfolded(function: _Function) -> _Function:
    """Declare a function that is always inlined into its callers, however long it is: a call would copy its records."""
    function.is_unfolded = True  # type: ignore[attr-defined]
    return function


def half_word_at(address: int, place: int) -> int:
    """An int32 of the array at an address. This lets a kernel take any number of arrays; the caller keeps them
    alive."""
    return ctypes.c_int32.from_address(address + 4 * place).value


def prefetch(array: NDArray[Any], place: int) -> None:
    """Tell the processor that an array will soon be read at a place."""


def _declared(what: Any) -> dict[str, Any]:
    """The types that a function or a named tuple is declared with, by name. Most annotations are a single name, which
    is looked up: `get_type_hints` would compile every one of them, and takes most of the time of loading kernels."""
    scope = vars(sys.modules[what.__module__])
    return {name: _meant(annotation, scope) for name, annotation in what.__annotations__.items()}


def _meant(annotation: Any, scope: dict[str, Any]) -> Any:
    text = getattr(annotation, "__forward_arg__", annotation)
    if not isinstance(text, str):
        return annotation
    found = scope.get(text) or vars(builtins).get(text)
    return eval(text, scope) if found is None else found


@cache
def argument_type(hint: Any, is_narrow: bool = False) -> ArgumentType:
    """The type of an argument, from its annotation."""
    if hint is int or hint is bool:
        return cast(ArgumentType, hint)
    ndim = 1
    if get_origin(hint) is Annotated:
        hint, ndim = get_args(hint)
    if get_origin(hint) is _ARRAY:
        scalar = get_args(hint)[-1]
        return ArrayOf(np.dtype(get_args(scalar)[0] if get_origin(scalar) is np.dtype else scalar), ndim)
    record = narrow_forms.get(hint, hint) if is_narrow else hint
    fields = _declared(record).values()
    return RecordOf(record, tuple(cast(ArrayOf | RecordOf, argument_type(field, is_narrow)) for field in fields))


def _has_narrow_form(argument: ArgumentType) -> bool:
    if not isinstance(argument, RecordOf):
        return False
    return argument.kind in narrow_forms or any(map(_has_narrow_form, argument.fields))


def _all_conforming(kinds: Sequence[ArgumentType], arguments: Any) -> tuple[Any, ...]:
    if not isinstance(arguments, tuple) or len(arguments) != len(kinds):
        raise TypeError(f"A kernel takes a tuple of {len(kinds)} here, not {arguments!r:.100}")
    return tuple(_conforming(kind, argument) for kind, argument in zip(kinds, arguments, strict=True))


def _conforming(kind: ArgumentType, argument: Any) -> Any:
    """The argument in the exact form the machine code accepts: a NumPy number as a plain int, and an array of a
    subclass, or whose dtype is merely equal to the usual object, as a plain view of the same memory."""
    if isinstance(kind, RecordOf):
        return kind.kind(*_all_conforming(kind.fields, argument))
    if kind is bool:
        return bool(argument)
    if kind is int:
        return index(argument)
    assert isinstance(kind, ArrayOf)
    if not isinstance(argument, np.ndarray) or argument.dtype != kind.dtype or argument.ndim != kind.ndim:
        raise TypeError(f"A kernel takes {kind.ndim}-dimensional arrays of {kind.dtype} here, not {argument!r:.100}")
    if not argument.flags.c_contiguous or not argument.flags.aligned:
        raise TypeError("A kernel takes contiguous, aligned arrays")
    return argument.view(kind.dtype, np.ndarray)
