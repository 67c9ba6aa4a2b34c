"""`hoplite ask`: a question in plain words, answered by a query that a model writes."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from hoplite.cli.arguments import positive, seconds
from hoplite.cli.opening import MEMORY, add_database_options, open_database


def add_ask_command(commands: Any) -> None:
    parser = commands.add_parser("ask", help="ask a question in plain words; a model writes the query")
    parser.add_argument(
        "database", nargs="?", default=MEMORY, metavar="DB", help=f"a folder, or {MEMORY} (the default)"
    )
    parser.add_argument("question", metavar="QUESTION", help="the question, in plain words")
    parser.add_argument("--model", required=True, metavar="NAME@URL",
                        help="an OpenAI-compatible endpoint: qwen3:4b@http://localhost:11434/v1")  # fmt: skip
    parser.add_argument("--attempts", type=positive, default=3, metavar="N", help="how often the model may try; 3")
    parser.add_argument("--temperature", type=float, default=0.2, help="0.2")
    parser.add_argument("--seed", type=int, help="seed of the model, for the same answer each time")
    parser.add_argument("--timeout", type=seconds, default=10.0, metavar="SECONDS", help="for each query; 10")
    parser.add_argument("--json", action="store_true", help="print everything: attempts, evidence, timings")
    add_database_options(parser)
    parser.set_defaults(command=_ask, read_only=True)


def _ask(options: argparse.Namespace) -> int:
    from hoplite.cli.render import counted, write
    from hoplite.models.ask import ask
    from hoplite.models.ask_endpoint import Decoding, ModelFailed

    decoding = Decoding(temperature=options.temperature, seed=options.seed)
    with open_database(options) as db:
        try:
            asked = ask(
                db,
                options.question,
                options.model,
                attempts=options.attempts,
                decoding=decoding,
                bounds={"seconds": options.timeout},
            )
        except ModelFailed as problem:
            print(f"hoplite: {problem}", file=sys.stderr)
            return 1
    if options.json:
        print(json.dumps(asked.to_dict(), ensure_ascii=False, indent=2))
    else:
        print(asked.cypher)
        for change in asked.changes:
            print(f"  repaired: {change}")
        if asked.rows.error is None:
            write(asked.rows.columns, asked.rows.rows, "table", sys.stdout)
        else:
            print(f"hoplite: {asked.rows.error['message']}", file=sys.stderr)
        nodes, facts = len(asked.evidence.nodes), len(asked.evidence.relationships)
        print(f"based on {counted(nodes, 'node')} and {counted(facts, 'relationship')}")
    return 0 if asked.rows.error is None else 1
