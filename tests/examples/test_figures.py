"""Tables and charts: what the programs print and draw."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

from examples.figures import bar_chart, line_chart, text_table

_SVG = "{http://www.w3.org/2000/svg}"


def test_numbers_are_aligned_to_the_right_and_texts_to_the_left() -> None:
    assert text_table(("mode", "share"), [("raw", 0.5), ("nested", 12.25)]).splitlines() == [
        "mode     share",
        "------  ------",
        "raw      0.500",
        "nested  12.250",
    ]


def test_a_bar_is_as_high_as_its_value(tmp_path: Path) -> None:
    path = tmp_path / "bars.svg"
    bar_chart(path, "P & R", ["one", "two"], {"before": [0.5, 1.0], "after": [0.25, 0.0]})
    bars = [e for e in ElementTree.parse(path).iter(f"{_SVG}rect") if e.find(f"{_SVG}title") is not None]
    heights = [float(bar.attrib["height"]) for bar in bars]  # group by group
    assert heights[0] == 2 * heights[1] == heights[2] / 2
    assert heights[3] == 0


def test_a_line_has_a_point_for_each_value(tmp_path: Path) -> None:
    path = tmp_path / "lines.svg"
    line_chart(path, "by tokens", {"mode 0": [(100, 1), (200, 3)], "mode 1": [(100, 2)]}, "tokens")
    drawn = ElementTree.parse(path)
    points = [(float(dot.attrib["cx"]), float(dot.attrib["cy"])) for dot in drawn.iter(f"{_SVG}circle")]
    assert len(points) == 3
    assert points[0][0] == points[2][0] < points[1][0]
    assert points[1][1] < points[2][1] < points[0][1]  # the higher the value, the nearer to the top


def test_a_logarithmic_scale_puts_equal_factors_at_equal_distances(tmp_path: Path) -> None:
    path = tmp_path / "lines.svg"
    line_chart(path, "by tokens", {"mode 0": [(100, 1), (1_000, 1), (10_000, 1)]}, "tokens", logarithmic=True)
    first, second, third = [float(dot.attrib["cx"]) for dot in ElementTree.parse(path).iter(f"{_SVG}circle")]
    assert abs((second - first) - (third - second)) < 0.2
