"""Pictures of the console for the documentation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.console.conftest import Stage
from tests.console.test_console import run, write


def take(browser: Any, stage: Stage, folder: Path) -> None:
    """One of each view, in light and in dark."""
    page = _opened(browser, stage, "light")
    page.screenshot(path=folder / "schema.png")
    page.click("text=What treats migraine")
    page.wait_for_selector(".legend .chip")
    page.wait_for_timeout(4000)
    page.focus(".graph-canvas")
    page.keyboard.press("n")
    page.wait_for_timeout(300)
    page.screenshot(path=folder / "graph.png")
    run(page, "MATCH (d:Drugg)-[:TREATS]->(x:Disease) RETURN d.name, toUper(x.name) LIMIT 10")
    page.wait_for_selector(".repair")
    page.hover(".cm-lintRange-error")
    page.wait_for_timeout(700)
    page.screenshot(path=folder / "repair.png")
    page.click("[data-tab=ask]")
    page.fill("#question", "Which drugs treat migraine?")
    page.keyboard.press("Enter")
    page.wait_for_selector(".answer-rows tbody tr")
    page.wait_for_timeout(3000)
    page.screenshot(path=folder / "ask.png")
    page.close()
    page = _opened(browser, stage, "dark")
    page.click("text=The plan of a query")
    page.click("[data-tab=plan]")
    page.wait_for_timeout(500)
    page.screenshot(path=folder / "plan.png")
    page.click("[data-tab=diff]")
    page.fill(".address", stage.neo4j)
    write(page, "MATCH (d:Drug) RETURN d.name AS name, d.route AS route ORDER BY name LIMIT 8")
    page.click("button:has-text('Compare')")
    page.wait_for_selector(".verdict .bad")
    page.screenshot(path=folder / "diff.png")
    page.close()


def _opened(browser: Any, stage: Stage, colours: str) -> Any:
    page = browser.new_page(viewport={"width": 1120, "height": 720}, color_scheme=colours)
    page.set_default_timeout(60_000)
    page.goto(stage.url)
    page.wait_for_selector(".graph-canvas")
    page.wait_for_timeout(3000)
    return page
