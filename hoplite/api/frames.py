"""Results for other libraries: data frames of pandas and Polars, graphs of NetworkX.

Each library is an extra, imported when needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hoplite.extras import optional

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow
    from neo4j.graph import Entity, Graph


def to_pandas(names: Sequence[str], rows: Sequence[Sequence[Any]], types_dates: bool) -> pandas.DataFrame:
    """Rows as a data frame of the driver's values; on request, columns of dates are typed."""
    with optional("to_df"):
        import pandas
    frame = pandas.DataFrame(rows, columns=list(names))
    if types_dates:
        for place, name in enumerate(names):
            typed = _dates([row[place] for row in rows])
            if typed is not None:
                frame[name] = typed
    return frame


def _dates(values: Sequence[Any]) -> pandas.Series[Any] | None:
    """A column of dates, or of points in time, as such; None if it holds anything else, or what pandas cannot."""
    first = next((value for value in values if value is not None), None)
    if type(first).__name__ not in ("Date", "DateTime"):
        return None
    import pandas
    from neo4j.time import Date, DateTime

    kind = Date if isinstance(first, Date) else DateTime
    if not all(value is None or type(value) is kind for value in values):
        return None
    if kind is Date:
        return pandas.Series([None if value is None else value.iso_format() for value in values], dtype="datetime64[s]")
    if len({_has_zone(value) for value in values if value is not None}) > 1:
        return None
    try:
        stamps = [pandas.NaT if value is None else pandas.Timestamp(value.iso_format()) for value in values]
        zones = {str(value.tzinfo): value.tzinfo for value in values if value is not None}
        if len(zones) == 1 and (zone := next(iter(zones.values()))) is not None:
            return pandas.to_datetime(pandas.Series(stamps), utc=True).dt.tz_convert(zone)
        return pandas.to_datetime(pandas.Series(stamps), utc=None not in zones.values())
    except (ValueError, OverflowError):  # before 1677, after 2262
        return None


def _has_zone(value: Any) -> bool:
    return value.tzinfo is not None


def to_polars(table: pyarrow.Table) -> polars.DataFrame:
    """A table as a Polars data frame."""
    with optional("to_polars"):
        import polars
    frame = polars.from_arrow(table)
    assert isinstance(frame, polars.DataFrame)
    return frame


def to_networkx(graph: Graph) -> Any:
    """Nodes and relationships of a result as a MultiDiGraph, keyed and named like those of a whole database. Ends of
    relationships that were not returned themselves have no labels."""
    with optional("to_networkx"):
        import networkx  # type: ignore[import-untyped]
    from hoplite.storage.exporters.networkx import attribute_name

    network = networkx.MultiDiGraph()
    for node in graph.nodes:
        attributes = {attribute_name(key): value for key, value in node.items()}
        network.add_node(_id(node), **attributes, labels=tuple(sorted(node.labels)))
    for relationship in graph.relationships:
        start, end = relationship.nodes
        assert start is not None and end is not None
        attributes = {attribute_name(key): value for key, value in relationship.items()}
        network.add_edge(_id(start), _id(end), key=_id(relationship), **attributes, type=relationship.type)
    return network


def _id(entity: Entity) -> int:
    """The value of id(), without the driver's warning about its attribute of that name."""
    return int(entity.element_id.rpartition(":")[2])
