"""The built-in function that Python calls for a kernel, in LLVM's assembly.

    object NAME(self, arguments, count)      METH_FASTCALL, as in any extension of Python

It takes numbers out of Python's integers, releases the interpreter lock while the kernel runs, and makes Python objects
of what it returns. If an argument is not as declared, it returns NotImplemented, and nothing was done.

`self` is a bytes object with addresses, for machine code refers only to itself: what is called and compared with here
(`ADDRESSED` in `compiled.py`), then what the kernel compares its arguments with (`numba_compile.py`).
"""

from __future__ import annotations

from hoplite.engine.hops.compiled import ADDRESSED, Signature

_FIRST_BYTE = bytes.__basicsize__ - 1
_TYPE = object.__basicsize__ - 8


def call_assembly(name: str, kernel: str, signature: Signature) -> str:
    """The built-in function around the function `kernel` that Numba compiled."""
    arguments, count = signature.arguments, signature.result_count
    passed = "".join(f", i64 %word{place}" for place in range(len(arguments)))
    return "\n".join(
        (
            f'declare i32 @"{kernel}"(ptr, ptr, i64{", i64" * len(arguments)})',
            f'@format = internal constant [{count + 1} x i8] c"{"L" * count}\\00"',
            f'define ptr @"{name}"(ptr %self, ptr %arguments, i64 %count) nounwind {{',
            f"  %results = alloca [{1 + count} x i64]",
            "  %overflow = alloca i32",
            f"  %table = getelementptr i8, ptr %self, i64 {_FIRST_BYTE}",
            *(line for place, what in enumerate(ADDRESSED) for line in _loaded(what, "table", place)),
            f"  %rest = getelementptr ptr, ptr %table, i64 {len(ADDRESSED)}",
            "  %known = ptrtoint ptr %rest to i64",
            f"  %is_complete = icmp eq i64 %count, {len(arguments)}",
            "  br i1 %is_complete, label %complete, label %refused",
            "complete:",
            *(line for place, kind in enumerate(arguments) for line in _taken(place, kind in (int, bool))),
            "  %thread = call ptr %PyEval_SaveThread()",
            f'  call i32 @"{kernel}"(ptr %results, ptr null, i64 %known{passed})',
            "  call void %PyEval_RestoreThread(ptr %thread)",
            "  %status = load i64, ptr %results",
            "  %is_done = icmp ne i64 %status, 0",
            "  br i1 %is_done, label %done, label %refused",
            "done:",
            *_returned(signature),
            "refused:",
            "  call void %Py_IncRef(ptr %NotImplemented)",
            "  ret ptr %NotImplemented",
            "}",
        )
    )


def _loaded(name: str, array: str, place: int, kind: str = "ptr") -> tuple[str, str]:
    """`name` = array[place]"""
    return (
        f"  %{name}.at = getelementptr {kind}, ptr %{array}, i64 {place}",
        f"  %{name} = load {kind}, ptr %{name}.at",
    )


def _taken(place: int, is_number: bool) -> tuple[str, ...]:
    """The word that an argument is passed in: a number, or the address of the object."""
    argument, word = f"argument{place}", f"%word{place}"
    if not is_number:
        return *_loaded(argument, "arguments", place), f"  {word} = ptrtoint ptr %{argument} to i64"
    return (
        *_loaded(argument, "arguments", place),
        f"  %type{place}.at = getelementptr i8, ptr %{argument}, i64 {_TYPE}",
        f"  %type{place} = load ptr, ptr %type{place}.at",
        f"  %is_int{place} = icmp eq ptr %type{place}, %int",
        f"  %is_bool{place} = icmp eq ptr %type{place}, %bool",
        f"  %is_number{place} = or i1 %is_int{place}, %is_bool{place}",
        f"  br i1 %is_number{place}, label %number{place}, label %refused",
        f"number{place}:",
        f"  {word} = call i64 %PyLong_AsLongLongAndOverflow(ptr %{argument}, ptr %overflow)",
        f"  %excess{place} = load i32, ptr %overflow",
        f"  %fits{place} = icmp eq i32 %excess{place}, 0",
        f"  br i1 %fits{place}, label %taken{place}, label %refused",
        f"taken{place}:",
    )


def _returned(signature: Signature) -> tuple[str, ...]:
    """What Python gets: None, a truth value, an integer, or a tuple of integers. The first result is the status."""
    count = signature.result_count
    if not count:
        return "  call void %Py_IncRef(ptr %None)", "  ret ptr %None"
    results = [line for place in range(1, 1 + count) for line in _loaded(f"found{place}", "results", place, "i64")]
    if not signature.is_single:
        passed = "".join(f", i64 %found{place}" for place in range(1, 1 + count))
        return *results, f"  %made = call ptr (ptr, ...) %Py_BuildValue(ptr @format{passed})", "  ret ptr %made"
    if signature.is_bool:
        return (
            *results,
            "  %is_true = icmp ne i64 %found1, 0",
            "  %made = select i1 %is_true, ptr %True, ptr %False",
            "  call void %Py_IncRef(ptr %made)",
            "  ret ptr %made",
        )
    return *results, "  %made = call ptr %PyLong_FromLongLong(i64 %found1)", "  ret ptr %made"
