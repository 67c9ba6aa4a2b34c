"""What the console costs, measured:  python -m tests.console.measure [--screenshots FOLDER]

Sizes of the built files; first paint; and frames per second while 2,000 nodes and 4,000 relationships move and while
the picture is dragged, in a Chromium without a GPU. It also prints the CPU time of the page's thread per frame, which
other programs on the machine do not affect. With a folder, it also takes the pictures for the documentation.
"""

from __future__ import annotations

import argparse
import gzip
import random
from pathlib import Path
from typing import Any

import hoplite
from hoplite.server.http import CONSOLE
from tests.console.conftest import found_browser, stage_of

NODES, RELATIONSHIPS = 2_000, 4_000
SECONDS = 4

# Counts frames for some seconds, and moves the picture a little for each where `pan` says so.
FRAMES = """([seconds, pan]) => new Promise((resolve) => {
  const canvas = document.querySelector('.graph-canvas');
  const box = canvas.getBoundingClientRect();
  const at = (type, x) => canvas.dispatchEvent(new PointerEvent(type, {
    clientX: box.left + 300 + x, clientY: box.bottom - 20, buttons: 1, pointerId: 1, bubbles: true }));
  canvas.setPointerCapture = () => undefined;
  if (pan) at('pointerdown', 0);
  const begun = performance.now();
  let frames = 0;
  const next = () => {
    const passed = performance.now() - begun;
    if (pan) at('pointermove', 8 + 100 * Math.sin(frames / 10));
    if (passed < seconds * 1000) { frames++; requestAnimationFrame(next); }
    else { if (pan) at('pointerup', 0); resolve([frames, passed / 1000]); }
  };
  requestAnimationFrame(next);
})"""


def sizes() -> None:
    """Each file, and all of them as a wheel holds them."""
    total = 0
    for file in sorted(CONSOLE.iterdir()):
        packed = len(gzip.compress(file.read_bytes(), 6))
        total += packed
        print(f"{file.name:14} {file.stat().st_size:>10,} bytes, compressed {packed:>8,}")
    print(f"{'together':14} compressed {total:,} bytes")


def random_graph() -> hoplite.Database:
    db = hoplite.open()
    db.run("UNWIND range(1, $n) AS i CREATE (:Thing {i: i, name: 'thing ' + i})", n=NODES)
    chance = random.Random(7)
    pairs = [[chance.randint(1, NODES), chance.randint(1, NODES)] for _ in range(RELATIONSHIPS)]
    db.run("UNWIND $pairs AS p MATCH (a:Thing {i: p[0]}), (b:Thing {i: p[1]}) CREATE (a)-[:NEAR]->(b)", pairs=pairs)
    return db


def paint(page: Any, url: str) -> None:
    page.goto(url)
    page.wait_for_selector(".graph-canvas")
    entry = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    ready = page.evaluate("performance.now()")
    print(f"first paint {entry:.0f} ms, schema drawn within {ready:.0f} ms")


def frames(page: Any) -> None:
    page.select_option(".toolbar select", "10000")
    page.click(".cm-content")
    page.keyboard.insert_text("MATCH p = (:Thing)-[:NEAR]->(:Thing) RETURN p UNION ALL MATCH p = (:Thing) RETURN p")
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.keyboard.press("Control+Enter")
    page.wait_for_selector(".graph-canvas[aria-label*='2000 nodes']")
    for name, pan in (("the layout moves", False), ("the picture is dragged", True)):
        before = task_seconds(session)
        count, passed = page.evaluate(FRAMES, [SECONDS, pan])
        spent = (task_seconds(session) - before) * 1000 / max(1, count)
        print(f"{NODES:,} nodes, {name}: {count / passed:.0f} frames a second, {spent:.1f} ms of processor time each")


def task_seconds(session: Any) -> float:
    metrics = session.send("Performance.getMetrics")["metrics"]
    return next(float(metric["value"]) for metric in metrics if metric["name"] == "TaskDuration")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--screenshots", type=Path)
    arguments = parser.parse_args()
    sizes()
    with found_browser() as browser:
        with hoplite.serve(random_graph()) as uri:
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            page.set_default_timeout(120_000)
            paint(page, uri.replace("bolt://", "http://"))
            frames(page)
            page.close()
        if arguments.screenshots is not None:
            from tests.console.screenshots import take

            arguments.screenshots.mkdir(parents=True, exist_ok=True)
            with stage_of() as stage:
                take(browser, stage, arguments.screenshots)


if __name__ == "__main__":
    main()
