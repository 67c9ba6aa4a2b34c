"""`hoplite eval`: queries that models wrote for questions, compared with gold queries, before and after repair."""

from __future__ import annotations

import argparse
import json
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hoplite.cli.arguments import positive, seconds
from hoplite.cli.opening import MEMORY, UsageError, add_database_options, open_database

if TYPE_CHECKING:
    from hoplite.api.database import Database
    from hoplite.models.evaluate import Model, Question


def add_eval_command(commands: Any) -> None:
    parser = commands.add_parser(
        "eval",
        help="measure queries that models wrote for questions, before and after repair",
        description="Compare queries that models wrote for questions with gold queries, as written and after repair, "
        "and print how many are right. Nothing is written.",
    )
    parser.add_argument("questions", type=Path, metavar="QUESTIONS", help="JSON lines with question and gold; also .gz")
    parser.add_argument("database", nargs="?", default=MEMORY, metavar="DB", help="the graph that they are about")
    parser.add_argument("--graphs", type=Path, metavar="FOLDER",
                        help="if questions name their graph: a folder with NAME/graph.jsonl.gz")  # fmt: skip
    parser.add_argument("--model", action="append", default=[], metavar="MODEL",
                        help="a file of recorded answers, the name of a model that the questions have answers of, or "
                        "NAME@URL of an OpenAI-compatible endpoint; again for several; all recorded ones")  # fmt: skip
    parser.add_argument("--every", type=positive, default=1, metavar="N", help="every Nth question")
    parser.add_argument("--timeout", type=seconds, default=10.0, metavar="SECONDS", help="for each query; 10")
    parser.add_argument("--no-evidence", action="store_true", help="do not compare the evidence for the rows")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all measures as JSON")
    add_database_options(parser)
    parser.set_defaults(command=_eval, read_only=True)


def _eval(options: argparse.Namespace) -> int:
    from hoplite.models.evaluate import Evaluation, read_questions, table

    questions = list(read_questions(options.questions, options.every))
    if not questions:
        raise UsageError(f"{options.questions}: there are no questions in it.")
    database = _databases(options)
    models = {name: _model(name, questions, database) for name in options.model or _recorded(questions)}
    if not models:
        raise UsageError("The questions have no recorded answers: name a model with --model.")
    evaluation = Evaluation(database, seconds=options.timeout, evidence=not options.no_evidence)
    results = evaluation.run(questions, models)
    sys.stdout.write(table(results) + "\n")
    if evaluation.skipped:
        sys.stdout.write(f"{evaluation.skipped} questions were left out: their gold queries fail.\n")
    if options.json:
        document = {name: one.to_dict() for name, one in results.items()}
        options.json.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    return 0


def _recorded(questions: list[Question]) -> list[str]:
    return sorted({name for question in questions for name in question.models})


def _model(name: str, questions: list[Question], database: Any) -> Model:
    from hoplite.models.evaluate import asked_model, named_model, recorded_model

    if name in _recorded(questions):
        return named_model(name)
    if Path(name).is_file():
        return recorded_model(Path(name))
    if "@" in name:
        return asked_model(name, database)
    raise UsageError(f"{name} is neither a file, nor the name of a recorded model, nor of the form NAME@URL.")


def _databases(options: argparse.Namespace) -> Any:
    """The graph of a question: by its name in the folder of graphs, or the given database."""
    import hoplite

    @cache
    def named(graph: str | None) -> Database:
        if options.graphs is None or graph is None:
            return open_database(options)
        for file in ("graph.jsonl.gz", "graph.jsonl"):
            path = options.graphs / graph / file
            if path.is_file():
                db = hoplite.open()
                db.import_jsonl(path)
                return db
        raise UsageError(f"{options.graphs / graph}: there is no graph.jsonl.gz in it.")

    return named if options.graphs is not None else lambda graph: named(None)
