"""The temporal functions: date(), datetime.truncate(), duration.between() and the like.

The five types of instants have the same functions, registered from `_KINDS`, which says what differs. Parsing, building
and truncating values is in `hoplite.values`; here are arguments, clocks and signature errors.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from hoplite.engine.functions.arguments import is_number
from hoplite.engine.functions.entities import properties_of
from hoplite.engine.functions.registry import cypher_function, named
from hoplite.errors import PROCEDURE_CALL_FAILED, CypherError, argument_error, cypher_error, type_error
from hoplite.gql_status import status
from hoplite.lazy_dataclass import dataclass
from hoplite.planner.types import (
    ANY,
    DATE,
    DATE_TIME,
    DURATION,
    INTEGER,
    LOCAL_DATE_TIME,
    LOCAL_TIME,
    MAP,
    NODE,
    NUMBER,
    RELATIONSHIP,
    STRING,
    TIME,
    CypherType,
    sql_name,
)
from hoplite.values import temporal_arithmetic, temporal_make, temporal_parse, temporal_truncate
from hoplite.values.calendar import NANOS_PER_SECOND, FieldError
from hoplite.values.duration_make import make_duration
from hoplite.values.entities import NodeRef, RelationshipRef
from hoplite.values.render import describe
from hoplite.values.temporal import (
    INSTANT_TYPES,
    Date,
    DateTime,
    Duration,
    Instant,
    LocalDateTime,
    LocalTime,
    Time,
)
from hoplite.values.temporal_fields import clock_part, component, date_part
from hoplite.values.zones import parse_zone

if TYPE_CHECKING:
    from hoplite.engine.context import Execution

_CATEGORY = "Temporal"
_LEFT_OUT: Any = object()
_DEFAULT = "DEFAULT_TEMPORAL_ARGUMENT"

# The seconds that java.time.Instant can hold.
_FIRST_INSTANT, _LAST_INSTANT = -31_557_014_167_219_200, 31_556_889_864_403_199


@dataclass(frozen=True, slots=True)
class _Kind:
    """What is specific to one type of instant; its functions get the zone to use if none is given."""

    name: str
    type: CypherType
    java_name: str
    parse: Callable[[str, int | str], Instant]
    make: Callable[[dict[str, Any], int | str], Instant]
    select: Callable[[Instant, int | str], Instant]
    truncate: Callable[[str, Instant, dict[str, Any], int | str], Instant]
    of_moment: Callable[[DateTime], Instant]


def _select_date_time(value: Instant, zone: int | str) -> DateTime:
    if isinstance(value, DateTime):
        return value
    if isinstance(value, LocalDateTime):
        return DateTime.of_local(value, zone)
    raise type_error(f"Cannot select datetime from: {value}")


_DATE_TIME_KIND = _Kind(
    "datetime",
    DATE_TIME,
    "DateTimeFunction",
    temporal_parse.parse_date_time,
    temporal_make.make_date_time,
    _select_date_time,
    temporal_truncate.truncate_date_time,
    lambda moment: moment,
)
_KINDS = (
    _Kind(
        "date",
        DATE,
        "DateFunction",
        lambda text, zone: temporal_parse.parse_date(text),
        lambda fields, zone: temporal_make.make_date(fields),
        lambda value, zone: Date(date_part(value)),
        lambda unit, value, fields, zone: temporal_truncate.truncate_date(unit, value, fields),
        lambda moment: Date(moment.local.epoch_day),
    ),
    _Kind(
        "localtime",
        LOCAL_TIME,
        "LocalTimeFunction",
        lambda text, zone: temporal_parse.parse_local_time(text),
        lambda fields, zone: temporal_make.make_local_time(fields),
        lambda value, zone: LocalTime(clock_part(value)),
        lambda unit, value, fields, zone: temporal_truncate.truncate_local_time(unit, value, fields),
        lambda moment: LocalTime(clock_part(moment)),
    ),
    _Kind(
        "time",
        TIME,
        "TimeFunction",
        temporal_parse.parse_time,
        temporal_make.make_time,
        temporal_make.time_of,
        temporal_truncate.truncate_time,
        lambda moment: Time(clock_part(moment), moment.offset_seconds),
    ),
    _Kind(
        "localdatetime",
        LOCAL_DATE_TIME,
        "LocalDateTimeFunction",
        lambda text, zone: temporal_parse.parse_local_date_time(text),
        lambda fields, zone: temporal_make.make_local_date_time(fields),
        lambda value, zone: LocalDateTime(date_part(value), clock_part(value)),
        lambda unit, value, fields, zone: temporal_truncate.truncate_local_date_time(unit, value, fields),
        lambda moment: moment.local,
    ),
    _DATE_TIME_KIND,
)


def _wrong_call(function: str, *arguments: Any) -> CypherError:
    """`Invalid call signature for DateFunction: Provided input was [Long(1)]`"""
    given = ", ".join(map(describe, arguments))
    message = f"Invalid call signature for {function}: Provided input was [{given}]"
    return cypher_error(PROCEDURE_CALL_FAILED, message)


def _default_zone(context: Execution) -> int | str:
    """The zone of values without one; UTC counts as the offset Z, like a server's default."""
    return 0 if context.default_zone == "UTC" else parse_zone(context.default_zone)


def _now(kind: _Kind, moment: DateTime, zone: int | str) -> Instant:
    """The time of a moment on a clock in the zone."""
    return kind.of_moment(DateTime.of_instant(moment.epoch_second, moment.nanosecond, zone))


def _real_time() -> DateTime:
    seconds, nanosecond = divmod(time.time_ns(), NANOS_PER_SECOND)
    return DateTime(seconds, nanosecond, 0)


# --- instants ---


def _register_constructor(kind: _Kind) -> None:
    title = sql_name(kind.type)
    description = f"Creates a `{title}` instant."

    @cypher_function(
        kind.name,
        args=(named("input", ANY, optional=True),),
        returns=kind.type,
        category=_CATEGORY,
        description=description,
        nulls="handle",
        needs_context=True,
        forms=((f"{kind.name}(input = {_DEFAULT} :: ANY) :: {title}", description),),
    )
    def construct(context: Execution, value: Any = _LEFT_OUT) -> Instant | None:
        return _construct(kind, context, value)


def _construct(kind: _Kind, context: Execution, value: Any) -> Instant | None:
    """From a text, a map or another instant; now, if there is no argument."""
    if value is None:
        return None
    zone = _default_zone(context)
    if value is _LEFT_OUT:
        return _now(kind, context.statement_time, zone)
    if isinstance(value, str):
        return kind.parse(value, zone)
    if isinstance(value, INSTANT_TYPES):
        return kind.select(value, zone)
    if isinstance(value, dict):
        named_zone = _only_zone(value)
        if named_zone is not None:
            return _now(kind, context.statement_time, temporal_parse.read_zone(named_zone))
        return kind.make(value, zone)
    raise _wrong_call(kind.java_name, value)


def _only_zone(fields: dict[str, Any]) -> str | None:
    """The zone in `{timezone: ...}` alone, which asks for the current time there."""
    if len(fields) != 1:
        return None
    ((key, zone),) = fields.items()
    return zone if key.lower() == "timezone" and isinstance(zone, str) else None


def _register_clocks(kind: _Kind) -> None:
    """`date.transaction()`, `date.statement()` and `date.realtime()`."""
    clocks: dict[str, Callable[[Execution], DateTime]] = {
        "transaction": lambda context: context.transaction_time,
        "statement": lambda context: context.statement_time,
        "realtime": lambda context: _real_time(),
    }
    for name, clock in clocks.items():
        _register_clock(kind, name, clock)


def _register_clock(kind: _Kind, name: str, clock: Callable[[Execution], DateTime]) -> None:
    title = sql_name(kind.type)
    description = f"Returns the current `{title}` instant using the {name} clock."

    @cypher_function(
        f"{kind.name}.{name}",
        args=(named("timezone", ANY, optional=True),),
        returns=kind.type,
        category=_CATEGORY,
        description=description,
        nulls="handle",
        needs_context=True,
        deterministic=name != "realtime",
        forms=((f"{kind.name}.{name}(timezone = {_DEFAULT} :: ANY) :: {title}", description),),
    )
    def current(context: Execution, zone: Any = _LEFT_OUT) -> Instant | None:
        if zone is None:
            return None
        if zone is _LEFT_OUT:
            return _now(kind, clock(context), _default_zone(context))
        if not isinstance(zone, str):
            raise _wrong_call("Now", zone)
        return _now(kind, clock(context), temporal_parse.read_zone(zone))


def _register_truncate(kind: _Kind) -> None:
    title = sql_name(kind.type)
    description = f"Truncates the given temporal value to a `{title}` instant using the specified unit."
    signature = f"{kind.name}.truncate(unit :: STRING, input = {_DEFAULT} :: ANY, fields = null :: MAP) :: {title}"

    @cypher_function(
        f"{kind.name}.truncate",
        args=(
            named("unit", STRING),
            named("input", ANY, optional=True),
            named("fields", MAP, NODE, RELATIONSHIP, optional=True),
        ),
        returns=kind.type,
        category=_CATEGORY,
        description=description,
        nulls="handle",
        needs_context=True,
        forms=((signature, description),),
    )
    def truncate(context: Execution, unit: Any, value: Any = _LEFT_OUT, fields: Any = None) -> Instant:
        if unit is not None and not isinstance(unit, str):
            raise type_error(f"Can't coerce `{describe(unit)}` to String")
        if fields is not None and not isinstance(fields, dict | NodeRef | RelationshipRef):
            raise type_error(f"Can't coerce `{describe(fields)}` to Map")
        if isinstance(fields, NodeRef | RelationshipRef):
            fields = properties_of(context, fields)
        zone = _default_zone(context)
        if unit is not None and value is _LEFT_OUT:
            value = _now(kind, context.statement_time, zone)
        if unit is None or not isinstance(value, INSTANT_TYPES):
            shown = "DEFAULT_TEMPORAL_ARGUMENT" if value is _LEFT_OUT else value
            raise _wrong_call("Truncate", unit, shown, fields)
        temporal_truncate.check_unit(unit)
        return kind.truncate(unit, value, fields or {}, zone)


_TIMESTAMP_DESCRIPTION = (
    "Returns the difference, measured in milliseconds, between the current time and midnight, January 1, 1970 UTC"
)


@cypher_function(
    "timestamp",
    args=(named("input", ANY, optional=True),),
    returns=INTEGER,
    category="Scalar",
    description=_TIMESTAMP_DESCRIPTION,
    nulls="handle",
    needs_context=True,
    forms=(("timestamp() :: INTEGER", _TIMESTAMP_DESCRIPTION),),
)
def timestamp(context: Execution, value: Any = _LEFT_OUT) -> Any:
    """Short for `datetime(value).epochMillis`; constant throughout a statement."""
    moment = _construct(_DATE_TIME_KIND, context, value)
    return None if moment is None else component(moment, "epochMillis")


for _kind in _KINDS:
    _register_constructor(_kind)
    _register_clocks(_kind)
    _register_truncate(_kind)


@cypher_function(
    "datetime.fromepoch",
    args=(named("seconds", NUMBER), named("nanoseconds", NUMBER)),
    returns=DATE_TIME,
    category=_CATEGORY,
    description="Creates a `ZONED DATETIME` given the seconds and nanoseconds since the start of the epoch.",
    nulls="handle",
    forms=(
        (
            "datetime.fromepoch(seconds :: INTEGER | FLOAT, nanoseconds :: INTEGER | FLOAT) :: ZONED DATETIME",
            "Creates a `ZONED DATETIME` given the seconds and nanoseconds since the start of the epoch.",
        ),
    ),
)
def from_epoch(seconds: Any, nanoseconds: Any) -> DateTime:
    """`datetime.fromepoch(0, 1)` is 1970-01-01T00:00:00.000000001Z."""
    _check_numbers(seconds, nanoseconds)
    if not (_is_integer(seconds) and _is_integer(nanoseconds)):
        raise _wrong_call("FromEpoch", seconds, nanoseconds)
    if not 0 <= nanoseconds < NANOS_PER_SECOND:
        cause = status("22N03", "Nanosecond", "INTEGER", 0, NANOS_PER_SECOND - 1, nanoseconds).under("22007")
        raise argument_error(f"Invalid nanosecond: {nanoseconds}", cause)
    return _instant(seconds, nanoseconds)


@cypher_function(
    "datetime.fromepochmillis",
    args=(named("milliseconds", NUMBER),),
    returns=DATE_TIME,
    category=_CATEGORY,
    description="Creates a `ZONED DATETIME` given the milliseconds since the start of the epoch.",
    nulls="handle",
    forms=(
        (
            "datetime.fromepochmillis(milliseconds :: INTEGER | FLOAT) :: ZONED DATETIME",
            "Creates a `ZONED DATETIME` given the milliseconds since the start of the epoch.",
        ),
    ),
)
def from_epoch_millis(milliseconds: Any) -> DateTime:
    """`datetime.fromepochmillis(-1)` is 1969-12-31T23:59:59.999Z."""
    _check_numbers(milliseconds)
    if not _is_integer(milliseconds):
        raise _wrong_call("FromEpochMillis", milliseconds)
    seconds, millisecond = divmod(milliseconds, 1000)
    return _instant(seconds, millisecond * 1_000_000)


def _check_numbers(*values: Any) -> None:
    for value in values:
        if value is not None and not is_number(value):
            raise type_error(f"Can't coerce `{describe(value)}` to Number")


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _instant(seconds: int, nanosecond: int) -> DateTime:
    if not _FIRST_INSTANT <= seconds <= _LAST_INSTANT:
        raise argument_error("Instant exceeds minimum or maximum instant")
    try:
        return DateTime.of_instant(seconds, nanosecond, 0)
    except FieldError as error:
        raise argument_error(str(error)) from None


# --- durations ---


@cypher_function(
    "duration",
    args=(named("input", ANY),),
    returns=DURATION,
    category=_CATEGORY,
    description="Creates a `DURATION` value.",
)
def duration(value: Any) -> Duration:
    """From a text (`'P1DT12H'`) or a map (`{days: 1.5}`)."""
    if isinstance(value, str):
        return temporal_parse.parse_duration(value)
    if isinstance(value, dict):
        return make_duration(value)
    raise _wrong_call("DurationFunction", value)


def _register_between(name: str, units: str, compute: Callable[[Instant, Instant], Duration]) -> None:
    @cypher_function(
        f"duration.{name}",
        args=(named("from", ANY), named("to", ANY)),
        returns=DURATION,
        category=_CATEGORY,
        description="Computes the `DURATION` between the `from` instant (inclusive) and the `to` instant (exclusive) "
        f"in {units}.",
    )
    def between(start: Any, end: Any) -> Duration:
        if not (isinstance(start, INSTANT_TYPES) and isinstance(end, INSTANT_TYPES)):
            raise _wrong_call("Between", start, end)
        return compute(start, end)


_register_between("between", "logical units", temporal_arithmetic.duration_between)
_register_between("inMonths", "months", temporal_arithmetic.months_between)
_register_between("inDays", "days", temporal_arithmetic.days_between)
_register_between("inSeconds", "seconds", temporal_arithmetic.seconds_between)
