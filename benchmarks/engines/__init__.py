"""The engines by name. Each is imported only in the process that measures it, because their libraries may collide."""

from __future__ import annotations

from importlib import import_module

from benchmarks.engine import Engine

# name: (module, class). The order is that of the tables.
ENGINES = {
    "hoplite": ("benchmarks.engines.hoplite_engine", "HopliteEngine"),
    "kglite": ("benchmarks.engines.kglite_engine", "KgliteEngine"),
    "ladybug": ("benchmarks.engines.kuzu_engine", "LadybugEngine"),
    "kuzu": ("benchmarks.engines.kuzu_engine", "KuzuEngine"),
    "neo4j": ("benchmarks.engines.neo4j_engine", "Neo4jEngine"),
    "duckdb": ("benchmarks.engines.duckdb_engine", "DuckdbEngine"),
    "networkx": ("benchmarks.engines.networkx_engine", "NetworkxEngine"),
    "igraph": ("benchmarks.engines.igraph_engine", "IgraphEngine"),
    "graphblas": ("benchmarks.engines.graphblas_engine", "GraphblasEngine"),
    "scipy": ("benchmarks.engines.scipy_engine", "ScipyEngine"),
    "numpy": ("benchmarks.engines.scipy_engine", "NumpyEngine"),
}


def engine_class(name: str) -> type[Engine]:
    module, class_name = ENGINES[name]
    found: type[Engine] = getattr(import_module(module), class_name)
    return found
