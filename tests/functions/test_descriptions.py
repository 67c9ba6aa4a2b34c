"""SHOW's descriptions of arguments and results, compared with the signatures."""

from __future__ import annotations

from hoplite.engine import descriptions
from hoplite.engine.functions.show import function_rows
from hoplite.engine.procedures.show import procedure_rows


def test_every_function_of_neo4j_has_its_arguments_described() -> None:
    for row in function_rows():
        said = descriptions.arguments_of_function(row["signature"])
        assert said is not None, row["signature"]
        written = [one["name"] for one in said if one["name"] != "trimSpecification"]  # of trim, which is syntax
        assert all(f"{name} :: " in row["signature"] or f"{name} = " in row["signature"] for name in written)


def test_every_procedure_of_neo4j_has_its_fields_described() -> None:
    for row in procedure_rows():
        if not row["name"].startswith("hop."):
            for column, said in (
                ("argumentDescription", descriptions.arguments_of_procedure(row["name"])),
                ("returnDescription", descriptions.results_of_procedure(row["name"])),
            ):
                assert said is not None, row["name"]
                assert row[column] == said
