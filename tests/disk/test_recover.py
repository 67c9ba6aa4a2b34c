"""What `recover` rescues from a damaged database: everything except what is in the damaged part, which it names."""

from __future__ import annotations

import hashlib
import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from neo4j.exceptions import DatabaseError, TransientError

import hoplite
from hoplite.cli import main
from hoplite.storage.disk.verify import problems_of

State = tuple[Any, Any, Any]  # nodes and relationships by id, constraints

NODES = "MATCH (n) RETURN id(n), labels(n), properties(n)"
RELATIONSHIPS = "MATCH (a)-[r]->(b) RETURN id(r), id(a), type(r), id(b), properties(r)"
RULES = "SHOW CONSTRAINTS YIELD name, type, labelsOrTypes, properties"


def state_of(path: Path) -> State:
    with hoplite.open(path, read_only=True) as db:
        assert db.verify() == []
        nodes = {row[0]: (sorted(row[1]), row[2]) for row in db.run(NODES).values()}
        relationships = {row[0]: row[1:] for row in db.run(RELATIONSHIPS).values()}
        return nodes, relationships, db.run(RULES).values()


def fill(path: Path) -> None:
    """Three partitions, every kind of column, ids that are not positions, and commits in the log."""
    db = hoplite.open(path, partitions=3, durability="relaxed")
    db.run("CREATE CONSTRAINT FOR (n:N) REQUIRE n.i IS UNIQUE")
    db.run("CREATE INDEX FOR (n:N) ON (n.text)")
    db.run(
        "UNWIND range(1, 120) AS i "
        "CREATE (n:N {i: i, text: 'text ' + i, half: i / 2.0, even: i % 2 = 0, list: [i, i]}) "
        "FOREACH (x IN CASE WHEN i % 20 = 1 THEN [1] ELSE [] END | SET n:Rare, n.rare = 'r' + i, n.seldom = i)"
    )
    db.run("MATCH (a:N), (b:N) WHERE b.i IN [a.i * 2, a.i + 1, a.i + 7] CREATE (a)-[:R {w: a.i, t: 'w' + b.i}]->(b)")
    db.run("MATCH (n:N) WHERE n.i % 10 = 0 DETACH DELETE n")
    db.checkpoint()
    db.run("CREATE (:M:Fresh {i: 1000, list: ['a', 1.5, true][0..1]})-[:NEW {w: 1}]->(:M {i: 1001})")
    db.run("MATCH (n:N {i: 1}) SET n.text = 'changed', n:Seen")
    db.run("MATCH (a:N {i: 2}), (m:M {i: 1000}) CREATE (a)-[:NEW {w: 2}]->(m)")
    db.run("MATCH (n:N {i: 3}) DETACH DELETE n")
    db.run("MATCH (:N {i: 4})-[r:R]->(:N {i: 5}) SET r.w = -4")
    db._held_graph._let_go()  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sound") / "kg.hop"
    fill(path)
    return path


@pytest.fixture(scope="module")
def expected(sound: Path) -> State:
    return state_of(sound)


def rewritten(change: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    def rewrite(path: Path) -> None:
        path.write_bytes(change(path.read_bytes()))

    return rewrite


def flipped(place: float) -> Callable[[Path], None]:
    def flip(path: Path) -> None:
        content = bytearray(path.read_bytes())
        content[int(place * (len(content) - 1))] ^= 0x10
        path.write_bytes(content)

    return flip


DAMAGE: dict[str, Callable[[Path], None]] = {
    "deleted": Path.unlink,
    "empty": rewritten(lambda content: b""),
    "cut off": rewritten(lambda content: content[: len(content) // 2]),
    "longer": rewritten(lambda content: content + b"x"),
    "first byte": flipped(0),
    "a byte in the middle": flipped(0.5),
    "last byte": flipped(1),
}


def digest(path: Path) -> list[tuple[str, str]]:
    return [
        (str(file.relative_to(path)), hashlib.sha256(file.read_bytes()).hexdigest())
        for file in sorted(path.rglob("*"))
        if file.is_file()
    ]


def damaged_copy(sound: Path, tmp_path: Path, name: str, damage: Callable[[Path], None]) -> Path:
    copy = tmp_path / "damaged.hop"
    shutil.copytree(sound, copy)
    (file,) = [file for file in copy.rglob(name) if name != "manifest.json" or file.parent == copy]
    damage(file)
    return copy


def recovered(copy: Path) -> tuple[State, hoplite.Recovery]:
    before = digest(copy)
    report = hoplite.recover(copy, copy.parent / "recovered.hop")
    assert digest(copy) == before
    assert report.damage
    state = state_of(copy.parent / "recovered.hop")
    assert (report.nodes, report.relationships) == (len(state[0]), len(state[1]))
    return state, report


@pytest.mark.parametrize("how", DAMAGE)
@pytest.mark.parametrize(
    "name",
    [
        "manifest.json", "checksums", "index-0.bin", "index-1.bin", *(f"partition-{n}.{side}" for n in range(3)
        for side in ("in", "out")),
    ],
)  # fmt: skip
def test_what_is_there_twice_is_not_lost(sound: Path, expected: State, tmp_path: Path, name: str, how: str) -> None:
    if name == "index-1.bin" and not list(sound.rglob(name)):
        pytest.skip("there is one index only")
    copy = damaged_copy(sound, tmp_path, name, DAMAGE[how])
    assert problems_of(copy), "verify finds it"
    state, report = recovered(copy)
    assert state == expected
    assert report.is_complete, report
    assert not report.missing


@pytest.mark.parametrize("how", DAMAGE)
@pytest.mark.parametrize("entity", ["node", "relationship"])
def test_the_loss_of_a_column_takes_its_key_alone(
    sound: Path, expected: State, tmp_path: Path, entity: str, how: str
) -> None:
    for file in sorted(sound.rglob(f"{entity}-*")):
        place = tmp_path / file.name
        copy = damaged_copy(sound, place, file.name, DAMAGE[how])
        assert problems_of(copy), "verify finds it"
        state, report = recovered(copy)
        lost = report.lost_node_properties if entity == "node" else report.lost_relationship_properties
        if how == "longer":
            assert report.is_complete
            assert state == expected
            continue
        (key,) = lost
        assert not report.is_complete
        assert any(f"`{key}`" in sentence for sentence in report.missing)
        side = 0 if entity == "node" else 1
        assert state[1 - side] == expected[1 - side]
        assert state[side].keys() == expected[side].keys()
        kept = 0
        for number, entry in expected[side].items():
            had, has = dict(entry[-1]), dict(state[side][number][-1])
            assert state[side][number][:-1] == entry[:-1]
            kept += has.get(key) is not None
            assert has.pop(key, None) in (None, had.get(key))
            had.pop(key, None)
            assert has == had
        in_log = {"text": 1, "list": 1, "i": 2, "w": 3}
        assert kept == in_log.get(key, 0), key


@pytest.mark.parametrize("how", ["deleted", "empty", "first byte", "a byte in the middle"])
def test_the_loss_of_labels_and_ids(sound: Path, expected: State, tmp_path: Path, how: str) -> None:
    copy = damaged_copy(sound, tmp_path, "nodes.bin", DAMAGE[how])
    assert problems_of(copy), "verify finds it"
    state, report = recovered(copy)
    assert not report.is_complete
    assert report.nodes_without_labels == 108
    named = {properties["i"]: properties for _, properties in expected[0].values()}
    found = {properties["i"]: properties for _, properties in state[0].values()}
    assert found.keys() - named.keys() == {3}  # the log, which refers to it by its id, removes it
    assert {i: found[i] for i in named if i != 1} == {i: named[i] for i in named if i != 1}
    by_key = {(state[0][a][1]["i"], kind, state[0][b][1]["i"]) for a, kind, b, _ in state[1].values()}
    wanted = {(expected[0][a][1]["i"], kind, expected[0][b][1]["i"]) for a, kind, b, _ in expected[1].values()}
    assert wanted - by_key == {(2, "NEW", 1000)}
    assert all(3 in (a, b) for a, _, b in by_key - wanted)


@pytest.mark.parametrize("how", ["deleted", "empty", "first byte"])
def test_the_loss_of_relationship_ids(sound: Path, expected: State, tmp_path: Path, how: str) -> None:
    copy = damaged_copy(sound, tmp_path, "relationships.bin", DAMAGE[how])
    assert problems_of(copy), "verify finds it"
    state, report = recovered(copy)
    assert any("ids of the relationships" in sentence for sentence in report.missing)
    assert state[0] == expected[0]

    def ends(state: State) -> list[Any]:
        return sorted((a, kind, b, properties["w"]) for a, kind, b, properties in state[1].values())

    changed = [entry for entry in ends(state) if entry not in ends(expected)]
    assert len(changed) == 1 and changed[0][3] == 4  # its change is in the log, by its id


def test_both_sides_of_a_relationship_lost(sound: Path, expected: State, tmp_path: Path) -> None:
    copy = damaged_copy(sound, tmp_path, "partition-1.out", Path.unlink)
    next(copy.rglob("partition-2.in")).unlink()
    state, report = recovered(copy)
    assert state[0] == expected[0]
    lost = expected[1].keys() - state[1].keys()
    assert 0 < len(lost) <= report.lost_relationships < len(expected[1]) // 3
    assert {number: state[1][number] for number in state[1]} == {number: expected[1][number] for number in state[1]}
    assert any("relationships of the snapshot" in sentence for sentence in report.missing)


def log_of(path: Path) -> tuple[Path, list[int]]:
    """The log, and where its records begin."""
    (log,) = path.glob("wal-*.log")
    data, at, found = log.read_bytes(), 64, []
    while at < len(data):
        found.append(at)
        at += 32 + struct.unpack_from("<I", data, at + 4)[0]
    return log, found


def change_byte(log: Path, place: int) -> None:
    content = bytearray(log.read_bytes())
    content[place] ^= 1
    log.write_bytes(content)


def test_the_header_of_a_log_takes_nothing_with_it(sound: Path, expected: State, tmp_path: Path) -> None:
    for place in (0, 9, 20, 63):
        copy = tmp_path / str(place) / "damaged.hop"
        shutil.copytree(sound, copy)
        change_byte(log_of(copy)[0], place)
        assert problems_of(copy), "verify finds it"
        state, report = recovered(copy)
        assert report.is_complete
        assert state == expected


@pytest.mark.parametrize("inside", [1, 6, 20, 40])
def test_a_record_that_is_lost_takes_only_what_hangs_on_it(
    sound: Path, expected: State, tmp_path: Path, inside: int
) -> None:
    for number in range(5):
        copy = tmp_path / str(number) / "damaged.hop"
        shutil.copytree(sound, copy)
        log, records = log_of(copy)
        assert len(records) == 5
        change_byte(log, records[number] + inside)
        assert problems_of(copy), "verify finds it"
        state, report = recovered(copy)
        assert not report.is_complete
        fresh = {i for _, properties in expected[0].values() if (i := properties["i"]) >= 1000}
        assert fresh == {1000, 1001}
        found = {properties["i"]: (labels, properties) for labels, properties in state[0].values()}
        wanted = {properties["i"]: (labels, properties) for labels, properties in expected[0].values()}
        match number:
            case 0:  # made two nodes and a relationship, to one of which a later one leads
                assert (report.lost_commits, report.lost_nodes) == (1, 1)  # that the other was made is not known
                assert wanted.keys() - found.keys() == {1000, 1001}
                assert report.dangling_relationships == 1
                assert {i: found[i] for i in found if i != 1} == {i: wanted[i] for i in found if i != 1}
            case 1:
                assert found.pop(1)[1]["text"] == "text 1"
                assert found == {i: entry for i, entry in wanted.items() if i != 1}
                assert state[1] == expected[1]
            case 2:
                assert state[0] == expected[0]
                assert report.lost_relationships == 0  # no id was assigned after it
                assert len(expected[1]) - len(state[1]) == 1
            case 3:
                assert found.keys() - wanted.keys() == {3}
                assert {i: found[i] for i in wanted} == wanted
            case 4:  # the last one: it is unknown how many followed
                assert "the end of the log" in report.missing[0]
                assert state[0] == expected[0]
                assert state[1].keys() == expected[1].keys()


def test_a_log_that_is_missing_or_ends_early(sound: Path, expected: State, tmp_path: Path) -> None:
    copy = damaged_copy(sound, tmp_path / "a", "wal-*.log", Path.unlink)
    assert problems_of(copy), "verify finds it"
    state, report = recovered(copy)
    assert any("end of the log" in sentence for sentence in report.missing)
    assert {properties["i"] for _, properties in state[0].values()} == {i for i in range(1, 121) if i % 10}

    copy = tmp_path / "b" / "damaged.hop"
    shutil.copytree(sound, copy)
    log, records = log_of(copy)
    log.write_bytes(log.read_bytes()[: records[4] + 11])
    report = hoplite.recover(copy, tmp_path / "b" / "recovered.hop")
    assert report.is_complete  # as a process leaves it that is killed in the middle of a commit
    assert "never finished" in report.notes[0]
    assert state_of(tmp_path / "b" / "recovered.hop")[0] == expected[0]


def test_a_constraint_that_no_longer_holds_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "damaged.hop"
    db = hoplite.open(path, durability="relaxed")
    db.run("CREATE CONSTRAINT only FOR (n:N) REQUIRE n.i IS UNIQUE")
    db.run("CREATE (:N {i: 1})")
    db.checkpoint()
    db.run("MATCH (n:N {i: 1}) DELETE n")
    db.run("CREATE (:N {i: 1})")
    db._held_graph._let_go()  # type: ignore[attr-defined]
    log, records = log_of(path)
    change_byte(log, records[0] + 40)
    state, report = recovered(path)
    assert len(state[0]) == 2
    assert report.dropped_constraints == ["only"]
    assert state[2] == []


def test_without_a_manifest_the_copy_is_used_or_the_reason_told(sound: Path, tmp_path: Path) -> None:
    copy = damaged_copy(sound, tmp_path, "manifest.json", Path.unlink)
    next(copy.glob("snapshot-*/manifest.json")).unlink()
    with pytest.raises(DatabaseError, match="no manifest is left"):
        hoplite.recover(copy, tmp_path / "recovered.hop")
    assert not (tmp_path / "recovered.hop").exists()


def test_large_columns_lose_single_blocks(tmp_path: Path) -> None:
    count = 300_000
    path = tmp_path / "large.hop"
    numbers = list(range(count))
    columns: dict[str, list[Any]] = {
        "id": numbers,
        "half": [number / 2 for number in numbers],
        "text": [f"text {number}" if number % 3 else None for number in numbers],
        "list": [[number] if number % 50 else None for number in numbers],
    }
    with hoplite.open(path, durability="relaxed") as db:
        db.load(nodes={"N": columns})
    for file in sorted(path.rglob("node-*")):
        copy = tmp_path / file.name / "damaged.hop"
        shutil.copytree(path, copy)
        flipped(0.6)(next(copy.rglob(file.name)))
        report = hoplite.recover(copy, copy.parent / "recovered.hop")
        (key,) = report.lost_node_properties
        with hoplite.open(copy.parent / "recovered.hop", read_only=True) as db:
            found = dict(db.run(f"MATCH (n:N) RETURN id(n), n.{key}").values())
        assert len(found) == count
        differing = [number for number in numbers if found[number] != columns[key][number]]
        assert 0 < len(differing) <= 200_000, key
        assert all(found[number] is None for number in differing)
        shutil.rmtree(copy.parent)


def test_without_checksums_and_with_damage_the_rest_comes_unchecked(
    sound: Path, expected: State, tmp_path: Path
) -> None:
    copy = damaged_copy(sound, tmp_path, "checksums", Path.unlink)
    next(copy.rglob("partition-0.in")).unlink()
    state, report = recovered(copy)
    assert state == expected
    assert not report.is_complete
    assert not report.missing
    assert "nodes.bin" in report.unchecked_files


def test_what_is_refused(sound: Path, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    with pytest.raises(DatabaseError, match="something of that name"):
        hoplite.recover(sound, tmp_path / "there")
    with pytest.raises(DatabaseError, match="no database here"):
        hoplite.recover(tmp_path / "nowhere", tmp_path / "new")
    with pytest.raises(DatabaseError, match="inside the damaged database"):
        hoplite.recover(sound, sound / "new")
    with hoplite.open(tmp_path / "open.hop"), pytest.raises(TransientError, match="open for writing by process"):
        hoplite.recover(tmp_path / "open.hop", tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_the_command_tells_by_its_exit_status(sound: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["recover", str(sound), str(tmp_path / "whole.hop")]) == 0
    assert "Everything was recovered." in capsys.readouterr().out
    copy = damaged_copy(sound, tmp_path, "node-0.*", Path.unlink)
    assert main(["recover", str(copy), str(tmp_path / "part.hop")]) == 3
    told = capsys.readouterr()
    assert "109 nodes and" in told.out
    assert "Missing:\n  all values of" in told.err
    assert main(["recover", str(copy), str(tmp_path / "part.hop")]) == 1
    assert "something of that name" in capsys.readouterr().err
