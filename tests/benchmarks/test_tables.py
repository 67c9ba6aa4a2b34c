"""The arithmetic of the benchmark's tables: medians, ratios, comparisons over common queries, targets."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.contest import HOPS, Effort, Load, Part, Row, Samples
from benchmarks.engine import Form
from benchmarks.report import headline, markdown, rewritten, save, saved
from benchmarks.tables import (
    Table,
    agreement,
    answers_that_differ,
    ball_allowed_ms,
    ball_tables,
    best_peer,
    failures,
    load_table,
    median_ms,
    query_tables,
    ratio,
    shown_ms,
    shown_ratio,
    targets,
    times_as_long,
)
from benchmarks.workloads import WORKLOADS


def samples(times: dict[int, float], reference: float = 0.001, digest: str = "right") -> Samples:
    """One sample for each query, in seconds."""
    made = Samples()
    made.add(list(times), list(times.values()), [reference] * len(times))
    made.digest = dict.fromkeys(times, digest)
    made.reference_digest = dict.fromkeys(times, "right")
    return made


def row(engine: str, way: str, form: Form, seconds: float, questions: list[str], digest: str = "right") -> Row:
    made = Row(engine, engine.title(), way, form, 0)
    made.samples = {question: samples({0: seconds, 1: seconds}, digest=digest) for question in questions}
    return made


def balls(cypher: float, khop: float, peer: float, digest: str = "right") -> Part:
    """Hoplite and a peer that take this many seconds at every k; the limit is a millisecond."""
    questions = [str(k) for k in HOPS]
    part = Part("umls", 10, 20)
    for form in ("columns", "objects"):
        part.rows.append(row("hoplite", "Cypher", form, cypher, questions))
        part.rows.append(row("hoplite", "khop", form, khop, questions))
        part.rows.append(row("kglite", "Cypher", form, peer, questions, digest))
    return part


def table_of(part: Part, beginning: str) -> Table:
    return next(table for table in ball_tables(part) if table.title.startswith(beginning))


def test_a_ratio_is_of_the_medians_of_engine_and_reference() -> None:
    made = samples({0: 0.002, 1: 0.003, 2: 0.100})
    assert median_ms(made) == pytest.approx(3.0)
    assert ratio(made) == pytest.approx(3.0)


def test_two_ways_are_compared_over_the_queries_that_both_ran() -> None:
    ours, theirs = samples({0: 1.0, 1: 9.0, 2: 9.0}), samples({0: 4.0})
    assert times_as_long(theirs, ours) == pytest.approx(4.0)


def test_the_best_peer_is_of_the_same_form_and_may_be_ahead() -> None:
    ours = row("hoplite", "Cypher", "columns", 0.010, ["1"])
    rows = [ours, row("a", "x", "columns", 0.020, ["1"]), row("b", "x", "columns", 0.005, ["1"])]
    rows.append(row("c", "x", "objects", 0.001, ["1"]))
    found = best_peer(rows, "1", "columns", ours.samples["1"])
    assert found is not None
    assert found[0].engine == "b"
    assert found[1] == pytest.approx(0.5)


def test_a_peer_that_never_answered_is_no_best_peer() -> None:
    silent = Row("a", "A", "x", "columns", 0, {"1": Samples(problem="no answer within 90 s")})
    assert best_peer([silent], "1", "columns", samples({0: 1.0})) is None


def test_what_a_ball_may_take() -> None:
    assert ball_allowed_ms(4.0, 0.060, 1.25) == pytest.approx(5.06)


@pytest.mark.parametrize(("seconds", "word"), [(0.0013, "met"), (0.0014, "**missed**")])
def test_a_ball_meets_its_target_up_to_what_is_allowed(seconds: float, word: str) -> None:
    table = table_of(balls(cypher=seconds, khop=0.001, peer=0.5), "Hoplite's Cypher")
    assert [cells[4] for cells in table.rows] == [word] * len(HOPS)


def test_a_peer_that_is_ahead_is_said_to_be() -> None:
    table = table_of(balls(cypher=0.002, khop=0.001, peer=0.001), "Hoplite's Cypher")
    assert all("ahead of us" in cells[-1] for cells in table.rows)
    assert "ahead of us" not in str(table_of(balls(0.002, 0.001, 0.004), "Hoplite's Cypher").rows)


def test_a_way_with_fewer_queries_says_how_many() -> None:
    part = balls(0.001, 0.001, 0.001)
    part.rows[2].samples["5"] = samples({0: 0.004})
    cells = table_of(part, "k-hop ball, as Arrow").rows[3]
    assert cells[-1] == "4.00 (4.0x, q=1)"
    assert "q=" not in cells[2]


def test_only_a_failure_of_hoplite_fails_a_run() -> None:
    part = balls(0.001, 0.001, 0.001)
    part.rows[2].samples["5"] = Samples(problem="no answer within 90 s")
    part.absent["kuzu"] = "not installed"
    assert failures(part) == []
    part.rows[1].samples["5"] = Samples(problem="KeyError: 7")
    assert failures(part) == ["Hoplite khop (columns), 5: KeyError: 7"]


def test_a_way_without_an_answer_shows_the_reason() -> None:
    part = balls(0.001, 0.001, 0.001)
    part.rows[2].samples["5"] = Samples(problem="no answer within 90 s")
    assert table_of(part, "k-hop ball, as Arrow").rows[3][-1] == "no answer within 90 s"


def queries(ours: float, kglite: float, ladybug: float) -> Part:
    keys = [workload.key for workload in WORKLOADS]
    part = Part("ibkh", 10, 20)
    for form in ("columns", "objects"):
        for engine, seconds in (("hoplite", ours), ("kglite", kglite), ("ladybug", ladybug)):
            part.rows.append(row(engine, "Cypher", form, seconds, keys))
    return part


def test_targets_of_queries_are_milliseconds_or_shares_of_a_peers_time() -> None:
    table = query_tables(queries(ours=0.001, kglite=0.0035, ladybug=0.0051))[-1]
    verdicts = {(cells[0].split()[0], cells[1], cells[2]): cells[-1] for cells in table.rows}
    assert verdicts["e1", "objects", "under 0.1 ms"] == "**missed**"
    assert verdicts["e2", "objects", "ahead of kglite"] == "met"
    assert verdicts["c2", "objects", "under 2 ms"] == "met"
    assert verdicts["c1", "columns", "under 0.25x kglite"] == "**missed**"
    assert verdicts["c1", "objects", "under 1.5x kglite"] == "met"
    assert verdicts["a", "columns", "under 0.5x ladybug"] == "met"
    assert verdicts["d2", "objects", "under 0.2x ladybug"] == "met"


def test_targets_are_counted() -> None:
    assert targets([Table("", [], [["met", "**missed**"], ["met", "not judged"]])]) == (2, 3)


def test_a_target_without_its_peer_is_not_judged() -> None:
    part = queries(0.001, 0.0035, 0.0051)
    part.rows = [one for one in part.rows if one.engine != "ladybug"]
    judged = {cells[-1] for cells in query_tables(part)[-1].rows if "ladybug" in cells[2]}
    assert judged == {"not judged"}


def test_numbers_have_three_digits() -> None:
    shown = [shown_ms(value) for value in (0.0042, 0.42, 4.2, 42.0, 420.0, 4200.0)]
    assert shown == ["0.004", "0.420", "4.20", "42.0", "420", "4,200"]
    assert [shown_ratio(value) for value in (0.5, 1.25, 12.5, 1250.0)] == ["0.50x", "1.2x", "12x", "1,250x"]


def test_answers_that_differ_are_found_and_told() -> None:
    assert answers_that_differ(balls(0.001, 0.001, 0.001)) == []
    part = balls(0.001, 0.001, 0.001, digest="wrong")
    differing = answers_that_differ(part)
    assert len(differing) == 2 * 2 * len(HOPS)  # two forms, two queries, every k
    assert "Kglite Cypher (columns) answers wrong, where right is right" in str(differing[0])
    assert agreement(part, differing).startswith("**20 of 60 answers differ**")


def test_a_reference_that_differs_from_process_to_process_is_found() -> None:
    part = balls(0.001, 0.001, 0.001)
    part.rows[2].samples["3"].reference_digest[1] = "other"
    assert [one.way for one in answers_that_differ(part)] == ["the reference"]


def test_samples_survive_being_saved(tmp_path: Path) -> None:
    part = balls(0.001, 0.001, 0.001)
    part.loads.append(Load("hoplite", "Hoplite", 1.5, 200.0, 300.0))
    part.absent["neo4j"] = "NEO4J_URI is not set"
    effort = Effort(queries=2, rounds=1, seconds=1.0, repeat=1, batch_sizes=(1, 2))
    save(tmp_path / "full.json", {"khop": part}, effort)
    save(tmp_path / "full.json", {"cypher": queries(1.0, 1.0, 1.0)}, effort)
    found = saved(tmp_path / "full.json")
    assert set(found) == {"khop", "cypher"}
    again, how = found["khop"]
    assert ball_tables(again) == ball_tables(part)
    assert load_table([again]) == load_table([part])
    assert again.absent == part.absent
    assert how.queries == 2


def test_only_the_marked_stretch_of_a_document_is_rewritten() -> None:
    document = "before\n<!-- bench:khop -->\nold\n<!-- /bench:khop -->\nafter <!-- bench:cypher -->\n"
    once = rewritten(document, "khop", "new \\1")
    assert once == "before\n<!-- bench:khop -->\n\nnew \\1\n\n<!-- /bench:khop -->\nafter <!-- bench:cypher -->\n"
    assert rewritten(once, "khop", "new \\1") == once
    with pytest.raises(ValueError, match="no markers for 'batch'"):
        rewritten(document, "batch", "text")


def test_markdown_escapes_what_would_end_a_cell() -> None:
    assert "a\\|b" in markdown(Table("t", ["x"], [["a|b"]]))


def test_the_headline_names_the_best_of_each_kind_of_peer() -> None:
    part = balls(0.002, 0.001, 0.004)
    part.rows.append(row("numpy", "gathers", "objects", 0.003, [str(k) for k in HOPS]))
    text = headline(part)
    assert "Kglite 4.00 (2.0x ours)" in text
    assert "Numpy 3.00 (1.5x ours)" in text


def test_the_headline_compares_one_form_and_says_who_ran_fewer_queries() -> None:
    part = balls(0.002, 0.001, 0.004)
    questions = [str(k) for k in HOPS]
    part.rows = [one for one in part.rows if not (one.engine == "hoplite" and one.form == "columns")]
    part.rows.append(row("hoplite", "Cypher", "columns", 0.0001, questions))
    part.rows.append(row("numpy", "gathers", "columns", 0.0005, questions))
    slow = row("scipy", "rows", "objects", 0.006, questions)
    slow.samples["5"] = samples({0: 0.006})
    part.rows.append(slow)
    lines = headline(part).splitlines()
    assert lines[-5] == "| 1 | 1.00 | 2.00 | 1.00 | Kglite 4.00 (2.0x ours) | Scipy 6.00 (3.0x ours) |"
    assert lines[-1] == "| 5 | 1.00 | 2.00 | 1.00 | Kglite 4.00 (2.0x ours) | Scipy 6.00 (3.0x ours, q=1) |"
