"""The file of what an import has fetched: kept batches come back as they were, and damage is never taken for one."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hoplite.errors import CypherError
from hoplite.storage.disk.files import Files
from hoplite.storage.importers import fetched
from hoplite.storage.importers.fetched import FetchedBatch, FetchedFile
from hoplite.values.temporal import Date

DESCRIPTION = {"server": "bolt://here", "labels": ["A", "B"]}
NUMBERS = np.arange(10, 30, dtype=np.int64)
BATCHES = [
    FetchedBatch("nodes", 0, 2, [[10, ["A"], {"day": Date(1), "bytes": b"\0"}], [11, [], {}]]),
    FetchedBatch("nodes", 2, 3, [[13, ["A", "B"], {"nan": float("inf"), "list": [1, 2]}]]),
    FetchedBatch("relationships", 0, 1, [[10, "R", 10, 13, {"text": "é😀"}]]),
]


def written(path: Path, contents: list[Any] | None = None) -> list[int]:
    """Write batches, or whatever is given for them; where each frame ends."""
    file = FetchedFile(path)
    file.start_over(DESCRIPTION)
    ends = [path.stat().st_size]
    for batch in BATCHES if contents is None else contents:
        file.add(batch) if isinstance(batch, FetchedBatch) else file._append(batch)
        ends.append(path.stat().st_size)
    file.close()
    return ends


def kept(path: Path) -> tuple[list[FetchedBatch], str | None]:
    """The batches that can be used, and what is said of the others."""
    file = FetchedFile(path)
    assert file.description == DESCRIPTION
    taken: list[FetchedBatch] = []
    for batch in BATCHES:
        found = file.take(batch.noun, batch.first, NUMBERS[batch.first :])
        if found is None:
            break
        taken.append(found)
    problem = file.problem
    file.close()
    return taken, problem


def test_batches_come_back_as_they_were(tmp_path: Path) -> None:
    path = tmp_path / "f"
    written(path)
    assert kept(path) == (BATCHES, None)


def test_a_file_that_ends_anywhere_keeps_whole_batches(tmp_path: Path) -> None:
    path = tmp_path / "f"
    ends = written(path)
    data = path.read_bytes()
    for size in range(ends[0], len(data)):
        path.write_bytes(data[:size])
        whole = sum(end <= size for end in ends) - 1
        assert kept(path) == (BATCHES[:whole], None)
        if whole:
            assert path.exists()


def test_a_flipped_bit_anywhere_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "f"
    ends = written(path)
    data = path.read_bytes()
    for place in range(ends[0], len(data)):
        path.write_bytes(data[:place] + bytes([data[place] ^ 4]) + data[place + 1 :])
        before = sum(end <= place for end in ends) - 1
        batches, problem = kept(path)
        assert batches == BATCHES[:before]
        assert problem is not None and f"damaged at byte {ends[before]}" in problem


def test_a_flipped_bit_in_the_description_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "f"
    ends = written(path)
    data = path.read_bytes()
    for place in range(8, ends[0]):
        path.write_bytes(data[:place] + bytes([data[place] ^ 4]) + data[place + 1 :])
        file = FetchedFile(path)
        assert file.description == {}
        file.start_over(DESCRIPTION)
        assert file.take("nodes", 0, NUMBERS) is None
        file.close()


def test_what_follows_damage_is_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "f"
    ends = written(path)
    data = bytearray(path.read_bytes())
    data[ends[1] + 40] ^= 1
    path.write_bytes(data)
    file = FetchedFile(path)
    assert file.take("nodes", 0, NUMBERS) == BATCHES[0]
    assert file.take("nodes", 2, NUMBERS[2:]) is None
    for batch in BATCHES[1:]:
        file.add(batch)
    file.close()
    assert kept(path) == (BATCHES, None)


@pytest.mark.parametrize(
    "content",
    [
        "text",
        {"a": 1},
        ["nodes", 0, 2, []],
        ["nodes", 2, 0, []],
        ["nodes", 2, -1, []],
        ["nodes", 2, 100, []],
        ["relationships", 2, 3, []],
        ["nodes", 2, 3, [[12, [], {}], [12, [], {}]]],
        ["nodes", 2, 3, [[29, [], {}]]],
        ["nodes", 2, 3, [["12", [], {}]]],
        ["nodes", 2, 3, [[12, [1], {}]]],
        ["nodes", 2, 3, [[12, [], {"a": None}]]],
        ["nodes", 2, 3, [[12, [], {"a": [1, "x"]}]]],
        ["nodes", 2, 3, [[12, [], {"a": {"b": 1}}]]],
        ["nodes", 2, 3, [[12, [], []]]],
        ["nodes", 2, 3, [[12, "R", 10, 11, {}]]],
        ["nodes", 2, 3, [12]],
        ["nodes", 2, 3, 4],
    ],
)
def test_a_batch_of_another_form_is_of_no_use(content: Any, tmp_path: Path) -> None:
    path = tmp_path / "f"
    ends = written(path, [BATCHES[0], content, BATCHES[2]])
    batches, problem = kept(path)
    assert batches == BATCHES[:1]
    assert problem is not None and f"from byte {ends[1]}" in problem


def test_a_frame_that_claims_to_be_huge_takes_no_memory(tmp_path: Path) -> None:
    path = tmp_path / "f"
    written(path, BATCHES[:1])
    fields = fetched._FRAME.pack(fetched._MAGIC, 2, 2**62, 0)
    with path.open("ab") as end:
        end.write(fields + fetched._CHECKSUM.pack(zlib.crc32(fields)) + b"rest")
    assert kept(path) == (BATCHES[:1], None)


def test_a_file_without_batches_does_not_stay(tmp_path: Path) -> None:
    path = tmp_path / "f"
    written(path, [])
    assert not path.exists()


def test_a_file_of_others_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text("my notes", encoding="utf-8")
    with pytest.raises(CypherError, match="is not overwritten"):
        FetchedFile(path)
    assert path.read_text(encoding="utf-8") == "my notes"


def test_two_imports_cannot_use_one_file(tmp_path: Path) -> None:
    first = FetchedFile(tmp_path / "f")
    with pytest.raises(CypherError, match="another process is importing"):
        FetchedFile(tmp_path / "f")
    first.close()


def test_a_full_disk_is_told(tmp_path: Path) -> None:
    class Full(Files):
        def write(self, file: int, data: bytes | memoryview, offset: int) -> None:
            raise OSError(28, "No space left on device")

    file = FetchedFile(tmp_path / "f", Full())
    with pytest.raises(CypherError, match=r"f: No space left on device.\nNothing was imported"):
        file.start_over(DESCRIPTION)
    file.close()
