"""The k-hop retrieval of a database, with a type for each form of result."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload

from numpy.typing import NDArray

from hoplite.api.khop import KHop, KHopBatch, khop, khop_batch, khop_paths
from hoplite.errors import driver_errors

if TYPE_CHECKING:
    import pyarrow
    from neo4j.graph import Path

    from hoplite.engine.hops.select import BackendName
    from hoplite.storage.graph import Graph

Direction: TypeAlias = Literal["out", "in", "both"]


class Retrieval:
    """What is around some nodes, without Cypher text: docs/KHOP.md."""

    _backend: BackendName

    @property
    @abstractmethod
    def _graph(self) -> Graph: ...

    @abstractmethod
    def _deadline(self) -> Callable[[], None]: ...

    @overload
    def khop(
        self,
        seeds: Any,
        k: int,
        direction: Direction = "out",
        types: Sequence[str] | str | None = None,
        exact: bool = False,
        paths: Literal[False] = False,
        *,
        by: tuple[str, str] | None = None,
        batch: Literal[False] = False,
        arrow: Literal[False] = False,
    ) -> NDArray[Any]: ...

    @overload
    def khop(
        self,
        seeds: Any,
        k: int,
        direction: Direction = "out",
        types: Sequence[str] | str | None = None,
        exact: bool = False,
        paths: Literal[False] = False,
        *,
        by: tuple[str, str] | None = None,
        batch: Literal[False] = False,
        arrow: Literal[True],
    ) -> pyarrow.Array[Any]: ...

    @overload
    def khop(
        self,
        seeds: Any,
        k: int,
        direction: Direction = "out",
        types: Sequence[str] | str | None = None,
        exact: bool = False,
        paths: Literal[False] = False,
        *,
        by: tuple[str, str] | None = None,
        batch: Literal[True],
        arrow: Literal[False] = False,
    ) -> KHopBatch: ...

    @overload
    def khop(
        self,
        seeds: Any,
        k: int,
        direction: Direction = "out",
        types: Sequence[str] | str | None = None,
        exact: bool = False,
        paths: Literal[False] = False,
        *,
        by: tuple[str, str] | None = None,
        batch: Literal[True],
        arrow: Literal[True],
    ) -> pyarrow.LargeListArray[Any]: ...

    @overload
    def khop(
        self,
        seeds: Any,
        k: int,
        direction: Direction = "out",
        types: Sequence[str] | str | None = None,
        exact: bool = False,
        *,
        paths: Literal[True],
        by: tuple[str, str] | None = None,
        batch: Literal[False] = False,
        arrow: Literal[False] = False,
    ) -> list[Path]: ...

    @overload
    def khop(
        self,
        seeds: Any,
        k: int,
        direction: Direction = "out",
        types: Sequence[str] | str | None = None,
        exact: bool = False,
        *,
        paths: Literal[True],
        by: tuple[str, str] | None = None,
        batch: Literal[False] = False,
        arrow: Literal[True],
    ) -> pyarrow.Array[Any]: ...

    @overload
    def khop(
        self,
        seeds: Any,
        k: int,
        direction: Direction = "out",
        types: Sequence[str] | str | None = None,
        exact: bool = False,
        *,
        paths: Literal[True],
        by: tuple[str, str] | None = None,
        batch: Literal[True],
        arrow: Literal[False] = False,
    ) -> list[list[Path]]: ...

    @overload
    def khop(
        self,
        seeds: Any,
        k: int,
        direction: Direction = "out",
        types: Sequence[str] | str | None = None,
        exact: bool = False,
        *,
        paths: Literal[True],
        by: tuple[str, str] | None = None,
        batch: Literal[True],
        arrow: Literal[True],
    ) -> list[pyarrow.Array[Any]]: ...

    def khop(
        self,
        seeds: Any,
        k: int,
        direction: Direction = "out",
        types: Sequence[str] | str | None = None,
        exact: bool = False,
        paths: bool = False,
        *,
        by: tuple[str, str] | None = None,
        batch: bool = False,
        arrow: bool = False,
    ) -> Any:
        """The nodes within k hops of the seeds, or at exactly k hops if `exact`, by ascending distance.

        Seeds are ids as `id(n)` gives them, nodes of a result, or with `by=("Drug", "name")` values of that property on
        nodes with that label. The result is ids, or the same property, as a NumPy array, or as an Arrow array with
        `arrow`. With `batch`, `seeds` is a list of seed sets, and the result has `offsets` and `values`: set i has
        values[offsets[i]:offsets[i + 1]]; in Arrow, an array of lists. With `paths`, one shortest path to each of the
        nodes as a `neo4j.graph.Path`.
        """
        with driver_errors():
            asked = KHop(k, direction, types, exact, by, arrow)
            graph, check = self._graph.snapshot(), self._deadline()
            if paths:
                if batch:
                    return [khop_paths(graph, some, asked, self._backend, check) for some in seeds]
                return khop_paths(graph, seeds, asked, self._backend, check)
            return (khop_batch if batch else khop)(graph, seeds, asked, self._backend, check)
