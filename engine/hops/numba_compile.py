"""Compile kernels: a `Variant` of `compiled.py` goes in, self-contained machine code comes out.

An entry is written here for each kernel, from the types of its arguments. The built-in function that Python calls
(`numba_calls.py`) calls it:

    int32 ENTRY(results, unused, known, argument, ...)

`results` is int64[1 + number of results]; the first is 1, or 0 if an argument is not as declared, in which case nothing
was done. `known` holds the offset of a tuple's first item, and the addresses of the types that arguments are compared
with (`Signature.known_objects`). Arrays and named tuples are passed as the address of their object. What is read of
them belongs to the interface that every extension of NumPy and Python is compiled against:

    object  header, whose last word is the type; its size is `object.__basicsize__`
    tuple   items, from the offset that `known` begins with
    array   header, data, number of dimensions, dimensions, strides, base, dtype, flags
"""

from __future__ import annotations

import errno
import os
import types as python_types
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO, cast, get_args, get_origin, get_type_hints

import llvmlite.binding as llvm
import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.compiler import Compiler
from numba.extending import intrinsic
from numba.np import arrayobj

from hoplite.engine.hops.compiled import (
    ArgumentType,
    ArrayOf,
    Kernel,
    RecordOf,
    Signature,
    Variant,
    argument_type,
    half_word_at,
    prefetch,
)
from hoplite.engine.hops.flat_code import flattened
from hoplite.engine.hops.machine_code import IS_FLAT, store_kernel
from hoplite.engine.hops.numba_calls import call_assembly


class _ForObjectCode(Compiler):
    """Numba's compiler, without loading what it compiles: most functions only become part of others."""

    def __init__(self, typing: Any, target: Any, library: Any, arguments: Any, result: Any, flags: Any, names: Any):
        flags.no_compile = True
        super().__init__(typing, target, library, arguments, result, flags, names)

    def compile_extra(self, func: Any) -> Any:
        found = super().compile_extra(func)
        # Numba identifies functions by what Python would call: a unique object of the right kind stands in.
        stand_in = list[object]().append
        self.state.targetctx.insert_user_function(stand_in, found.fndesc, [found.library])
        return found._replace(entry_point=stand_in)


_OPTIONS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",  # division by zero raises nothing
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
    "_nrt": False,  # nothing is allocated, so no references are counted
}
try:
    import fcntl
except ImportError:  # not on this system
    fcntl = None  # type: ignore[assignment]

_WORD = ir.IntType(64)
_HEADER = object.__basicsize__
_TYPE = _HEADER - 8
_DATA, _NDIM, _SHAPE, _DTYPE, _FLAGS = _HEADER, _HEADER + 8, _HEADER + 16, _HEADER + 40, _HEADER + 48
_CONTIGUOUS_AND_ALIGNED = 0x0101


# LLVM calls these for loops that fill and copy memory. The processor has an instruction for each.
_MEMORY_FUNCTIONS = """
define ptr @memset(ptr %to, i32 %value, i64 %count) noinline nounwind {
  %byte = trunc i32 %value to i8
  %ends = call { ptr, i64 } asm sideeffect "rep stosb", "={rdi},={rcx},{al},0,1,~{memory}"
    (i8 %byte, ptr %to, i64 %count)
  ret ptr %to
}
define ptr @memcpy(ptr %to, ptr %from, i64 %count) noinline nounwind {
  %ends = call { ptr, ptr, i64 } asm sideeffect "rep movsb", "={rdi},={rsi},={rcx},0,1,2,~{memory}"
    (ptr %to, ptr %from, i64 %count)
  ret ptr %to
}
"""


def compile_kernel(kernel: Variant) -> tuple[int | str, bytes]:
    """The machine code, and its entry: an offset, or a name if the code has to be linked."""
    entry = _entry(kernel)
    signature = kernel.signature
    result = types.UniTuple(types.int64, 1 + signature.result_count)
    compiled: Any = numba.njit(result(*[types.int64] * (1 + len(signature.arguments))), **_OPTIONS)(entry)
    (argument_types,) = compiled.signatures
    inner = compiled.overloads[argument_types].fndesc.llvm_func_name
    name = f"call.{inner}"
    module = llvm.parse_assembly(compiled.inspect_llvm(argument_types))
    module.link_in(llvm.parse_assembly(call_assembly(name, inner, signature)))
    if IS_FLAT:
        llvm.initialize_native_asmparser()
        module.link_in(llvm.parse_assembly(_MEMORY_FUNCTIONS))
    # Only one name is visible: each process numbers inner names from the start, and they could clash.
    for named in (*module.functions, *module.global_variables):
        if not named.is_declaration and named.name != name:
            named.linkage = "internal"
    # The target Numba optimised for: this processor, or one it was told to use (`make_machine_code.py`).
    settings: Any = numba.config
    cpu = settings.CPU_NAME or llvm.get_host_cpu_name()
    features = settings.CPU_FEATURES
    machine = llvm.Target.from_default_triple().create_target_machine(
        cpu=cpu,
        features=llvm.get_host_cpu_features().flatten() if features is None else features,
        opt=3,
        reloc="pic",
        codemodel="small" if IS_FLAT else "jitdefault",
        jit=True,
    )
    object_code = machine.emit_object(module)
    return flattened(object_code, name) if IS_FLAT else (name, object_code)


def _entry(kernel: Variant) -> Callable[..., Any]:
    """The function that Python calls, as source for Numba."""
    signature = kernel.signature
    writer = _EntryWriter(signature)
    names = [f"a{number}" for number in range(len(signature.arguments))]
    values = [writer.value(kind, name) for kind, name in zip(signature.arguments, names, strict=True)]
    zeros = ", ".join("0" for _ in range(1 + signature.result_count))
    call = f"function({', '.join(values)})"
    if not signature.is_single:
        found = "1, " + ", ".join(f"found[{number}]" for number in range(signature.result_count))
    else:
        found = "1, int64(found)" if signature.result_count else "1,"
    source = "\n".join(
        (
            f"def entry(known, {', '.join(names)}):",
            *(f"    if not {check}: return ({zeros},)" for check in writer.checks),
            f"    found = {call}",
            f"    return ({found})",
        )
    )
    scope = writer.scope | {"function": _jitted(kernel.function, kernel.is_narrow), "int64": np.int64}
    exec(compile(source, f"<entry of {kernel.name}>", "exec"), scope)
    return cast(Callable[..., Any], scope["entry"])


class _EntryWriter:
    """Writes the code that checks and unpacks arguments."""

    def __init__(self, signature: Signature) -> None:
        self.checks: list[str] = []
        self.scope: dict[str, Any] = {"word_at": _word_at, "is_array": _is_array}
        self._places = {id(known): place for place, known in enumerate(signature.known_objects(), 1)}

    def value(self, kind: ArgumentType, name: str) -> str:
        """The expression for an argument; `name` names the word it is passed in."""
        if kind is int:
            return name
        if kind is bool:
            return f"{name} != 0"
        if isinstance(kind, ArrayOf):
            self.checks.append(f"is_array({name}, {self._known(np.ndarray)}, {self._known(kind.dtype)}, {kind.ndim})")
            maker = f"array_{kind.dtype.name}_{kind.ndim}"
            self.scope[maker] = _array_maker(kind)
            return f"{maker}({name})"
        assert isinstance(kind, RecordOf)
        self.checks.append(f"word_at({name} + {_TYPE}) == {self._known(kind.kind)}")
        self.scope[kind.kind.__name__] = kind.kind
        items = [f"word_at({name} + word_at(known) + {8 * place})" for place in range(len(kind.fields))]
        values = [self.value(field, item) for field, item in zip(kind.fields, items, strict=True)]
        return f"{kind.kind.__name__}({', '.join(values)})"

    def _known(self, what: object) -> str:
        return f"word_at(known + {8 * self._places[id(what)]})"


@cache
def _jitted(function: Callable[..., Any], is_narrow: bool) -> Any:
    """A function for Numba, with those it calls. Its types are declared where possible: otherwise it would be compiled
    again for every constant it is called with."""
    scope = dict(function.__globals__)
    for name in function.__code__.co_names:
        called = scope.get(name)
        called = called.function if isinstance(called, Kernel) else called
        if isinstance(called, python_types.FunctionType):
            scope[name] = _IN_MACHINE_CODE.get(called) or _jitted(called, is_narrow)
    alone = python_types.FunctionType(function.__code__, scope, function.__name__)
    hints = get_type_hints(function, include_extras=True)
    stated = None if is_narrow or Any in hints.values() else _numba_signature(hints)
    unfolds = hasattr(function, "is_unfolded")
    compiled: Any = numba.njit(stated, pipeline_class=_ForObjectCode, forceinline=unfolds, **_OPTIONS)
    return compiled(alone)


def _numba_signature(hints: dict[str, Any]) -> Any:
    result = hints.pop("return")
    arguments = [_numba_type(argument_type(hint)) for hint in hints.values()]
    if result is type(None):
        return types.none(*arguments)
    if get_origin(result) is tuple:
        return types.Tuple([_numba_type(argument_type(hint)) for hint in get_args(result)])(*arguments)
    return _numba_type(argument_type(result))(*arguments)


def _numba_type(kind: ArgumentType) -> Any:
    if isinstance(kind, ArrayOf):
        return types.Array(numba.from_dtype(kind.dtype), kind.ndim, "C")
    if isinstance(kind, RecordOf):
        return types.BaseTuple.from_types([_numba_type(field) for field in kind.fields], kind.kind)
    return types.boolean if kind is bool else types.int64


def _load(builder: Any, address: Any, distance: int, kind: Any = _WORD) -> Any:
    place = builder.add(address, ir.Constant(_WORD, distance))
    return builder.load(builder.inttoptr(place, kind.as_pointer()))


@intrinsic
def _word_at(_typing: Any, _address: Any) -> Any:
    """The word at an address."""

    def write(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return _load(builder, arguments[0], 0)

    return types.int64(types.int64), write


@intrinsic
def _int32_at(_typing: Any, _address: Any, _place: Any) -> Any:
    """`half_word_at`, as compiled."""

    def write(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        array = builder.inttoptr(arguments[0], ir.IntType(32).as_pointer())
        return builder.sext(builder.load(builder.gep(array, (arguments[1],))), _WORD)

    return types.int64(types.int64, types.int64), write


@intrinsic
def _prefetch(_typing: Any, array: Any, _place: Any) -> Any:
    """`prefetch`, as compiled."""

    def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = arrayobj.make_array(signature.args[0])(context, builder, arguments[0]).data
        flag = ir.IntType(32)
        bytes_at = ir.IntType(8).as_pointer()
        fetch = ir.FunctionType(ir.VoidType(), [bytes_at, flag, flag, flag])
        function = cgutils.get_or_insert_function(builder.module, fetch, "llvm.prefetch.p0")
        place = builder.bitcast(builder.gep(data, (arguments[1],)), bytes_at)
        builder.call(function, (place, flag(0), flag(3), flag(1)))  # to read, into every cache, data
        return context.get_dummy_value()

    return types.none(array, types.int64), write


_IN_MACHINE_CODE: dict[Any, Any] = {half_word_at: _int32_at, prefetch: _prefetch}


@intrinsic
def _is_array(_typing: Any, _address: Any, _array: Any, _dtype: Any, _ndim: Any) -> Any:
    """Whether an object is a contiguous, aligned array of this dtype and number of dimensions."""

    def write(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        address, array, dtype, ndim = arguments
        answer = cgutils.alloca_once_value(builder, ir.Constant(ir.IntType(1), 0))
        with builder.if_then(builder.icmp_unsigned("==", _load(builder, address, _TYPE), array)):
            small = ir.IntType(32)
            flags = builder.and_(_load(builder, address, _FLAGS, small), ir.Constant(small, _CONTIGUOUS_AND_ALIGNED))
            is_same = (
                builder.icmp_unsigned("==", _load(builder, address, _DTYPE), dtype),
                builder.icmp_unsigned("==", _load(builder, address, _NDIM, small), builder.trunc(ndim, small)),
                builder.icmp_unsigned("==", flags, ir.Constant(small, _CONTIGUOUS_AND_ALIGNED)),
            )
            builder.store(builder.and_(builder.and_(is_same[0], is_same[1]), is_same[2]), answer)
        return builder.load(answer)

    return types.boolean(types.int64, types.int64, types.int64, types.int64), write


def _array_maker(kind: ArrayOf) -> Any:
    """A function from the address of an array object to Numba's representation of it."""
    dtype = numba.from_dtype(kind.dtype)
    array_type = types.Array(dtype, kind.ndim, "C")

    @intrinsic
    def array_at(_typing: Any, _address: Any) -> Any:
        def write(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            (address,) = arguments
            stored = context.get_data_type(dtype)
            dimensions = _load(builder, address, _SHAPE)
            shape = [_load(builder, dimensions, 8 * axis) for axis in range(kind.ndim)]
            strides = [ir.Constant(_WORD, kind.dtype.itemsize)]
            for length in shape[:0:-1]:
                strides.insert(0, builder.mul(strides[0], length))
            array = arrayobj.make_array(array_type)(context, builder)
            arrayobj.populate_array(
                array,
                data=builder.inttoptr(_load(builder, address, _DATA), stored.as_pointer()),
                shape=shape,
                strides=strides,
                itemsize=ir.Constant(_WORD, kind.dtype.itemsize),
                meminfo=None,
            )
            return array._getvalue()

        return array_type(types.int64), write

    return array_at


def compile_missing(kernels: Sequence[Variant], folder: Path, is_stopped: Callable[[], bool] = lambda: False) -> None:
    """Compile what a folder lacks. Several processes share the work: each takes kernels that no other has begun."""
    with (folder / "claims").open("wb") as claims:
        for waits in (False, True):
            for number, kernel in enumerate(kernels):
                if is_stopped():
                    return
                if not (folder / kernel.name).exists() and _claim(claims, number, waits):
                    if not (folder / kernel.name).exists():
                        store_kernel(kernel, *compile_kernel(kernel), folder)
                    _let_go(claims, number)


def _claim(claims: BinaryIO, number: int, waits: bool) -> bool:
    """Claim a kernel; False if another process has it. Claims end with their process. On a system without locks, every
    process compiles everything, which does no harm."""
    if fcntl is None:
        return True
    try:
        fcntl.lockf(claims, fcntl.LOCK_EX | (0 if waits else fcntl.LOCK_NB), 1, number)
    except OSError as refused:
        return refused.errno not in (errno.EACCES, errno.EAGAIN)
    return True


def _let_go(claims: BinaryIO, number: int) -> None:
    if fcntl is not None:
        with suppress(OSError):
            fcntl.lockf(claims, fcntl.LOCK_UN, 1, number)


def main(folder: str) -> None:
    """The main function of a compiling process, at low priority so that queries go first."""
    from hoplite.engine.hops.numba_backend import kernel_variants

    if hasattr(os, "nice"):
        os.nice(5)
    compile_missing(kernel_variants(), Path(folder))
