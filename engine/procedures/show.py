"""SHOW PROCEDURES: the table in, one row per procedure out, sorted by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hoplite.engine.descriptions import arguments_of_procedure, results_of_procedure
from hoplite.engine.procedures.registry import PROCEDURES, Procedure
from hoplite.planner.types import Field


def procedure_rows(procedures: Mapping[str, Procedure] = PROCEDURES) -> list[dict[str, Any]]:
    """The rows of SHOW PROCEDURES YIELD *."""
    return [_row(procedures[name]) for name in sorted(procedures)]


def _row(procedure: Procedure) -> dict[str, Any]:
    signature = procedure.signature
    deprecated = signature.deprecated_by is not None
    return {
        "name": signature.name,
        "description": signature.description,
        "mode": signature.mode,
        "worksOnSystem": procedure.works_on_system,
        "signature": procedure.signature_text,
        "argumentDescription": arguments_of_procedure(signature.name) or list(map(_described, signature.inputs)),
        "returnDescription": results_of_procedure(signature.name) or list(map(_described, signature.outputs)),
        "admin": procedure.admin,
        "isDeprecated": deprecated,
        "deprecatedBy": signature.deprecated_by,
        "option": {"deprecated": deprecated},
    }


def _described(field: Field) -> dict[str, Any]:
    described: dict[str, Any] = {
        "name": field.name,
        "type": field.type,
        "description": f"{field.name} :: {field.type}",
        "isDeprecated": False,
    }
    if field.has_default:
        described["default"] = f"DefaultParameterValue{{value={field.default}, type={field.type}}}"
    return described
