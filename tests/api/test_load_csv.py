"""LOAD CSV reads what Neo4j 5.26 reads; the answers here are its own."""

from __future__ import annotations

import gzip
import io
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from neo4j.exceptions import Neo4jError

import hoplite
from hoplite.engine import csv_rows
from hoplite.engine.csv_rows import CsvRows
from hoplite.errors import CypherError

AFTER_QUOTE = (
    " there's a field starting with a quote and whereas it ends that quote there seems to be characters in that field "
    "after that ending quote. That isn't supported. This is what I read: "
)
EXECUTION_FAILED = "Neo.DatabaseError.Statement.ExecutionFailed"
EXTERNAL = "Neo.ClientError.Statement.ExternalResourceFailed"


def load(folder: Path, content: bytes, options: str = "", name: str = "f.csv", terminator: str = "") -> list[Any]:
    (folder / name).write_bytes(content)
    with hoplite.open(import_folder=folder) as db:
        return [record[0] for record in db.run(f"LOAD CSV {options}FROM 'file:///{name}' AS r {terminator} RETURN r")]


@pytest.mark.parametrize(
    ("content", "rows"),
    [
        (b'"x","","z",\n', [["x", "", "z", None]]),
        (b'C:\\dir,"nl\\n"\n', [["C:\\dir", "nl\\n"]]),
        (b"a\\,b,c", [["a\\", "b", "c"]]),
        (
            b'"a\\"b","c\\\\d","e\\nf","g""h",i\\,j\\"k,"\\""\n',
            [['a"b', "c\\d", "e\\nf", 'g"h', "i\\", 'j\\"k', '"']],
        ),
        (b'a"b"c, "x",\'y\'\n', [['a"b"c', ' "x"', "'y'"]]),
        (b'"x,"",y",""\n', [['x,",y', ""]]),
        (b'1,"i\\', [["1", "i\\"]]),
        (b"a,b\r1,2\r\r3,4", [["a", "b"], ["1", "2"], ["3", "4"]]),
        (b'a,"b\r\nc"\r\n\r\n  \r\n', [["a", "b\r\nc"], ["  "]]),
        (b"a,b,\n,\n", [["a", "b", None], [None, None]]),
        (b"", []),
        (b"\n\r\n", []),
        (b'x\n"' + b"a" * 200_000 + b'",""\n', [["x"], ["a" * 200_000, ""]]),
        ("caf\xe9,\xff".encode("latin-1"), [["caf\ufffd", "\ufffd"]]),
        (b"a\xe2\x82,\xed\xa0\x80,\xc0\xaf,\xe2\x28\xa1\n", [["a\ufffd", "\ufffd", "\ufffd\ufffd", "\ufffd(\ufffd"]]),
        (b"\xff\xfe" + "h\xe4,\u65e5\n".encode("utf-16-le"), [["h\xe4", "\u65e5"]]),
        (b"\xfe\xff" + "h\xe4,\u65e5\n".encode("utf-16-be"), [["h\xe4", "\u65e5"]]),
        (b"\0\0\xfe\xff" + "h\xe4,\u65e5\n".encode("utf-32-be"), [["h\xe4", "\u65e5"]]),
        (b"\xef\xbb\xbfa,b\n", [["a", "b"]]),
        (gzip.compress(b"a,b\n", mtime=0), [["a", "b"]]),
        ("a\u2028b,c\x0bd\x85e\x1cf\n".encode(), [["a\u2028b", "c\x0bd\x85e\x1cf"]]),
    ],
)
def test_fields_are_what_neo4j_reads(tmp_path: Path, content: bytes, rows: list[list[str | None]]) -> None:
    assert load(tmp_path, content) == rows


def archive(*names: str) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as made:
        for name in names:
            made.writestr(name, "" if name.endswith("/") else "a,b\n")
    return packed.getvalue()


@pytest.mark.parametrize("names", [("x.csv",), ("d/", "d/x.csv"), ("x.csv", "__MACOSX/x.csv")])
def test_the_one_file_of_an_archive_is_read_whatever_it_is_called(tmp_path: Path, names: tuple[str, ...]) -> None:
    assert load(tmp_path, archive(*names)) == [["a", "b"]]


def test_two_files_in_an_archive_are_none(tmp_path: Path) -> None:
    with pytest.raises(Neo4jError, match="Couldn't load the external resource") as raised:
        load(tmp_path, archive("x.csv", "y.csv"))
    assert raised.value.code == EXTERNAL


@pytest.mark.parametrize(
    ("content", "rows"),
    [
        (b"a,b,c\n1\n1,2,3,4\n", [{"a": "1", "b": None, "c": None}, {"a": "1", "b": "2", "c": "3"}]),
        (b"a,a,b\n1,2,3\n", [{"a": "2", "b": "3"}]),
        (b'a,,b\n1,"",3\n', [{"a": "1", "": "", "b": "3"}]),
        (b'C:\\dir,"a\\\\b",a\\\\b\n1,2,3\n', [{"C:\\dir": "1", "a\\b": "2", "a\\\\b": "3"}]),
    ],
)
def test_a_row_has_the_names_of_the_header(tmp_path: Path, content: bytes, rows: list[dict[str, str | None]]) -> None:
    assert load(tmp_path, content, "WITH HEADERS ") == rows


@pytest.mark.parametrize(
    ("header", "keys"),
    [
        ("year,quarter,month,b", "year,quarter,month,b"),
        ("zebra,quarter,month,year,b", "year,quarter,b,zebra,month"),
        ("zebra,quarter,month,year,b,aa,cc,dd,ee", "year,quarter,b,zebra,cc,aa,ee,month,dd"),
    ],
)
def test_keys_come_in_the_order_of_a_scala_map(tmp_path: Path, header: str, keys: str) -> None:
    (row,) = load(tmp_path, f"{header}\n1,2,3\n".encode(), "WITH HEADERS ")
    assert list(row) == keys.split(",")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'x,y\n"a"b,c\n', f"@ position 8 - {AFTER_QUOTE}'a\"b'"),
        (b'"" ,y\n', f"@ position 3 - {AFTER_QUOTE}'\" '"),
        (b'"x""y"z', f"@ position 7 - {AFTER_QUOTE}'x\"y\"zz'"),
        (b'x,y\n1,"unter\nmi', '@ position 16 - Missing end for quote (") which started on line 1'),
        (b'\n\nb\n"\n\n', '@ position 8 - Missing end for quote (") which started on line 1'),
    ],
)
def test_malformed_quotes_are_told_as_neo4j_does(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(Neo4jError) as raised:
        load(tmp_path, content)
    assert (raised.value.code, raised.value.message) == (EXECUTION_FAILED, f"At {tmp_path / 'f.csv'} {message}")


@pytest.mark.parametrize("quote", ["", '"'])
def test_a_field_beyond_the_buffer_is_refused(tmp_path: Path, quote: str) -> None:
    with pytest.raises(Neo4jError, match="Tried to read a field larger than the current buffer size"):
        load(tmp_path, f"x\n{quote}{'a' * (csv_rows.LONGEST_FIELD + 1)}{quote},1\n".encode())


def test_a_long_row_of_short_fields_is_read(tmp_path: Path) -> None:
    (row,) = load(tmp_path, b"aaaaaaa," * 500_000 + b'""')
    assert (len(row), row[-1]) == (500_001, "")


@pytest.mark.parametrize("terminator", ["", "||", "\U0001f600"])
def test_a_field_terminator_is_one_character(tmp_path: Path, terminator: str) -> None:
    with pytest.raises(Neo4jError, match="CSV field terminator can only be one character wide") as raised:
        load(tmp_path, b"", terminator=f"FIELDTERMINATOR '{terminator}'")
    assert raised.value.code == "Neo.ClientError.Statement.SyntaxError"


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("file:///with space.csv", "Invalid URL '{}': Illegal character in path at index 12: {} ()"),
        ("file:///100%.csv", "Invalid URL '{}': Malformed escape pair at index 11: {} ()"),
        ("f.csv", "Invalid URL '{}': no protocol: {} ()"),
        ("/f.csv", "Invalid URL '{}': no protocol: {} ()"),
        ("", "Invalid URL '{}': no protocol: {} ()"),
        ("foo://x/f.csv", "Invalid URL '{}': unknown protocol: foo ()"),
        ("file:f.csv", "Cannot load from URL '{}': URI is not hierarchical ()"),
        (
            "file://localhost/f.csv",
            "Cannot load from URL '{}': file URL may not contain an authority section (i.e. it should be 'file:///') "
            "()",
        ),
        ("file:///f.csv?x=1", "Cannot load from URL '{}': file URL may not contain a query component ()"),
        ("file:///f.csv#x", "Cannot load from URL '{}': URI has a fragment component ()"),
        ("file:///\xe9.csv", "Cannot load from URL '{}': Bad escape ()"),
        ("file:///missing.csv", "Cannot load from URL '{}': Couldn't load the external resource at: {} ()"),
        ("file:///sub", "Cannot load from URL '{}': Couldn't load the external resource at: {} ()"),
        ("file:///link.csv", "Cannot load from URL '{}': Couldn't load the external resource at: {} ()"),
        ("file:///a%00b.csv", "Cannot load from URL '{}': Couldn't load the external resource at: {} ()"),
    ],
)
def test_urls_that_name_no_file_of_the_folder(tmp_path: Path, url: str, message: str) -> None:
    folder = tmp_path / "import"
    (folder / "sub").mkdir(parents=True)
    (folder / "f.csv").write_bytes(b"a\n")
    (tmp_path / "secret.csv").write_bytes(b"a\n")
    (folder / "link.csv").symlink_to(tmp_path / "secret.csv")
    with hoplite.open(import_folder=folder) as db, pytest.raises(Neo4jError) as raised:
        list(db.run("LOAD CSV FROM $url AS r RETURN r", url=url))
    assert (raised.value.code, raised.value.message) == (EXTERNAL, message.format(url, url))


@pytest.mark.parametrize(
    "url", ["file:///a%20b.csv", "file:/a%20b.csv", "FILE:///../../a%20b.csv", "file:////a%20b.csv"]
)
def test_urls_are_resolved_below_the_folder(tmp_path: Path, url: str) -> None:
    (tmp_path / "a b.csv").write_bytes(b"1\n")
    with hoplite.open(import_folder=tmp_path) as db:
        assert db.run("LOAD CSV FROM $url AS r RETURN r", url=url).values() == [[["1"]]]


# --- against a reading character by character ---


def plainly(text: str, terminator: str) -> Iterator[list[str | None]]:
    """The same rules, one character at a time; a ValueError where quotes are wrong."""
    row: list[str | None] = []
    at, begin = 0, 0
    while at < len(text):
        field, quoted = "", False
        if text[at] == '"' and terminator != '"':
            quoted, at = True, at + 1
            while not text.startswith('"', at) or text.startswith('""', at):
                if at >= len(text):
                    raise ValueError(text)
                if (text[at] == "\\" and text[at + 1 : at + 2] in ('"', "\\")) or text.startswith('""', at):
                    at += 1
                elif text[at] == "\\" and at + 1 == len(text):
                    yield [*row, f"{field}\\"]
                    return
                field, at = field + text[at], at + 1
            at += 1
            if at < len(text) and text[at] not in (terminator, "\r", "\n"):
                raise ValueError(text)
        while at < len(text) and text[at] not in (terminator, "\r", "\n"):
            field, at = field + text[at], at + 1
        row.append(field if field or quoted else None)
        if at < len(text) and text[at] == terminator:
            at += 1
            if at == len(text):
                yield [*row, None]
                return
            continue
        if at > begin:
            yield row
        row, at = [], at + 1
        begin = at


@given(
    st.lists(st.sampled_from(['"', '""', "a", ",", "\n", "\r\n", "\\", " ", ',"",', '"x,y"', "\0"]), max_size=14),
    st.sampled_from([",", ";", '"', "\\", "\n", "a"]),
    st.sampled_from([1, 3, 7, 1000]),
)
def test_rows_do_not_depend_on_how_they_are_read(parts: list[str], terminator: str, piece: int) -> None:
    text = "".join(parts)
    try:
        wanted: Any = list(plainly(text, terminator))
    except ValueError:
        wanted = EXECUTION_FAILED
    before, csv_rows._PIECE = csv_rows._PIECE, piece
    try:
        got: Any = list(CsvRows(io.StringIO(text, newline="").read, terminator, "f"))
    except CypherError as error:
        got = error.code
    finally:
        csv_rows._PIECE = before
    assert got == wanted
