"""Questions of one, two and three hops with the query that answers each, and names as people write them.

A template is an anchor and a chain of steps away from it; the query follows from the chain. Answers come with the one
that most paths lead to first.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import hoplite
from examples.datasets.plain_graph import PlainGraph

FORMS = ("exact", "other case", "misspelt", "synonym")
_SHARES = (0.5, 0.2, 0.3)
_SYNONYMS = 0.8  # of the names that have one
_MOST_ANSWERS = 200
_SEED = 300


@dataclass(frozen=True, slots=True)
class Step:
    """A relationship away from where one is, forwards or backwards, to a label."""

    type_name: str
    forwards: bool
    label: str

    def __str__(self) -> str:
        arrow = f"-[:{self.type_name}]->" if self.forwards else f"<-[:{self.type_name}]-"
        return f"{arrow}({{}}:{self.label})"


@dataclass(frozen=True, slots=True)
class Template:
    """A question about a {name}, which is that of a node with the label `anchor`."""

    text: str
    anchor: str
    steps: tuple[Step, ...]

    def query(self, name: str) -> str:
        """The query that answers it for a name."""
        quoted = name.replace("\\", "\\\\").replace("'", "\\'")
        last = len(self.steps) - 1
        chain = "".join(str(step).format("answer" if place == last else "") for place, step in enumerate(self.steps))
        pattern = f"MATCH (:{self.anchor} {{name: '{quoted}'}}){chain}"
        return f"{pattern} WITH answer.name AS answer, count(*) AS paths ORDER BY paths DESC, answer RETURN answer"

    def mention(self, question: str) -> str | None:
        """The name in a question, if the question is of this template."""
        before, _, after = self.text.partition("{name}")
        found = re.fullmatch(f"{re.escape(before)}(.+){re.escape(after)}", question)
        return None if found is None else found[1]


_TREATED_BY, _TREATS = Step("TREATS", False, "Drug"), Step("TREATS", True, "Disease")
_HAS, _SHOWN_BY = Step("HAS_SYMPTOM", True, "Symptom"), Step("HAS_SYMPTOM", False, "Disease")
_CAUSES, _CAUSED_BY = Step("CAUSES", True, "SideEffect"), Step("CAUSES", False, "Drug")
_AFFECTS, _AFFECTED_BY = Step("AFFECTS_PATHWAY", True, "Pathway"), Step("AFFECTS_PATHWAY", False, "Drug")
_INVOLVES, _INVOLVED_IN = Step("INVOLVES_PATHWAY", True, "Pathway"), Step("INVOLVES_PATHWAY", False, "Disease")

TEMPLATES = (
    Template("Which drugs treat {name}?", "Disease", (_TREATED_BY,)),
    Template("What are the symptoms of {name}?", "Disease", (_HAS,)),
    Template("Which pathways are involved in {name}?", "Disease", (_INVOLVES,)),
    Template("Which side effects does {name} cause?", "Drug", (_CAUSES,)),
    Template("Which diseases does {name} treat?", "Drug", (_TREATS,)),
    Template("Which pathways does {name} affect?", "Drug", (_AFFECTS,)),
    Template("Which diseases present with {name}?", "Symptom", (_SHOWN_BY,)),
    Template("Which drugs cause {name}?", "SideEffect", (_CAUSED_BY,)),
    Template("Which side effects do drugs against {name} cause?", "Disease", (_TREATED_BY, _CAUSES)),
    Template("Which pathways do drugs against {name} affect?", "Disease", (_TREATED_BY, _AFFECTS)),
    Template("What are the symptoms of diseases that {name} treats?", "Drug", (_TREATS, _HAS)),
    Template("Which drugs treat diseases that present with {name}?", "Symptom", (_SHOWN_BY, _TREATED_BY)),
    Template("Which diseases are treated by drugs that cause {name}?", "SideEffect", (_CAUSED_BY, _TREATS)),
    Template("Which drugs treat diseases that involve {name}?", "Pathway", (_INVOLVED_IN, _TREATED_BY)),
    Template(
        "Which side effects do drugs cause against diseases that present with {name}?",
        "Symptom",
        (_SHOWN_BY, _TREATED_BY, _CAUSES),
    ),
    Template(
        "What are the symptoms of diseases treated by drugs that cause {name}?",
        "SideEffect",
        (_CAUSED_BY, _TREATS, _HAS),
    ),
    Template(
        "Which pathways are involved in diseases treated by drugs that cause {name}?",
        "SideEffect",
        (_CAUSED_BY, _TREATS, _INVOLVES),
    ),
    Template(
        "What are the symptoms of diseases treated by drugs that affect {name}?",
        "Pathway",
        (_AFFECTED_BY, _TREATS, _HAS),
    ),
    Template(
        "Which side effects do drugs cause against diseases that involve {name}?",
        "Pathway",
        (_INVOLVED_IN, _TREATED_BY, _CAUSES),
    ),
)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as somebody writes it, the node's own name, how the name was written, and what is right."""

    text: str
    template: Template
    name: str
    form: str
    gold: str
    answers: tuple[str, ...]

    @property
    def hops(self) -> int:
        """How many relationships the answer is away."""
        return len(self.template.steps)


def make_questions(
    db: hoplite.Database, graph: PlainGraph, synonyms: Mapping[str, Sequence[str]], each: int = 100
) -> list[Asked]:
    """So many questions of each number of hops, fewer where the graph has not enough; the same ones in every run."""
    rng = random.Random(_SEED)
    names: dict[str, list[str]] = {}
    for id, (_, label) in graph.nodes.items():
        names.setdefault(label, []).append(id)
    made = []
    for hops in sorted({len(one.steps) for one in TEMPLATES}):
        templates = [one for one in TEMPLATES if len(one.steps) == hops]
        drawn = [
            (one, id)
            for one in templates
            for id in rng.sample(names[one.anchor], min(3 * each, len(names[one.anchor])))
        ]
        rng.shuffle(drawn)
        count = 0
        for template, id in drawn:
            name = graph.nodes[id][0]
            gold = template.query(name)
            answers = db.run(gold).value()
            if count < each and 0 < len(answers) <= _MOST_ANSWERS:
                form, written = _written(rng, name, synonyms.get(id, ()))
                made.append(Asked(template.text.format(name=written), template, name, form, gold, tuple(answers)))
                count += 1
            if count == each:
                break
    return made


def _written(rng: random.Random, name: str, synonyms: Sequence[str]) -> tuple[str, str]:
    """A name as somebody might write it."""
    if synonyms and rng.random() < _SYNONYMS:
        return "synonym", rng.choice(list(synonyms))
    form = rng.choices(FORMS[:3], _SHARES)[0]
    if form == "other case":
        return form, name.lower() if name.lower() != name else name.upper()
    if form == "misspelt":
        wrong = misspelt(rng, name)
        return ("exact", name) if wrong == name else (form, wrong)
    return form, name


def misspelt(rng: random.Random, name: str) -> str:
    """With two letters in the wrong order, or one left out, in a word of at least five letters."""
    words = [found.span() for found in re.finditer(r"[^\W\d_]{5,}", name)]
    if not words:
        return name
    start, end = rng.choice(words)
    place = rng.randrange(start + 1, end - 1)
    if rng.random() < 0.5:
        return name[:place] + name[place + 1 :]
    return name[:place] + name[place + 1] + name[place] + name[place + 2 :]
