"""From questions to contexts: the entities that a question names, the facts around them, and how a mode writes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import hoplite
from examples.kg_rag.decompose import Ask, Entity, evident, gather, vote
from examples.kg_rag.facts import Fact, Facts, Pruning
from examples.kg_rag.modes import context, prompt, within
from examples.kg_rag.questions import Question
from hoplite.models.schema_text import token_count
from hoplite.retrieval import Embed, Linker

Tokens = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Built:
    """The context of a question in one mode, and what a model is told to do with it."""

    mode: int
    question: Question
    entities: tuple[Entity, ...]
    facts: list[Fact]
    advice: str = ""
    quality: float = 0.0

    @property
    def text(self) -> str:
        """The facts as the mode writes them."""
        return context(self.mode, self.facts)

    @property
    def prompt(self) -> str:
        """What a model is asked."""
        return prompt(self.mode, self.question.text, self.facts, self.advice)

    @property
    def has_gold(self) -> bool:
        """Whether a fact of the context names the right answer."""
        return any(self.question.gold in (fact.start, fact.end) for fact in self.facts)

    @property
    def answers_it(self) -> str:
        """The option that the facts alone speak for, if they do."""
        return evident(self.facts, [one.name for one in self.entities], self.question.options)


class Builder:
    """Makes contexts over a graph whose entities have the property `name`.

    `spotter` finds what a question mentions, `linker` the node that a mention stands for; the two differ where more
    names are known than the graph has nodes for.
    """

    def __init__(
        self,
        db: hoplite.Database,
        embed: Embed,
        linker: Linker,
        spotter: Linker | None = None,
        *,
        least_link: float = 0.6,
        tokens: Tokens = token_count,
    ) -> None:
        self.facts = Facts(db, embed)
        self._db = db
        self._linker = linker
        self._spotter = spotter or linker
        self._least = least_link
        self._tokens = tokens

    def entities(self, questions: Sequence[Question]) -> tuple[list[tuple[Entity, ...]], list[list[str]]]:
        """The nodes that each question names, and its mentions, found or not. Options are not looked at."""
        spotted = self._spotter.spot([_asked(one) for one in questions])
        mentions = [list(dict.fromkeys(place.text for place in places)) for places in spotted]
        every = sorted({mention for some in mentions for mention in some})
        best = dict(zip(every, self._linker.link(every, most=1, least=self._least).best().tolist(), strict=True))
        nodes = sorted({node for node in best.values() if node >= 0})
        rows = self._db.run("MATCH (n) WHERE id(n) IN $nodes RETURN id(n), n.name", nodes=nodes).values()
        known = {node: Entity(node, name) for node, name in rows}
        found = [tuple(dict.fromkeys(known[best[one]] for one in some if best[one] >= 0)) for some in mentions]
        return found, mentions

    def build(
        self, mode: int, questions: Sequence[Question], *, pruning: Pruning | None = None, blind: bool = False
    ) -> list[Built]:
        """The contexts of many questions. If `blind`, the options are not looked at: as for an open question."""
        pruning = pruning or Pruning()
        named, mentions = self.entities(questions)
        self.facts.fetch(one.node for some in named for one in some)
        vectors = self.facts.vectors([_asked(one) if blind else one.text for one in questions])
        made = []
        for question, entities, mentioned, vector in zip(questions, named, mentions, vectors, strict=True):
            if mode == 30:
                options = () if blind else question.options
                found = gather(self.facts, entities, len(mentioned), options, pruning)
                built = Built(mode, question, entities, found.facts[: pruning.most], found.advice, found.quality)
            else:
                facts = self.facts.similar([one.node for one in entities], vector, pruning)
                built = Built(mode, question, entities, facts)
            made.append(built)
        return made

    def cut(self, built: Built, budget: int) -> Built:
        """The same context within a number of tokens."""
        return replace(built, facts=within(built.mode, built.facts, budget, self._tokens))

    def token_count(self, built: Built) -> int:
        """How long the context is."""
        return self._tokens(built.text) if built.facts else 0


def _asked(question: Question) -> str:
    """The question without its options, which are names of other things."""
    text = question.text
    for option in question.options:
        text = text.replace(option, " ")
    return text


def answer(contexts: Sequence[Built], models: Sequence[Ask]) -> Mapping[str, str]:
    """The choice for each question: of the first model, or in mode 30 of the vote of all."""
    return {
        one.question.text: vote(one.prompt, models if one.mode == 30 else models[:1], one.question.options)
        for one in contexts
    }
