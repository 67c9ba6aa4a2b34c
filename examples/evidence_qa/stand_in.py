"""A stand-in for a model that writes Cypher: it knows what is asked, copies names as they stand, and makes mistakes.

It reads the question at the end of a prompt. Which mistake it makes depends on the question alone, so its answers are
the same in every run, as those of a recorded model are; `record` writes them to a file that `hoplite eval` reads.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path

from examples.evidence_qa.pipeline import Names
from examples.evidence_qa.templates import TEMPLATES, Asked
from hoplite.models.ask import query_in

FAULTS = {
    # how often, in a hundred
    "none": 50,
    "a relationship backwards": 15,
    "a label in the plural": 10,
    "a type misspelt": 10,
    "a property that is not there": 5,
    "a hop left out": 10,
}


def write_query(prompt: str) -> str:
    """The query for the question at the end of a prompt; an excuse where it is of no known kind."""
    question = question_in(prompt)
    for template in sorted(TEMPLATES, key=lambda one: -len(one.text)):  # "diseases that X treats" are not a name
        mention = template.mention(question)
        if mention is not None:
            return f"```cypher\n{_spoilt(template.query(mention), fault_of(question))}\n```"
    return "I do not know."


def fault_of(question: str) -> str:
    """The mistake that is made with a question."""
    place = int(hashlib.sha256(question.casefold().encode()).hexdigest()[:8], 16) % 100
    for fault, share in FAULTS.items():
        place -= share
        if place < 0:
            return fault
    raise AssertionError("the shares are a hundred together")


def _spoilt(query: str, fault: str) -> str:
    match fault:
        case "a relationship backwards":
            forwards, backwards = re.search(r"-(\[:\w+\])->", query), re.search(r"<-(\[:\w+\])-", query)
            if forwards is not None:
                return query.replace(forwards[0], f"<-{forwards[1]}-", 1)
            return query if backwards is None else query.replace(backwards[0], f"-{backwards[1]}->", 1)
        case "a label in the plural":
            return re.sub(r"\((\w*):(\w+)\)", r"(\1:\2s)", query, count=1)
        case "a type misspelt":
            return re.sub(r"\[:(\w+)\w\]", r"[:\1]", query, count=1)
        case "a property that is not there":
            return query.replace("answer.name", "answer.title")
        case "a hop left out":
            return re.sub(r"(<?-\[:\w+\]->?\(:\w+\))", "", query, count=1)
        case _:
            return query


def record(path: Path, questions: Iterable[Asked]) -> None:
    """Write questions, gold queries and the stand-in's answers in the form of `hoplite eval`."""
    with path.open("w", encoding="utf-8") as file:
        for number, one in enumerate(questions):
            written = query_in(write_query(f"Question: {one.text}"))
            entry = {"id": str(number), "question": one.text, "gold": one.gold, "models": {"stand-in": written}}
            print(json.dumps(entry, ensure_ascii=False), file=file)


def recorded_answers(path: Path, names: Names) -> Callable[[str], str]:
    """A model whose queries are in a file: lines with `question` and `query`. Asked about a question with the graph's
    own name in it, it says what it said about the question as it was."""
    with path.open(encoding="utf-8") as lines:
        said = {entry["question"]: str(entry["query"] or "") for entry in map(json.loads, lines)}
    said |= {names.normalised(question): query for question, query in said.items()}
    return lambda prompt: said.get(question_in(prompt), "")


def question_in(prompt: str) -> str:
    """The question at the end of a prompt."""
    return prompt.rstrip().rpartition("Question: ")[2].partition("\n")[0]
