"""What a database offers to programs whose Cypher a model writes: schema texts, bounded statements, questions."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from hoplite.engine.catalogue import GraphCatalogue
from hoplite.engine.parameters import parameter_types
from hoplite.errors import driver_errors
from hoplite.storage.disk.cache import byte_count
from hoplite.values.driver import from_parameters

if TYPE_CHECKING:
    from hoplite.api.database import Database
    from hoplite.models.ask import Asked
    from hoplite.models.ask_endpoint import Decoding
    from hoplite.models.facts import Facts
    from hoplite.models.problems import Check, Repair
    from hoplite.models.repair import Mender
    from hoplite.models.schema_text import Form
    from hoplite.models.untrusted import Answer
    from hoplite.planner.notifications import Notification
    from hoplite.storage.snapshot import Snapshot


class ForModels:
    """The part of a database that serves models; implemented in `hoplite.models`."""

    @property
    def _database(self) -> Database:
        return cast("Database", self)

    def schema_text(
        self,
        question: str | None = None,
        *,
        form: Form = "text",
        max_tokens: int | None = 2_000,
        max_values: int = 10,
    ) -> str:
        """The schema as text for a prompt: labels and types with their properties and values, and the patterns that
        occur, with counts. (docs/MODELS.md)

        `form` is "text", "json" or "cypher". Beyond `max_tokens` the least important parts are left out; what a
        `question` mentions is kept first. All values of a property are listed if there are at most `max_values`.
        """
        from hoplite.models.schema_text import schema_text

        schema = self._facts_about(self._database._graph.snapshot()).schema(max_values)
        return schema_text(schema, question, form=form, max_tokens=max_tokens)

    def repair(self, query: str, parameters: Mapping[str, Any] | None = None, /, **params: Any) -> Repair:
        """A query that a model wrote, with everything fixed that provably fails or finds nothing; see docs/MODELS.md.

        `.query` is the text to run, unchanged if there is nothing to fix; `.changes` says what was changed and why,
        `.problems` what is wrong and was left alone. Nothing is run.
        """
        with driver_errors():
            given = from_parameters({**(parameters or {}), **params}, self._database._limits.allowance())
            return self._mender(given).repair(query)

    def check(self, query: str, parameters: Mapping[str, Any] | None = None, /, **params: Any) -> Check:
        """What is wrong with a query, as data (`.problems`) and as text for a prompt (`str()`)."""
        with driver_errors():
            return self._check(
                query, from_parameters({**(parameters or {}), **params}, self._database._limits.allowance())
            )

    def _check(self, query: str, given: Mapping[str, Any]) -> Check:
        return self._mender(given).check(query)

    def _mender(self, given: Mapping[str, Any]) -> Mender:
        from hoplite.models.repair import Mender

        database = self._database
        graph = database._graph.snapshot()
        catalogue = GraphCatalogue(graph, database._functions, database._procedures)
        return Mender(self._facts_about(graph), catalogue, parameter_types(given))

    def _facts_about(self, graph: Snapshot) -> Facts:
        """What is known about a version of the graph; what was found out about the latest one is remembered."""
        from hoplite.models.facts import Facts, Memory

        database = self._database
        memory = database._facts
        if memory is None or memory.version != graph.version:
            memory = database._facts = Memory(graph.version)
        return Facts(graph, memory)

    def _hints(self, text: str, parameters: Mapping[str, Any]) -> Sequence[str]:
        from hoplite.models.hints import Hints

        return Hints(self._database, text, parameters)

    def _hinted(
        self, notifications: tuple[Notification, ...], text: str, parameters: Mapping[str, Any]
    ) -> tuple[Notification, ...]:
        """Notifications about names that the database does not have come with suggestions."""
        return tuple(
            replace(said, hints=self._hints(text, parameters)) if said.category == "UNRECOGNIZED" else said
            for said in notifications
        )

    def run_untrusted(
        self,
        query: str,
        parameters: Mapping[str, Any] | None = None,
        *,
        rows: int = 1_000,
        bytes: int = 1_000_000,
        seconds: float = 10.0,
        memory: str | int = "256MB",
        estimated_rows: float | None = 10_000_000,
        writes: Iterable[str] = (),
        procedures: Iterable[str] | None = None,
        functions: Iterable[str] | None = None,
        cursor: str | None = None,
        stop: threading.Event | None = None,
    ) -> Answer:
        """Judge an untrusted statement by its syntax tree and its plan, run it within bounds, and answer with JSON
        values; errors are in the answer too. (docs/MODELS.md)

        It may not read files, reach the network, change the schema, or write other than by the kinds in `writes`
        ("create", "merge", "set", "remove", "delete"). `procedures` and `functions` are patterns of the names that it
        may call, such as "apoc.text.*"; without them, those of Hoplite that only read. It is not started if an operator
        is expected to make more than `estimated_rows`. Rows beyond `rows` or `bytes` follow in a call with the `cursor`
        of the answer. Another thread sets `stop` to end the statement.
        """
        from hoplite.models.untrusted import Bounds, run_untrusted
        from hoplite.models.untrusted_judge import Policy

        bounds = Bounds(rows, bytes, seconds, byte_count(memory, "memory"))
        policy = Policy.of(writes, procedures, functions, estimated_rows)
        return run_untrusted(self._database, query, parameters or {}, bounds, policy, cursor, stop)

    def ask(
        self,
        question: str,
        model: Callable[[str], str] | str,
        *,
        examples: Sequence[tuple[str, str]] = (),
        attempts: int = 3,
        max_tokens: int = 2_000,
        decoding: Decoding | None = None,
        **bounds: Any,
    ) -> Asked:
        """Have a model write a query for a question in plain words, repair it, run it within bounds, and give the
        evidence for its rows. (docs/MODELS.md)

        `model` takes a prompt and returns a text, or is "NAME@URL" of an OpenAI-compatible endpoint, with `decoding`.
        If a query fails or finds nothing, the model is told and asked again, `attempts` times in all. `examples` are
        questions with their queries; `bounds` are those of `run_untrusted`.
        """
        from hoplite.models.ask import ask

        said: dict[str, Any] = {"examples": examples, "attempts": attempts, "max_tokens": max_tokens}
        return ask(self._database, question, model, decoding=decoding, bounds=bounds, **said)
