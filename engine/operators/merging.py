"""MERGE: for each row the matches of a pattern; where there are none, the pattern is made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hoplite.engine.batch import Batch, concatenate_batches
from hoplite.engine.context import Execution
from hoplite.engine.operators.apply import numbered
from hoplite.engine.operators.base import Operator
from hoplite.engine.operators.making import Maker, NodeToMake, RelationshipToMake, ToMake, made_columns
from hoplite.engine.operators.setting import Setter, ToSet
from hoplite.errors import semantic_error
from hoplite.grammar.hidden import HIDDEN
from hoplite.values.render import to_string


@dataclass(slots=True, eq=False)
class Merge:
    """For each row the matches of a pattern; where there are none, the pattern is made."""

    match: Operator
    imports: tuple[str, ...]
    added: tuple[str, ...]
    creations: tuple[ToMake, ...]
    on_create: tuple[ToSet, ...]
    on_match: tuple[ToSet, ...]

    def apply(self, batch: Batch, context: Execution) -> Batch:
        """The rows with their matches, or with what was made for them."""
        maker = Maker(self.creations, batch, context)
        results: list[Batch] = []
        for row in range(batch.row_count):
            context.check()
            self._refuse_known(maker, row)
            one = batch.rows(row, row + 1)
            found = [f for f in self.match.run(context, numbered(one, self.imports)) if f.row_count]
            if found:
                matches = concatenate_batches(found)
                many = one.take(np.zeros(matches.row_count, np.int64))
                result = many.with_columns({name: matches[name] for name in self.added})
                items = self.on_match
            else:
                made = maker.make(row, refuse=self._refuse)
                result = one.with_columns(made_columns(self.creations, [made]))
                items = self.on_create
            if items:
                setter = Setter(items, result, context)
                for each in range(result.row_count):
                    setter.set(each)
            results.append(result)
        return concatenate_batches(results) if results else batch

    def _refuse_known(self, maker: Maker, row: int) -> None:
        """Refuse what can be seen before matching."""
        for creation, values in zip(self.creations, maker.values, strict=True):
            if values is not None:
                self._refuse(creation, values(row))

    def _refuse(self, creation: ToMake, value: Any) -> None:
        """A pattern with a property that equals nothing, null or NaN, can be neither matched nor made."""
        if not isinstance(value, dict):
            return
        for key, item in value.items():
            if item is None or item != item:
                kind, pattern = self._described(creation, value)
                what = "null" if item is None else "NaN"
                raise semantic_error(
                    f"Cannot merge the following {kind} because of {what} property value for '{key}': {pattern}"
                )

    def _described(self, creation: ToMake, value: dict[str, Any]) -> tuple[str, str]:
        """What is refused, and the pattern as messages show it."""
        shown = ", ".join(f"{k}: {_shown(v)}" for k, v in value.items())
        match creation:
            case NodeToMake(labels=labels):
                names = "".join(f":{label}" for label in labels if isinstance(label, str))
                return "node", f"({names} {{{shown}}})"
            case RelationshipToMake(type=type_, start=start, end=end):
                name = f":{type_}" if isinstance(type_, str) else ""
                return "relationship", f"({_visible(start)})-[{name} {{{shown}}}]->({_visible(end)})"


def _visible(name: str) -> str:
    return "" if name.startswith(HIDDEN) else name


def _shown(value: Any) -> str:
    return "null" if value is None else "NaN" if value != value else to_string(value)
