"""The names that a graph is exported with as RDF, and that an import recognises.

    urn:hoplite:node/12           a node, by id               urn:hoplite:label/Person    a label
    urn:hoplite:relationship/7    a relationship, by id       urn:hoplite:type/KNOWS      a relationship type
    urn:hoplite:node              the type of every node      urn:hoplite:key/name        a property key
    urn:hoplite:json              the datatype of values that XML Schema has no type for, as JSON

Characters that an IRI may not contain are percent-encoded.
"""

from __future__ import annotations

from urllib.parse import quote, unquote

NAMESPACE = "urn:hoplite:"
NODE, LABEL, RELATIONSHIP, TYPE, KEY = (
    f"{NAMESPACE}{kind}/" for kind in ("node", "label", "relationship", "type", "key")
)
ANY_NODE = f"{NAMESPACE}node"
JSON = f"{NAMESPACE}json"

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
XSD = "http://www.w3.org/2001/XMLSchema#"
RESOURCE_LABEL, RESOURCE_KEY = "Resource", "uri"
"""The label of a resource from elsewhere, and the property that holds its IRI."""


def iri(kind: str, name: str) -> str:
    """`iri(TYPE, "is a")` is `urn:hoplite:type/is%20a`."""
    return kind + quote(name, safe="")


def name_of_own(iri: str) -> str:
    """The name that `iri` was built from."""
    return unquote(iri.removeprefix(NAMESPACE).partition("/")[2])
