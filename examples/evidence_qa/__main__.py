"""Questions over Hetionet with evidence: `python -m examples.evidence_qa`. README.md says what is measured."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean

import hoplite
from examples.datasets import MissingData
from examples.datasets.plain_graph import PlainGraph
from examples.evidence_qa.medical_graph import LABELS, add_synonyms, medical_hetionet, medical_sample, synonyms_of
from examples.evidence_qa.pipeline import STAGES, Answer, Ask, Names, Pipeline
from examples.evidence_qa.stand_in import FAULTS, fault_of, record, recorded_answers, write_query
from examples.evidence_qa.templates import FORMS, TEMPLATES, Asked, make_questions
from examples.figures import bar_chart, text_table
from hoplite.models.ask_endpoint import Decoding, endpoint
from hoplite.models.ask_evidence import evidence_of
from hoplite.models.evaluate_metrics import CUTS, jaccard, ranked, same_text, spread

_MEASURES = ("P", "R", "F1", "Hits", "MRR")


def main(arguments: Sequence[str] | None = None) -> None:
    """Answer all questions in four ways, and show what the answers of the best rest on."""
    options = _arguments(arguments)
    graph = _graph()
    synonyms = synonyms_of(graph)
    with hoplite.open(options.save) if options.save else hoplite.open() as db:
        graph.fill(db)
        add_synonyms(db, synonyms)
        questions = make_questions(db, graph, synonyms, options.each)
        names = Names(db, LABELS, [template.text for template in TEMPLATES])
        pipeline = Pipeline(db, _model(options, names), names)
        print(f"{db!r}\n{len(questions)} questions; {_who(options)}\n")
        print(f"Names as they are written\n\n{linking_table(names, questions, graph, synonyms)}\n")
        each = [pipeline.four_ways(one.text) for one in questions]
        answers = {way: [ways[way] for ways in each] for way in each[0]}
        print(f"Exact answers, % of questions [95% of bootstrap samples]\n\n{exact_table(questions, answers)}\n")
        if options.model is None and options.recorded is None:
            print(f"The same by the stand-in's mistakes\n\n{fault_table(names, questions, answers)}\n")
        best = answers["with both"]
        print(f"With both, by hops\n\n{measures_table(db, questions, best)}\n")
        print(f"Milliseconds by stage, with both\n\n{latency_table(best)}\n")
        print(f"An answer with its evidence\n\n{shown(questions, best)}\n")
    options.out.mkdir(parents=True, exist_ok=True)
    record(options.out / "evidence_qa.jsonl", questions)
    path = options.out / "evidence_qa.svg"
    hops = sorted({one.hops for one in questions})
    series = {way: [100 * fmean(_exact(questions, some, count)) for count in hops] for way, some in answers.items()}
    bar_chart(path, "Exact answers", [f"{count} hops" if count > 1 else "1 hop" for count in hops], series, "%")
    print(f"Questions and recorded answers for `hoplite eval`: {options.out / 'evidence_qa.jsonl'}\nPlot: {path}")


def _arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m examples.evidence_qa", description=__doc__)
    parser.add_argument("--model", help="NAME@URL of an OpenAI-compatible endpoint")
    parser.add_argument("--recorded", type=Path, help="a file of recorded answers: lines with `question` and `query`")
    parser.add_argument("--each", type=int, default=100, help="questions of one, two and three hops each")
    parser.add_argument("--save", type=Path, help="a folder to keep the graph in, for `hoplite ui`")
    parser.add_argument("--out", type=Path, default=Path("build/examples"), help="folder of the plot and the questions")
    return parser.parse_args(arguments)


def _graph() -> PlainGraph:
    try:
        return medical_hetionet()
    except MissingData as missing:
        print(f"{missing}\nWithout it the program runs on Hoplite's sample graph.\n")
        return medical_sample()


def _model(options: argparse.Namespace, names: Names) -> Ask:
    """An endpoint, a file, or the stand-in."""
    if options.model:
        return endpoint(options.model, Decoding(temperature=0.0, seed=0))
    if options.recorded:
        return recorded_answers(options.recorded, names)
    return write_query


def _who(options: argparse.Namespace) -> str:
    if options.model:
        return f"queries by {options.model}"
    if options.recorded:
        return f"queries recorded in {options.recorded}"
    return "no model was asked: queries by a stand-in that makes known mistakes"


def linking_table(
    names: Names, questions: Sequence[Asked], graph: PlainGraph, synonyms: Mapping[str, Sequence[str]]
) -> str:
    """How many questions get the right name, by how it was written; and all synonyms, in a question of one template."""
    rows = []
    for form in FORMS:
        some = [one for one in questions if one.form == form]
        if some:
            right = [names.normalised(one.text) == one.template.text.format(name=one.name) for one in some]
            rows.append((form, len(some), 100 * fmean(right)))
    text = TEMPLATES[0].text
    every = [(text.format(name=one), text.format(name=graph.nodes[id][0])) for id in synonyms for one in synonyms[id]]
    if every:
        rows.append(("every synonym", len(every), 100 * fmean(names.normalised(asked) == own for asked, own in every)))
    return text_table(("form", "questions", "% normalised"), rows)


def _exact(questions: Sequence[Asked], answers: Sequence[Answer], hops: int | None = None) -> list[float]:
    """1 where the answers are those of gold, all and no others; 0 elsewhere."""
    pairs = zip(questions, answers, strict=True)
    return [float(set(got.rows) == set(one.answers)) for one, got in pairs if hops in (None, one.hops)]


def exact_table(questions: Sequence[Asked], answers: Mapping[str, Sequence[Answer]]) -> str:
    """The share of exact answers of each way, by hops and on the whole."""
    hops = [*sorted({one.hops for one in questions}), None]
    rows = [(way, *(_interval(_exact(questions, some, count), 100) for count in hops)) for way, some in answers.items()]
    return text_table(("", *("all" if count is None else f"hops {count}" for count in hops)), rows)


def fault_table(names: Names, questions: Sequence[Asked], answers: Mapping[str, Sequence[Answer]]) -> str:
    """The share of exact answers by the mistake that was made; with names normalised the question is another one."""
    rows: list[Sequence[object]] = []
    for way, some in answers.items():
        normalised = way in ("with names", "with both")
        texts = [names.normalised(one.text) if normalised else one.text for one in questions]
        by_fault: dict[str, list[float]] = {fault: [] for fault in FAULTS}
        for text, right in zip(texts, _exact(questions, some), strict=True):
            by_fault[fault_of(text)].append(right)
        rows.append((way, *(f"{100 * fmean(values or [0.0]):.1f} of {len(values)}" for values in by_fault.values())))
    return text_table(("", *FAULTS), rows)


def measures_table(db: hoplite.Database, questions: Sequence[Asked], answers: Sequence[Answer]) -> str:
    """Exact answers and queries, ranked measures and evidence, in percent."""
    hops = [*sorted({one.hops for one in questions}), None]
    rows: list[list[object]] = []
    columns = [[(one, got) for one, got in zip(questions, answers, strict=True) if c in (None, one.hops)] for c in hops]
    rows.append(["exact answers", *(100 * fmean(set(g.rows) == set(q.answers) for q, g in some) for some in columns)])
    rows.append(["same query (EM)", *(100 * fmean(same_text(g.cypher, q.gold) for q, g in some) for some in columns)])
    for measure in _MEASURES:
        for cut in CUTS:
            values = [fmean(ranked(g.rows, q.answers, cut)[measure] for q, g in some) for some in columns]
            rows.append([f"{measure}@{cut}", *(100 * value for value in values)])
    gold = {one.gold: evidence_of(db, one.gold, {}, rows=20, seconds=10).ids for one in questions}
    found = [fmean(jaccard(got.evidence.ids, gold[one.gold]) for one, got in some) for some in columns]
    rows.append(["evidence Jaccard", *(100 * value for value in found)])
    return text_table(("", *("all" if count is None else f"hops {count}" for count in hops)), rows)


def latency_table(answers: Sequence[Answer]) -> str:
    """The mean of each stage with its interval."""
    rows = [(stage, _interval([one.seconds[stage] for one in answers], 1_000)) for stage in STAGES]
    rows.append(("together", _interval([sum(one.seconds.values()) for one in answers], 1_000)))
    return text_table(("stage", "mean [95%]"), rows)


def _interval(values: Sequence[float], factor: float) -> str:
    found = spread(values)
    return f"{factor * found['mean']:.1f} [{factor * found['low']:.1f}, {factor * found['high']:.1f}]"


def shown(questions: Sequence[Asked], answers: Sequence[Answer]) -> str:
    """The first question of two hops that was answered rightly, with three of the facts that it rests on."""
    for one, got in zip(questions, answers, strict=True):
        if one.hops == 2 and set(got.rows) == set(one.answers) and got.evidence.relationships:
            called = {id: node["properties"]["name"] for id, node in got.evidence.nodes.items()}
            lines = [one.text, got.cypher, f"{len(got.rows)} answers: {', '.join(got.rows[:5])} ..."]
            for fact in list(got.evidence.relationships.values())[:3]:
                said = f"{called[fact['startNodeElementId']]} {fact['type']} {called[fact['endNodeElementId']]}"
                via = f", via {fact['properties']['via']}" if "via" in fact["properties"] else ""
                lines.append(f"  {said} [source: {fact['properties']['source']}{via}]")
            return "\n".join(lines)
    return "none"


if __name__ == "__main__":
    main()
