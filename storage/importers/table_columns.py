"""Tables of all kinds as columns: Arrow, pandas, Polars, dicts of arrays. None of these libraries is imported here."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hoplite.storage.property_values import storable
from hoplite.values.columns import (
    Booleans,
    Column,
    FloatLists,
    Floats,
    Integers,
    Strings,
    from_objects,
    object_array,
)
from hoplite.values.temporal import Date, DateTime, Duration, LocalDateTime, LocalTime, Time

_NANOS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
_SECOND = 10**9
_EPOCH = datetime.date(1970, 1, 1)


def table_columns(table: Any) -> tuple[int, dict[str, Column]]:
    """The number of rows of a table, and its columns by name. Every value is one that a property can hold."""
    if isinstance(table, Mapping):
        _refuse_names(table)
        columns = {str(name): _column(values) for name, values in table.items()}
    elif hasattr(table, "to_arrow"):  # Polars
        return table_columns(table.to_arrow())
    elif hasattr(table, "column_names"):  # Arrow
        _refuse_names(table.column_names)
        columns = {str(name): arrow_column(table.column(name)) for name in table.column_names}
        return int(table.num_rows), columns
    elif hasattr(table, "columns") and hasattr(table, "dtypes"):  # pandas
        _refuse_names(table.columns)
        columns = {str(name): _pandas_column(table[name]) for name in table.columns}
        return len(table), columns
    else:
        raise TypeError(
            f"expected a table, not {type(table).__name__}: an Arrow, pandas or Polars table, or a dict of arrays"
        )
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"columns differ in length: {lengths}")
    return next(iter(lengths.values()), 0), columns


def _refuse_names(given: Iterable[Any]) -> None:
    """Raise for columns that no property can be named after."""
    names = list(map(str, given))
    if "" in names:
        raise ValueError(f"column {names.index('') + 1} has no name: rename it, or leave it out")
    if len(set(names)) < len(names):
        raise ValueError(f"a name occurs twice among the columns: {', '.join(names)}")


def _column(values: Any) -> Column:
    """One column of a dict."""
    if isinstance(values, np.ma.MaskedArray):
        return _numpy_column(values.data, np.ma.getmaskarray(values))
    if isinstance(values, np.ndarray):
        return _numpy_column(values, None)
    if hasattr(values, "to_arrow"):
        return arrow_column(values.to_arrow())
    if hasattr(values, "to_pylist"):
        return arrow_column(values)
    if hasattr(values, "dtype") and hasattr(values, "isna"):
        return _pandas_column(values)
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise TypeError(f"a column must be an array or a list, not {type(values).__name__}")
    return _object_column(list(values))


def _numpy_column(values: NDArray[Any], nulls: NDArray[np.bool_] | None) -> Column:
    if values.ndim == 2 and values.dtype.kind == "f" and values.shape[1]:
        return _float_lists(values, nulls)
    if values.ndim != 1:
        return _object_column(values.tolist())
    match values.dtype.kind:
        case "b":
            return Booleans(values.astype(np.bool_), nulls)
        case "i":
            return Integers(values.astype(np.int64), nulls)
        case "u":
            if values.dtype.itemsize == 8 and len(values) and int(values.max()) >= 2**63:
                raise OverflowError(f"{int(values.max())} is beyond 64 bits with a sign")
            return Integers(values.astype(np.int64), nulls)
        case "f":
            return Floats(values.astype(np.float64), nulls)
        case "M" | "m":
            missing = np.isnat(values) if nulls is None else nulls | np.isnat(values)
            return _moments(values, missing)
        case "U":
            objects = object_array(values.tolist(), len(values))
            if nulls is not None:
                objects[nulls] = None
            return Strings(objects)
    objects = values.astype(object)
    if nulls is not None:
        objects[nulls] = None
    return _object_column(objects.tolist())


def _float_lists(values: NDArray[Any], nulls: NDArray[np.bool_] | None = None) -> Column:
    """The rows of a matrix as lists; those of 16 bits in 32."""
    missing = None if nulls is None else np.asarray(nulls.any(axis=1)) if nulls.ndim == 2 else nulls
    return FloatLists(values.astype(np.float64 if values.dtype.itemsize == 8 else np.float32), missing)


def _moments(values: NDArray[Any], missing: NDArray[np.bool_]) -> Column:
    unit, step = np.datetime_data(values.dtype)
    counts = values.astype(np.int64).tolist()
    if values.dtype.kind == "M" and unit == "D":
        made: Iterable[Any] = (Date(count * step) for count in counts)
    else:
        if unit not in _NANOS:
            raise TypeError(f"{values.dtype} cannot be a property")
        scale = _NANOS[unit] * step
        make = _local_moment if values.dtype.kind == "M" else _span
        made = (make(count * scale) for count in counts)
    rows = zip(missing.tolist(), made, strict=True)
    return from_objects([None if is_missing else value for is_missing, value in rows])


def _local_moment(nanos: int) -> LocalDateTime:
    return LocalDateTime.of_second(nanos // _SECOND, nanos % _SECOND)


def _span(nanos: int) -> Duration:
    return Duration(0, 0, nanos // _SECOND, nanos % _SECOND)


def _pandas_column(series: Any) -> Column:
    """Missing values (including NaN among floats) are null."""
    missing = series.isna().to_numpy()
    nulls = missing if missing.any() else None
    dtype = series.dtype
    if isinstance(dtype, np.dtype) and dtype.kind in "biufmM":
        return _numpy_column(series.to_numpy(), nulls)
    kind = getattr(dtype, "kind", "O")
    if (
        kind in "biuf" and not isinstance(dtype, np.dtype) and hasattr(dtype, "numpy_dtype")
    ):  # Int64, boolean and the like
        filled = series.fillna(0 if kind != "b" else False) if nulls is not None else series
        return _numpy_column(filled.to_numpy(dtype=dtype.numpy_dtype), nulls)
    objects = series.to_numpy(dtype=object, copy=True)
    objects[missing] = None
    return _object_column(objects.tolist())


def arrow_column(array: Any) -> Column:
    """One column of an Arrow table."""
    if hasattr(array, "combine_chunks"):
        array = array.combine_chunks()
        if hasattr(array, "num_chunks"):
            array = array.chunk(0) if array.num_chunks == 1 else array
    kind = str(array.type)
    nulls = array.is_null().to_numpy(zero_copy_only=False) if array.null_count else None
    if kind in (
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "float",
        "double",
        "halffloat",
    ):
        filled = array.fill_null(0) if nulls is not None else array
        return _numpy_column(filled.to_numpy(zero_copy_only=False), nulls)
    if kind == "bool":
        filled = array.fill_null(False) if nulls is not None else array
        return _numpy_column(filled.to_numpy(zero_copy_only=False), nulls)
    if kind == "date32[day]":  # as numbers: Python's dates end with the year 9999
        days = array.cast("int32").to_pylist()
        return from_objects([None if day is None else Date(day) for day in days])
    if kind in ("string", "large_string", "string_view"):
        return Strings(object_array(array.to_pylist(), len(array)))
    lists = _arrow_lists(array, nulls)
    return _object_column(array.to_pylist()) if lists is None else lists


def _arrow_lists(array: Any, nulls: NDArray[np.bool_] | None) -> Column | None:
    """A column of lists of floats, all of the same length; None for any other."""
    held = getattr(array.type, "value_type", None)
    if held is None or str(held) not in ("float", "double", "halffloat") or not hasattr(array, "flatten"):
        return None
    present = array if nulls is None else array.drop_null()
    items = present.flatten()
    length = len(items) // len(present) if len(present) else 0
    if not length or items.null_count:
        return None
    if not hasattr(array.type, "list_size"):
        lengths = present.value_lengths().to_numpy(zero_copy_only=False)
        if not bool((lengths == length).all()):
            return None
    found = items.to_numpy(zero_copy_only=False).reshape(-1, length)
    if nulls is None:
        return _float_lists(found)
    matrix = np.zeros((len(array), length), found.dtype)
    matrix[~nulls] = found
    return _float_lists(matrix, nulls)


def _object_column(values: list[Any]) -> Column:
    if set(map(type, values)) <= {str, type(None)}:
        return Strings(object_array(values, len(values))) if values else from_objects(values)
    rows = [value for value in values if value is not None]
    if all(isinstance(row, np.ndarray) and row.ndim == 1 and row.dtype.kind == "f" and len(row) for row in rows):
        return _array_lists(values, rows)
    lists = FloatLists.of(values)
    if lists is not None:
        return lists
    return from_objects([storable(_value(value)) for value in values])


def _array_lists(values: list[Any], rows: list[Any]) -> Column:
    """Arrays of floats as lists."""
    if len(set(map(len, rows))) > 1:
        return from_objects([None if value is None else value.astype(np.float64).tolist() for value in values])
    found = np.stack(rows)
    if len(rows) == len(values):
        return _float_lists(found)
    nulls = np.fromiter((value is None for value in values), np.bool_, len(values))
    matrix = np.zeros((len(values), found.shape[1]), found.dtype)
    matrix[~nulls] = found
    return _float_lists(matrix, nulls)


def _value(value: Any) -> Any:
    """A Python value as a property: numpy's scalars and the standard library's dates become ours."""
    match value:
        case bool() | int() | float() | str() | None:
            if type(value) is int and not -(2**63) <= value < 2**63:
                raise OverflowError(f"{value} is beyond 64 bits")
            return value
        case list() | tuple():
            return [_value(item) for item in value]
        case np.ndarray() | np.generic():
            return _value(value.tolist()) if not isinstance(value, np.datetime64 | np.timedelta64) else _moment(value)
        case datetime.datetime():
            local = _local_moment(
                (value.date() - _EPOCH).days * 86_400 * _SECOND + _nanosecond_of_day(value) + _below_micro(value)
            )
            return local if value.tzinfo is None else DateTime.of_local(local, _zone(value))
        case datetime.date():
            return Date((value - _EPOCH).days)
        case datetime.time():
            offset = value.utcoffset()
            local_time = LocalTime(_nanosecond_of_day(value))
            if offset is None:
                return local_time
            return Time(local_time.nanosecond_of_day, int(offset.total_seconds()))
        case datetime.timedelta():
            return Duration(0, value.days, value.seconds, value.microseconds * 1000)
    return value


def _moment(value: Any) -> Any:
    return _moments(np.array([value]), np.isnat(np.array([value]))).objects()[0]


def _nanosecond_of_day(value: datetime.datetime | datetime.time) -> int:
    seconds = (value.hour * 60 + value.minute) * 60 + value.second
    return seconds * _SECOND + value.microsecond * 1000


def _below_micro(value: datetime.datetime) -> int:
    """pandas' timestamps have nanoseconds."""
    return int(getattr(value, "nanosecond", 0))


def _zone(value: datetime.datetime) -> int | str:
    """The name of a zone that has one, else its offset in seconds."""
    name = getattr(value.tzinfo, "key", None) or getattr(value.tzinfo, "zone", None)
    if isinstance(name, str) and name not in ("UTC", "Z"):
        return name
    offset = value.utcoffset()
    return 0 if offset is None else int(offset.total_seconds())
