"""The console in a real browser: what one types, clicks and sees. `make console-test` runs this file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import hoplite
from tests.console.conftest import Stage

TREATS = "MATCH p = (:Disease {name: 'Migraine'})<-[:TREATS]-(d:Drug) RETURN p, d.name AS drug"
# Far more pairs than anyone would wait for, none of them kept.
ENDLESS = "UNWIND range(1, 1000000) AS a UNWIND range(1, 1000000) AS b WITH a, b WHERE a * b % 7 = 8 RETURN count(*)"


def write(page: Any, text: str) -> None:
    """Put a text into the editor as if it were typed."""
    page.click(".cm-content")
    page.keyboard.press("Control+A")
    page.keyboard.press("Delete")
    page.keyboard.type(text)
    page.keyboard.press("Escape")


def run(page: Any, text: str) -> None:
    write(page, text)
    page.keyboard.press("Control+Enter")


def nodes_drawn(page: Any) -> int:
    """The picture says of itself how many nodes it has."""
    label = page.get_attribute(".graph-canvas", "aria-label")
    return int(label.split()[2])


def test_the_first_screen_is_the_schema_and_a_click_on_it_begins_a_query(page: Any) -> None:
    assert nodes_drawn(page) == 7
    assert "811 nodes" in page.inner_text(".server")
    page.click(".sidebar .chip:has-text('SideEffect')")
    page.wait_for_selector(".legend .chip:has-text('SideEffect')")
    assert nodes_drawn(page) == 25


def test_a_query_gives_a_picture_a_table_and_json(page: Any, tmp_path: Path) -> None:
    run(page, TREATS)
    page.wait_for_selector(".legend .chip:has-text('Drug')")
    assert "8 rows" in page.inner_text(".status")
    assert nodes_drawn(page) == 9
    page.click("[data-tab=table]")
    assert page.locator("tbody tr").count() == 8
    page.click("th button:has-text('drug')")
    drugs = page.locator("tbody td:nth-child(3)").all_inner_texts()
    assert drugs == sorted(drugs)
    page.click("[data-tab=json]")
    assert len(json.loads(page.inner_text("pre.json"))) == 8
    with page.expect_download() as saved:
        page.click("button[title='Save as CSV']")
    assert Path(saved.value.path()).read_text(encoding="utf-8").startswith("p,drug")
    page.click("[data-tab=graph]")
    with page.expect_download() as saved:
        page.click("button[title='Save as SVG']")
    assert Path(saved.value.path()).read_text(encoding="utf-8").count("<circle") == 9
    with page.expect_download() as saved:
        page.click("button[title='Save as PNG']")
    assert Path(saved.value.path()).read_bytes().startswith(b"\x89PNG")


def test_a_node_is_expanded_and_hidden_by_keyboard(page: Any) -> None:
    run(page, "MATCH (d:Drug {name: 'Ibuprofen'}) RETURN d")
    page.wait_for_selector(".legend .chip:has-text('Drug')")
    page.focus(".graph-canvas")
    page.keyboard.press("n")
    assert page.inner_text(".inspector h3") == "Ibuprofen"
    page.keyboard.press("Enter")
    page.wait_for_selector(".graph-note:has-text('relationships shown')")
    expanded = nodes_drawn(page)
    assert expanded > 5
    page.focus(".graph-canvas")
    page.keyboard.press("Delete")
    assert nodes_drawn(page) == expanded - 1


def test_what_is_wrong_is_underlined_explained_and_mended(page: Any) -> None:
    write(page, "MATCH (d:Drugg) RETURN d.name LIMIT 3")
    page.wait_for_selector(".cm-lintRange-warning:has-text('Drugg')")
    page.hover(".cm-lintRange-warning")
    page.wait_for_selector(".cm-diagnosticAction:has-text('DrugClass')")
    write(page, "MATCH (d:Drug) RETURN d.name, toUper('a')")
    page.wait_for_selector(".cm-lintRange-error:has-text('toUper')")
    page.keyboard.press("Control+Enter")
    page.wait_for_selector("div.failure mark:has-text('toUper')")
    page.click("button:has-text('Run this instead')")
    page.wait_for_selector("table tbody tr")
    assert "toUpper" in page.inner_text(".cm-content")


def test_words_are_completed_from_this_database(page: Any) -> None:
    write(page, "MATCH (d:SideEf")
    page.keyboard.press("Control+Space")
    page.wait_for_selector(".cm-tooltip-autocomplete li:has-text('SideEffect')")
    # A list that has only just come is not yet obeyed.
    page.wait_for_timeout(200)
    page.keyboard.press("Tab")
    page.wait_for_selector(".cm-line:has-text('MATCH (d:SideEffect)')")


def test_only_properties_of_the_label_are_completed(page: Any) -> None:
    listed = ".cm-tooltip-autocomplete li"
    for text, there, not_there in (
        ("MATCH (d:Drug {", "route", "icd10"),
        ("MATCH (d:Drug)-[:TREATS]->(x:Disease) RETURN x.", "icd10", "route"),
    ):
        write(page, text)
        page.keyboard.press("Control+Space")
        page.wait_for_selector(f"{listed}:has-text('{there}')")
        assert page.locator(f"{listed}:has-text('{not_there}')").count() == 0
        page.keyboard.press("Escape")


def test_a_long_statement_is_cancelled_and_the_next_one_runs(page: Any) -> None:
    run(page, ENDLESS)
    page.wait_for_selector(".running")
    page.click("button:has-text('Cancel')")
    page.wait_for_selector(".empty:has-text('cancelled')")
    run(
        page,
        "SHOW TRANSACTIONS YIELD currentQuery AS q WHERE q STARTS WITH 'UNWIND range' RETURN count(*) AS left",
    )
    page.wait_for_selector("td.number:not(:first-child):has-text('0')")


def test_several_statements_with_parameters_stop_at_the_first_failure(page: Any) -> None:
    write(page, "RETURN $who AS who; RETURN 1 / 0; RETURN 2")
    page.fill(".parameters textarea", '{"who": "Ada"}')
    page.click(".primary:has-text('Run')")
    page.wait_for_selector("div.failure:has-text('by zero')")
    assert page.locator(".statement").count() == 3
    assert page.locator(".statement.is-skipped").count() == 1
    page.click(".statement >> nth=0")
    page.wait_for_selector("td.string:has-text('Ada')")


def test_a_profile_is_a_tree_with_rows_and_times(page: Any) -> None:
    write(page, "MATCH (d:Drug) RETURN d.route AS route, count(*) AS drugs")
    page.click("button:has-text('Profile')")
    page.click("[data-tab=plan]")
    page.wait_for_selector("[role=treeitem] [role=treeitem]")
    scan = page.inner_text("[role=treeitem]:has-text('NodeByLabelScan') >> nth=-1")
    assert "135 rows" in scan
    assert "ms time" in scan


def test_queries_are_remembered_and_saved(page: Any) -> None:
    run(page, "RETURN 41")
    page.wait_for_selector("td.number:has-text('41')")
    page.keyboard.press("Control+s")
    page.fill("dialog input", "forty-one")
    page.keyboard.press("Enter")
    page.reload()
    page.wait_for_selector(".graph-canvas")
    page.click("[data-tab=queries]")
    page.click(".query:has-text('forty-one')")
    assert page.inner_text(".cm-content").strip() == "RETURN 41"
    write(page, "half written")
    page.keyboard.press("Control+ArrowUp")
    assert page.inner_text(".cm-content").strip() == "RETURN 41"


def test_a_question_is_answered_with_its_query_repairs_rows_and_evidence(page: Any) -> None:
    page.click("[data-tab=ask]")
    page.fill("#question", "Which drugs treat migraine?")
    page.keyboard.press("Enter")
    page.wait_for_selector(".answer-rows tbody tr")
    assert "(d:Drug)" in page.inner_text("pre.cypher")
    assert "Drugs" in page.inner_text(".changes")
    assert page.locator(".answer-rows tbody tr").count() == 8
    assert nodes_drawn(page) == 9


def test_a_query_is_compared_with_a_neo4j_and_differences_are_marked(page: Any, stage: Stage) -> None:
    page.click("[data-tab=diff]")
    page.fill(".address", stage.neo4j)
    write(page, "MATCH (d:Drug) RETURN d.name AS name ORDER BY name LIMIT 5")
    page.click("button:has-text('Compare')")
    page.wait_for_selector(".verdict .bad")
    sides = page.locator(".sides .panel")
    assert sides.nth(1).locator("tr.only").inner_text().endswith("'Acetylsalicylic acid'")
    assert sides.nth(0).locator("tr.only").count() == 1


def test_light_and_dark_and_the_keys_are_there(page: Any) -> None:
    before = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.click("button[aria-label='Light or dark']")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != before
    page.click("button[aria-label='Help']")
    page.wait_for_selector("dialog kbd:has-text('Ctrl+Enter')")
    page.keyboard.press("Escape")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_server_with_users_asks_who_is_there(browser: Any) -> None:
    with hoplite.serve(users={"ada": "secret"}) as uri:
        page = browser.new_page()
        page.set_default_timeout(30_000)
        page.goto(uri.replace("bolt://", "http://"))
        page.fill("input[type=text]", "ada")
        page.fill("input[type=password]", "wrong")
        page.click("button:has-text('Connect')")
        page.wait_for_selector(".error:has-text('unauthorized')")
        page.fill("input[type=password]", "secret")
        page.keyboard.press("Enter")
        page.wait_for_selector(".graph-note:has-text('empty')")
        page.close()
