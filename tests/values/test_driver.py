"""Values to the driver and back, and what it takes for parameters."""

from __future__ import annotations

import datetime
import enum
import re
import zoneinfo
from typing import Any, NamedTuple

import neo4j.spatial
import neo4j.time
import numpy as np
import pandas as pd
import pytest
import pytz  # type: ignore[import-untyped]

from hoplite.values.driver import from_driver, to_driver
from hoplite.values.spatial import CARTESIAN_3D, WGS_84, Point
from hoplite.values.temporal import Date, Duration, LocalDateTime, LocalTime, Time
from hoplite.values.temporal_parse import parse_date_time

_IN_PARIS = "2020-07-02T00:00:00+02:00[Europe/Paris]"


class _Colour(str, enum.Enum):  # noqa: UP042  (StrEnum shows what it holds)
    RED = "red"


class _Shown(str):
    def __str__(self) -> str:
        return "shown"


class _Pair(NamedTuple):
    first: int
    second: int


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        7,
        1.5,
        "a",
        b"a",
        [1, {"a": [None]}],
        Date.of(2020, 2, 29),
        LocalTime.of(1, 2, 3, 4),
        Time(5, -3600),
        Time(5, 3601),
        LocalDateTime(1, 2),
        parse_date_time("2020-06-01T12:00+01:30", 0),
        parse_date_time("2020-06-01T12:00[Europe/Paris]", 0),
        parse_date_time("2050-06-01T12:00[Europe/Paris]", 0),
        parse_date_time("1800-06-01T12:00[Europe/Paris]", 0),
        parse_date_time("2021-10-31T02:30+01:00[Europe/Paris]", 0),
        Duration(1, -2, -3, 4),
        Point(WGS_84, (1.0, 2.0)),
        Point(CARTESIAN_3D, (1.0, 2.0, 3.0)),
    ],
)
def test_values_come_back(value: Any) -> None:
    assert from_driver(to_driver(value)) == value


def test_the_driver_takes_the_offset_zero_for_the_zone_utc() -> None:
    moment = from_driver(to_driver(parse_date_time("2020-06-01T12:00Z", 0)))
    assert str(moment) == "2020-06-01T12:00:00Z[UTC]"


def test_the_types_are_the_drivers() -> None:
    assert to_driver(Date.of(2020, 1, 2)) == neo4j.time.Date(2020, 1, 2)
    moment = to_driver(parse_date_time("2020-06-01T12:00[Europe/Paris]", 0))
    assert isinstance(moment, neo4j.time.DateTime)
    assert moment.iso_format() == "2020-06-01T12:00:00.000000000+02:00"
    assert getattr(moment.tzinfo, "zone", None) == "Europe/Paris"
    assert isinstance(to_driver(Point(WGS_84, (1.0, 2.0))), neo4j.spatial.WGS84Point)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (datetime.date(2020, 1, 2), "2020-01-02"),
        (datetime.datetime(2020, 1, 2, 3, 4, 5, 6), "2020-01-02T03:04:05.000006"),
        (datetime.datetime(2020, 7, 2, tzinfo=zoneinfo.ZoneInfo("Europe/Paris")), _IN_PARIS),
        (pytz.timezone("Europe/Paris").localize(datetime.datetime(2020, 7, 2)), _IN_PARIS),
        (datetime.datetime(2020, 7, 2, 3, tzinfo=datetime.UTC), "2020-07-02T03:00:00Z"),
        (datetime.time(3, tzinfo=datetime.UTC), "03:00:00Z"),
        (datetime.timedelta(days=-1, microseconds=5), "P-1DT0.000005S"),
        (np.int64(3), "3"),
        (np.float32(1.5), "1.5"),
        (np.bool_(True), "True"),
        (np.array([[1, 2]]), "[[1, 2]]"),
        (np.datetime64("2020-01-01T00:00:00.5"), "2020-01-01T00:00:00.5"),
        (np.timedelta64(5, "ns"), "5"),
        (np.longdouble(1.5), "1.5"),
        (np.ma.array([1, 2]), "[1, 2]"),
        (pd.Timestamp("2020-01-01 00:00:00.123456789"), "2020-01-01T00:00:00.123456789"),
        (pd.Timedelta(days=2, nanoseconds=5), "PT48H0.000000005S"),
        (_Colour.RED, "red"),
        (_Shown("held"), "held"),
        ([_Colour.RED, 1], "['red', 1]"),
        ({_Colour.RED: 1}, "{'red': 1}"),
        (pd.NaT, "None"),
        (pd.Series([1, 2]), "[1, 2]"),
        (("a", 1), "['a', 1]"),
        (neo4j.time.Duration(months=1, seconds=-1, nanoseconds=-5), "P1MT-1.000000005S"),
    ],
)
def test_parameters(given: Any, text: str) -> None:
    assert str(from_driver(given)) == text


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        (2**63, OverflowError, "Integer 9223372036854775808 out of range"),
        (object(), ValueError, "Values of type <class 'object'> are not supported"),
        (pd.Index([1]), ValueError, "Values of type <class 'pandas"),
        (_Pair(1, 2), ValueError, "_Pair'> are not supported"),
        (np.array(5), TypeError, "len() of unsized object"),
        (np.ma.array([1, 2], mask=[False, True]), TypeError, "len() of unsized object"),
        (np.timedelta64(5, "h"), TypeError, "not 'datetime.timedelta'"),
        (np.timedelta64("NaT"), TypeError, "not 'NoneType'"),
        (np.complex128(1j), ValueError, "Values of type <class 'numpy.complex128'> are not supported"),
        ("\ud800", UnicodeEncodeError, "surrogates not allowed"),
        (["a", "\ud800"], UnicodeEncodeError, "surrogates not allowed"),
        ({"\ud800": 1}, UnicodeEncodeError, "surrogates not allowed"),
        (neo4j.spatial.Point((1, 2, 3, 4)), ValueError, "Cannot dehydrate Point with 4 dimensions"),
        ({1, 2}, ValueError, "Values of type <class 'set'> are not supported"),
        ({1: 2}, TypeError, "Map keys must be strings, not <class 'int'>"),
    ],
)
def test_what_is_no_parameter(given: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=re.escape(words)):
        from_driver(given)


def test_years_that_the_driver_does_not_know_break_the_record() -> None:
    broken = {"d": to_driver(Date.of(12345)), "l": to_driver([Date.of(-1)])}
    record = neo4j.Record(broken)  # type: ignore[no-untyped-call]
    with pytest.raises(neo4j.exceptions.BrokenRecordError):
        record["d"]
    with pytest.raises(neo4j.exceptions.BrokenRecordError):
        record["l"]
