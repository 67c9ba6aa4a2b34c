"""Cold starts: a fresh process opens what is on disk, asks once and ends. `python -m benchmarks.cold`

    python -m benchmarks.cold [--nodes 20000] [--relationships 100000] [--rounds 5] [--engines hoplite,sqlite,...]
                              [--plot docs/plots/cold.svg]

Every engine stores the same graph once; NetworkX and igraph, which have no store, as a pickle. Then their processes
take turns; reported for each is the median CPU time of the whole process, from the start of the interpreter to its end,
also as a multiple of `import numpy` in the same run. Bytecode is compiled before, as an install has it, by a first
round that does not count. The question is how many nodes are within three steps of one. Hoplite is asked with compiled
kernels in the user's cache (`hoplite warm`), and again, after all others, with an empty cache: it then answers in NumPy
while processes that it has started compile. Engines that are not installed are skipped.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.plots import draw_bars

_EMPTY = "hoplite-empty-cache"
_SEED, _STEPS = 7, 3
_PATTERN = f"MATCH (a:N {{id: {_SEED}}})-[:E*1..{_STEPS}]->(b:N) RETURN count(DISTINCT b) AS n"


@dataclass(frozen=True, slots=True)
class Cold:
    """The programs that store the graph of `nodes`, `start` and `end` at `path`, and ask it; the answer is printed."""

    title: str
    module: str
    store: str
    ask: str


_HOPLITE = Cold(
    "Hoplite",
    "hoplite",
    "import hoplite\nwith hoplite.open(path) as db:\n"
    "    db.load(nodes={'N': {'id': nodes}}, relationships={('N', 'E', 'N'): {'start': start, 'end': end}})\n",
    f"import hoplite\nwith hoplite.open(path) as db:\n    print(db.run({_PATTERN!r}).data()[0]['n'])\n",
)
_KUZU_STORE = """
import {module} as library, pyarrow as pa, pyarrow.parquet as pq
c = library.Connection(library.Database(path))
c.execute("CREATE NODE TABLE N(id INT64, PRIMARY KEY(id))")
c.execute("CREATE REL TABLE E(FROM N TO N)")
pq.write_table(pa.table({{"id": nodes}}), path + "-n.parquet")
pq.write_table(pa.table({{"a": start, "b": end}}), path + "-e.parquet")
c.execute(f"COPY N FROM '{{path}}-n.parquet'")
c.execute(f"COPY E FROM '{{path}}-e.parquet'")
"""
_KUZU_ASK = (
    "import {module} as library\nc = library.Connection(library.Database(path))\n"
    f"print(c.execute('MATCH (a:N)-[:E* SHORTEST 1..{_STEPS}]->(b:N) WHERE a.id = {_SEED} "
    "RETURN count(DISTINCT b)').get_next()[0])\n"
)
_RECURSIVE = (
    f"WITH RECURSIVE r(id, d) AS (SELECT {_SEED}, 0 UNION SELECT e.b, r.d + 1 FROM r JOIN e ON e.a = r.id "
    f"WHERE r.d < {_STEPS}) SELECT count(DISTINCT id) FROM r WHERE d > 0"
)
# The start itself counts where a way of at most so many steps leads back to it.
_NETWORKX_STORE = """
import networkx, pickle
g = networkx.DiGraph()
g.add_nodes_from(nodes.tolist())
g.add_edges_from(zip(start.tolist(), end.tolist()))
pickle.dump(g, open(path, "wb"))
"""
_NETWORKX_ASK = f"""
import networkx, pickle
g = pickle.load(open(path, "rb"))
near = networkx.single_source_shortest_path_length(g, {_SEED}, cutoff={_STEPS})
print(len(near) - 1 + any(near.get(node, {_STEPS}) < {_STEPS} for node in g.predecessors({_SEED})))
"""
_IGRAPH_STORE = """
import igraph
igraph.Graph(n=len(nodes), edges=list(zip(start.tolist(), end.tolist())), directed=True).write_pickle(path)
"""
_IGRAPH_ASK = f"""
import igraph
g = igraph.Graph.Read_Pickle(path)
inner = set(g.neighborhood({_SEED}, {_STEPS} - 1, mode="out"))
print(len(g.neighborhood({_SEED}, {_STEPS}, mode="out")) - 1 + any(node in inner for node in g.predecessors({_SEED})))
"""
ENGINES: dict[str, Cold] = {
    "numpy": Cold("import numpy", "numpy", "", "import numpy\n"),
    "hoplite": _HOPLITE,
    _EMPTY: Cold("Hoplite, empty cache", "hoplite", _HOPLITE.store, _HOPLITE.ask),
    "sqlite": Cold(
        "SQLite (recursive SQL)",
        "sqlite3",
        "import sqlite3\nc = sqlite3.connect(path)\nc.execute('CREATE TABLE e(a INT, b INT)')\n"
        "c.executemany('INSERT INTO e VALUES (?, ?)', zip(start.tolist(), end.tolist()))\n"
        "c.execute('CREATE INDEX by_start ON e(a, b)')\nc.commit()\n",
        f"import sqlite3\nprint(sqlite3.connect(path).execute({_RECURSIVE!r}).fetchone()[0])\n",
    ),
    "duckdb": Cold(
        "DuckDB (recursive SQL)",
        "duckdb",
        "import duckdb\nc = duckdb.connect(path)\ngiven = {'a': start, 'b': end}\n"
        "c.execute('CREATE TABLE e AS SELECT * FROM given')\nc.close()\n",
        f"import duckdb\nprint(duckdb.connect(path, read_only=True).execute({_RECURSIVE!r}).fetchone()[0])\n",
    ),
    "kglite": Cold(
        "kglite",
        "kglite",
        "import kglite, pandas as pd\ng = kglite.KnowledgeGraph()\n"
        "g.add_nodes(pd.DataFrame({'id': nodes, 'name': nodes.astype(str)}), 'N', 'id', 'name')\n"
        "g.add_connections(pd.DataFrame({'a': start, 'b': end}), 'E', 'N', 'a', 'N', 'b')\ng.save(path)\n",
        f"import kglite\nprint(kglite.load(path).cypher({_PATTERN!r}).column('n')[0])\n",
    ),
    "networkx": Cold("NetworkX (a pickle)", "networkx", _NETWORKX_STORE, _NETWORKX_ASK),
    "igraph": Cold("igraph (a pickle)", "igraph", _IGRAPH_STORE, _IGRAPH_ASK),
    "ladybug": Cold("Ladybug", "ladybug", _KUZU_STORE.format(module="ladybug"), _KUZU_ASK.format(module="ladybug")),
    "kuzu": Cold("Kuzu", "kuzu", _KUZU_STORE.format(module="kuzu"), _KUZU_ASK.format(module="kuzu")),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=20_000)
    parser.add_argument("--relationships", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--engines", default=",".join(ENGINES))
    parser.add_argument("--plot", type=Path, help="draw the figures into this file")
    chosen = parser.parse_args()
    names = [name for name in chosen.engines.split(",") if find_spec(ENGINES[name].module) is not None]
    with tempfile.TemporaryDirectory() as folder:
        medians = measure(names, Path(folder), chosen.nodes, chosen.relationships, chosen.rounds)
    console = Console() if sys.stdout.isatty() else Console(width=120)
    console.print(table(medians))
    if chosen.plot is not None:
        draw_bars({ENGINES[name].title: seconds for name, seconds in medians.items()}, "CPU seconds", chosen.plot)
    return 0


def table(medians: dict[str, float]) -> Table:
    """The figures of all engines, and as multiples of the first thing that most of them do."""
    shown = Table("", "CPU seconds", "x import numpy")
    for name, seconds in medians.items():
        ratio = f"{seconds / medians['numpy']:.1f}" if "numpy" in medians else ""
        shown.add_row(ENGINES[name].title, f"{seconds:.3f}", ratio)
    return shown


def measure(names: list[str], folder: Path, node_count: int, relationship_count: int, rounds: int) -> dict[str, float]:
    """The median CPU seconds of all engines over one graph; fails unless all answers are the same."""
    given = folder / "graph.npz"
    random = np.random.default_rng(3)
    ends = random.integers(0, node_count, (2, relationship_count))
    np.savez(given, nodes=np.arange(node_count), start=ends[0], end=ends[1])
    read = f"import numpy as np\nz = np.load({str(given)!r})\nnodes, start, end = z['nodes'], z['start'], z['end']\n"
    for name in names:
        _run(f"path = {str(folder / name)!r}\n{read}{ENGINES[name].store}", folder, name.removesuffix("-empty-cache"))
    _run("from hoplite.cli import main\nmain(['warm'])\n", folder, "hoplite")
    seconds: dict[str, list[float]] = {name: [] for name in names}
    answers: dict[str, str] = {}
    usual = [name for name in names if name != _EMPTY]
    for number, name in enumerate([*usual * (rounds + 1), *(name for name in names if name == _EMPTY)]):
        spent, answers[name] = _run(f"path = {str(folder / name)!r}\n{ENGINES[name].ask}", folder, name)
        if number >= len(usual):  # the first round compiles bytecode
            seconds[name].append(spent)
    assert len({answer for answer in answers.values() if answer}) == 1, answers
    return {name: statistics.median(spent) for name, spent in seconds.items()}


def _run(program: str, folder: Path, name: str) -> tuple[float, str]:
    """The CPU time of a process, and what it printed."""
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(folder / "bytecode")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    if name == _EMPTY:
        environment["NUMBA_CACHE_DIR"] = tempfile.mkdtemp(dir=folder)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise RuntimeError(f"{name}: {done.stderr}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
