"""The ways to write facts into a prompt.

 0  raw sentences                                     the context of the published KG-RAG
 1  the same facts as a JSON list
 2  raw sentences, and a suffix with prior knowledge
 3  nested JSON, facts of one kind together, and the suffix
30  the question is taken apart, four strategies look for facts, their quality decides how to reason, and answers at
    several temperatures are put to the vote (`decompose.py`); written as in 3
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from examples.kg_rag.facts import Fact

MODES = (0, 1, 2, 3, 30)

_TASK = """You are an expert in biomedicine. First read the context, then answer the question from it and from what \
you know. Answer with JSON: {"answer": "NAME"}, with exactly one name of the given list."""
_PRIOR = """Prior knowledge: An option that the context connects with all entities of the question is the likeliest \
answer. Diseases that resemble each other tend to share genes. Sources say where a fact comes from; they are not part \
of the answer."""


def prompt(mode: int, question: str, facts: Sequence[Fact], advice: str = "") -> str:
    """What a model is asked."""
    suffix = [_PRIOR] if mode in (2, 3, 30) else []
    parts = [
        _TASK,
        f"Context:\n{context(mode, facts)}",
        *suffix,
        *([advice] if advice else []),
        f"Question: {question}",
    ]
    return "\n\n".join(parts)


def context(mode: int, facts: Sequence[Fact]) -> str:
    """The facts as a mode writes them; each says where it comes from."""
    if mode in (0, 2):
        return "\n".join(fact.sentence for fact in facts)
    if mode == 1:
        return json.dumps([_row(fact) for fact in facts], ensure_ascii=False)
    if mode in (3, 30):
        return json.dumps(_nested(facts), ensure_ascii=False)
    raise ValueError(f"The modes are {', '.join(map(str, MODES))}, not {mode!r}.")


def _row(fact: Fact) -> dict[str, str]:
    return {
        "subject": f"{fact.start_label} {fact.start}",
        "predicate": fact.verb,
        "object": f"{fact.end_label} {fact.end}",
        "source": fact.source,
    }


def _nested(facts: Sequence[Fact]) -> dict[str, dict[str, dict[str, list[str]]]]:
    """By subject, then by verb and label, then by source: names come in lists, and what they share is said once."""
    nested: dict[str, dict[str, dict[str, list[str]]]] = {}
    for fact in facts:
        kinds = nested.setdefault(f"{fact.start_label} {fact.start}", {})
        kinds.setdefault(f"{fact.verb} {fact.end_label}", {}).setdefault(f"source: {fact.source}", []).append(fact.end)
    return nested


def within(mode: int, facts: Sequence[Fact], budget: int, tokens: Callable[[str], int]) -> list[Fact]:
    """The longest beginning of the facts whose context fits a number of tokens."""
    low, high = 0, len(facts)
    while low < high:
        middle = (low + high + 1) // 2
        if tokens(context(mode, facts[:middle])) <= budget:
            low = middle
        else:
            high = middle - 1
    return list(facts[:low])
