"""Ends of results and errors, in the form of each version of Bolt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hoplite.driver.conversation import Metadata
from hoplite.server.framing import Version

if TYPE_CHECKING:
    from neo4j.exceptions import Neo4jError

_ENDED = ("bookmark", "stats", "statuses", "type", "plan", "profile", "t_last", "db", "notifications")
_STATUS = ("gql_status", "neo4j_code", "status_description", "diagnostic_record", "description", "title")
_USUAL = {"OPERATION": "", "OPERATION_CODE": "0", "CURRENT_SCHEMA": "/"}  # what may be omitted


def failure(error: Neo4jError, version: Version) -> Metadata:
    """An error; before 5.7 without its GQL status."""
    code, message = error.code or "", error.message or ""
    if version < (5, 7):
        return {"code": code, "message": message}
    return {"neo4j_code": code, "message": message, **_status(error)}


def _status(error: Any) -> Metadata:
    """The status of an error, and its causes.

    Read from private attributes: driver 5 warns that the public properties may change, which clients of a server should
    not see, and which breaks the answer if warnings are errors.
    """
    metadata: Metadata = {"gql_status": error._gql_status, "description": error._gql_status_description}
    record = _unusual(error._get_status_diagnostic_record())
    if record:
        metadata["diagnostic_record"] = record
    cause = error.__cause__
    if cause is not None and hasattr(cause, "_gql_status"):
        metadata["cause"] = {"message": cause._message, **_status(cause)}
    return metadata


def ended(metadata: Metadata, version: Version) -> Metadata:
    """The end of a result, or of a part of it, in the order of Neo4j; before 5.5 with notifications, not statuses."""
    statuses = metadata.get("statuses")
    if statuses is None:
        return metadata
    sent = dict(metadata)
    if version >= (5, 5):
        sent["statuses"] = [_sent_status(status) for status in statuses]
    else:
        del sent["statuses"]
        notifications = [_notification(status) for status in statuses if "neo4j_code" in status]
        if notifications:
            sent["notifications"] = notifications
    return {key: sent[key] for key in _ENDED if key in sent}


def _sent_status(status: Metadata) -> Metadata:
    record = _unusual(status["diagnostic_record"])
    sent = {**status, "diagnostic_record": record} if record else status
    return {key: sent[key] for key in _STATUS if key in sent and (record or key != "diagnostic_record")}


def _notification(status: Metadata) -> Metadata:
    record = status["diagnostic_record"]
    notification = {
        "severity": record["_severity"],
        "description": status["description"],
        "code": status["neo4j_code"],
        "title": status["title"],
        "category": record["_classification"],
    }
    if "_position" in record:
        notification["position"] = record["_position"]
    return notification


def _unusual(record: Metadata) -> Metadata:
    return {key: value for key, value in record.items() if _USUAL.get(key) != value}
