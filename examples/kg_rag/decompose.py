"""Mode 30: a question is taken apart, facts are looked for in four ways, and what they are worth decides what follows.

parts        one for each entity of the question, and one for what they have in common
strategies   direct    relationships between an entity and an option
             shared    what the entities have in common
             similar   the facts around an entity that are closest to its part of the question
             paths     two relationships from an entity to an option
quality      0 to 1: entities found, parts with facts, options told apart
reasoning    by quality: from the context, step by step, or from the model's own knowledge
vote         the answer that most temperatures give; a tie goes to the lowest temperature
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from examples.kg_rag.facts import Fact, Facts, Pruning
from examples.kg_rag.questions import chosen

Ask = Callable[[str], str]
STRATEGIES = ("direct", "shared", "similar", "paths")
TEMPERATURES = (0.0, 0.3, 0.7)

_ADVICE = (
    # the least quality, and what a model is told at it
    (0.7, "The context is good: take the answer from it."),
    (0.4, "The context is incomplete: reason step by step, option by option, and say which facts speak for each."),
    (0.0, "The context says little: answer from what you know, and use the context only to rule options out."),
)


@dataclass(frozen=True, slots=True)
class Entity:
    """A node that the question names."""

    node: int
    name: str


@dataclass(frozen=True, slots=True)
class Part:
    """A question about some of the entities."""

    text: str
    entities: tuple[Entity, ...]


@dataclass(frozen=True, slots=True)
class Gathered:
    """Facts, the direct ones first, how many each strategy added, and what they are worth."""

    facts: list[Fact]
    added: dict[str, int]
    quality: float

    @property
    def advice(self) -> str:
        """How a model should reason with them."""
        return next(text for least, text in _ADVICE if self.quality >= least)


def parts_of(entities: Sequence[Entity], options: Sequence[str]) -> list[Part]:
    """A question about each entity, and one about what they share."""
    out_of = f", out of {', '.join(options)}" if options else ""
    parts = [Part(f"What is associated with {one.name}{out_of}?", (one,)) for one in entities]
    if len(entities) > 1:
        names = " and ".join(one.name for one in entities)
        parts.append(Part(f"What do {names} have in common{out_of}?", tuple(entities)))
    return parts


def gather(
    facts: Facts, entities: Sequence[Entity], asked_for: int, options: Sequence[str], pruning: Pruning
) -> Gathered:
    """Facts for a question that names `asked_for` entities, of which these were found."""
    ways: dict[str, list[Fact]] = {strategy: [] for strategy in STRATEGIES}
    parts = parts_of(entities, options)
    filled = 0
    vectors = list(facts.vectors([part.text for part in parts])) if parts else []
    for part, vector in zip(parts, vectors, strict=True):
        nodes = [one.node for one in part.entities]
        if len(nodes) == 1:
            answering = facts.direct(nodes, options)
            ways["direct"] += answering
            ways["similar"] += facts.similar(nodes, vector, pruning)
            ways["paths"] += facts.paths(nodes, options)
        else:
            answering = facts.shared(nodes, options)
            ways["shared"] += answering
        filled += bool(answering)
    found: dict[Fact, str] = {}  # with the strategy that first has it
    for strategy in STRATEGIES:
        for fact in ways[strategy]:
            found.setdefault(fact, strategy)
    ordered = list(found)
    counts = Counter(found.values())
    told_apart = float(evident(ordered, [one.name for one in entities], options) != "")
    linked = len(entities) / max(asked_for, 1)
    quality = (min(linked, 1.0) + filled / max(len(parts), 1) + told_apart) / 3
    return Gathered(ordered, {strategy: counts[strategy] for strategy in STRATEGIES}, quality)


def evident(facts: Sequence[Fact], entities: Sequence[str], options: Sequence[str]) -> str:
    """The option that the facts connect with more of the entities than any other; nothing where none stands out.

    This is what a reader would answer who believes the context and knows nothing else.
    """
    joined = {pair for fact in facts for pair in ((fact.start, fact.end), (fact.end, fact.start))}
    support = {option: sum((name, option) in joined for name in entities) for option in options}
    best = max(support.values(), default=0)
    leading = [option for option, count in support.items() if count == best]
    return leading[0] if best and len(leading) == 1 else ""


def vote(prompt: str, models: Sequence[Ask], options: Sequence[str]) -> str:
    """The choice of most models, asked in the order of their temperatures."""
    choices = [choice for choice in (chosen(model(prompt), options) for model in models) if choice]
    return Counter(choices).most_common(1)[0][0] if choices else ""
