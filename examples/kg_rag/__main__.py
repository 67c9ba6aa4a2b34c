"""KG-RAG's context modes on 306 questions: `python -m examples.kg_rag`. README.md says what is measured."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from statistics import fmean

from examples.figures import line_chart, text_table
from examples.kg_rag.builder import Builder, Built, answer
from examples.kg_rag.decompose import TEMPERATURES, Ask
from examples.kg_rag.facts import Pruning
from examples.kg_rag.modes import MODES
from examples.kg_rag.questions import RECORDED, Question, marks, mcnemar, read_answers
from examples.kg_rag.settings import Setting, best_setting
from hoplite.models.ask_endpoint import Decoding, endpoint
from hoplite.retrieval import Embed, hashed_words, sentence_model

BUDGETS = (100, 250, 500, 1_000, 2_000, 4_000)
EMBEDDINGS: Mapping[str, Callable[[], Embed]] = {"hashed": lambda: hashed_words(2_048), "model": sentence_model}
_EVERYTHING = Pruning(percentile=0, least=-1, most=1_000_000)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run everything that needs no model; with one, the modes as well."""
    options = _arguments(arguments)
    setting = best_setting()
    print(f"KG-RAG context modes: {setting.title}, {len(setting.questions)} questions\n")
    if setting.recorded is not None:
        recorded = {
            name: marks(setting.questions, read_answers(setting.recorded / f"{name}_mcq.csv.gz")) for name in RECORDED
        }
        print("Recorded answers of the authors, by exact match\n")
        print(f"{shares(recorded)}\n\n{tests(recorded)}\n")
    embed = EMBEDDINGS[options.embedding]()
    builder = setting.builder(embed, options.least_link)
    print(f"{linking(setting, embed, options.least_link)}\n")
    built = build_all(builder, setting.questions)
    print(f"{modes_table(builder, built)}\n")
    print(f"Mode 30, by what its quality score makes of the context\n\n{quality_table(built[30])}\n")
    seen = budgets(builder, built)
    print(f"Questions whose context has the right answer, by the tokens it may have\n\n{budget_table(seen)}\n")
    blind = budgets(builder, build_all(builder, setting.questions, blind=True))
    print(f"The same for retrieval that does not see the options\n\n{budget_table(blind)}\n")
    print(f"Pruning, raw sentences\n\n{pruning_table(builder, setting.questions)}\n")
    if models := models_named(options.model):
        answered = {
            f"mode {mode}": marks(setting.questions, _as_answers(answer(some, models))) for mode, some in built.items()
        }
        print(f"Answers of {options.model}\n\n{shares(answered)}\n\n{tests(answered)}\n")
    else:
        print("No model was asked (--model NAME@URL).")
    path = options.out / "kg_rag.svg"
    title = "Right answer in the context, retrieved without the options"
    line_chart(path, title, blind, "tokens allowed", "questions", logarithmic=True)
    print(f"Plot: {path}")


def _arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m examples.kg_rag", description=__doc__)
    parser.add_argument("--embedding", choices=tuple(EMBEDDINGS), default="hashed", help="what makes vectors of texts")
    parser.add_argument("--model", help="NAME@URL of an OpenAI-compatible endpoint")
    parser.add_argument("--least-link", type=float, default=0.6, help="score from which on a name is taken for a node")
    parser.add_argument("--out", type=Path, default=Path("build/examples"), help="folder of the plot")
    return parser.parse_args(arguments)


def models_named(name: str | None) -> list[Ask]:
    """The model at each temperature."""
    return [endpoint(name, Decoding(temperature=heat, seed=0)) for heat in TEMPERATURES] if name else []


def _as_answers(choices: Mapping[str, str]) -> dict[str, str]:
    return {text: f'{{"answer": "{choice}"}}' for text, choice in choices.items()}


def build_all(builder: Builder, questions: Sequence[Question], *, blind: bool = False) -> dict[int, list[Built]]:
    """The contexts of each mode; the first four write the same facts."""
    plain = builder.build(0, questions, blind=blind)
    built = {mode: [replace(one, mode=mode) for one in plain] for mode in MODES}
    return {**built, 30: builder.build(30, questions, blind=blind)}


def shares(right: Mapping[str, Sequence[bool]]) -> str:
    """How many are right."""
    rows = [(name, sum(some), len(some), 100 * sum(some) / max(len(some), 1)) for name, some in right.items()]
    return text_table(("answers", "right", "of", "%"), rows)


def tests(right: Mapping[str, Sequence[bool]]) -> str:
    """McNemar's test between every two."""
    rows = []
    for one, other in combinations(right, 2):
        outcome = mcnemar(right[one], right[other])
        rows.append((one, other, outcome.only_first, outcome.only_second, f"{outcome.p_value:.2g}"))
    return text_table(("one", "other", "only one right", "only other right", "McNemar p"), rows)


def linking(setting: Setting, embed: Embed, least: float) -> str:
    """How many of the diseases of the questions are found, by name alone and by similar names."""
    rows = []
    for title, bound in (("the same name or synonym", 0.94), (f"a similar name, score {least:g} or more", least)):
        found, mentions = setting.builder(embed, bound).entities(setting.questions)
        whole = [
            {name.lower() for name in question.diseases} <= {name.lower() for name in some}
            for question, some in zip(setting.questions, mentions, strict=True)
        ]
        counts = [len(some) for some in found]
        rows.append((title, sum(whole), counts.count(0), counts.count(1), sum(count > 1 for count in counts)))
    titles = ("linked by", "all mentions spotted", "no node", "one node", "two nodes")
    return f"Entities of the questions\n\n{text_table(titles, rows)}"


def modes_table(builder: Builder, built: Mapping[int, Sequence[Built]]) -> str:
    """Facts, tokens, whether the answer is there, and whether it stands out."""
    rows = []
    for mode, contexts in built.items():
        filled = [one for one in contexts if one.facts]
        tokens = [builder.token_count(one) for one in filled]
        right = [one.answers_it == one.question.gold for one in contexts]
        wrong = [one.answers_it not in ("", one.question.gold) for one in contexts]
        facts = fmean(len(one.facts) for one in filled) if filled else 0.0
        has = sum(one.has_gold for one in contexts)
        rows.append((mode, len(filled), facts, fmean(tokens or [0]), max(tokens or [0]), has, sum(right), sum(wrong)))
    titles = ("mode", "contexts", "facts", "tokens", "most", "has the answer", "answers right", "wrong")
    return f"Contexts, means over the questions that have one\n\n{text_table(titles, rows)}"


def quality_table(contexts: Sequence[Built]) -> str:
    """Whether the score is worth something: the better the context, the more often it should have the answer."""
    rows = []
    for advice in dict.fromkeys(one.advice for one in sorted(contexts, key=lambda one: -one.quality)):
        some = [one for one in contexts if one.advice == advice]
        has = 100 * fmean(one.has_gold for one in some)
        right = 100 * fmean(one.answers_it == one.question.gold for one in some)
        rows.append((advice.partition(":")[0], len(some), fmean(one.quality for one in some), has, right))
    return text_table(("advice", "questions", "quality", "% has the answer", "% answers right"), rows)


def budgets(builder: Builder, built: Mapping[int, Sequence[Built]]) -> dict[str, list[tuple[float, float]]]:
    """For each mode, the tokens allowed and how many contexts then have the right answer."""
    return {
        f"mode {mode}": [(most, sum(builder.cut(one, most).has_gold for one in contexts)) for most in BUDGETS]
        for mode, contexts in built.items()
        if mode != 2  # its context is that of mode 0
    }


def budget_table(swept: Mapping[str, Sequence[tuple[float, float]]]) -> str:
    """The same as text."""
    rows = [(name, *(int(count) for _, count in points)) for name, points in swept.items()]
    return text_table(("tokens", *map(str, BUDGETS)), rows)


def pruning_table(builder: Builder, questions: Sequence[Question]) -> str:
    """What percentiles and least cosines keep."""
    settings = [("everything", _EVERYTHING)]
    settings += [(f"percentile {p:g}", replace(_EVERYTHING, percentile=p)) for p in (50, 75, 90, 95)]
    settings += [(f"cosine >= {least:g}", replace(_EVERYTHING, least=least)) for least in (0.1, 0.2, 0.3)]
    settings += [("75, 0.1, at most 150", Pruning())]
    rows = []
    for title, pruning in settings:
        contexts = builder.build(0, questions, pruning=pruning)
        tokens = [builder.token_count(one) for one in contexts if one.entities]
        right = sum(one.answers_it == one.question.gold for one in contexts)
        rows.append((title, fmean(tokens or [0]), sum(one.has_gold for one in contexts), right))
    return text_table(("kept", "tokens", "has the answer", "answers right"), rows)


if __name__ == "__main__":
    main()
