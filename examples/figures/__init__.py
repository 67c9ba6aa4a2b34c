"""Tables as text and charts as SVG, by the standard library alone: what every program shows at its end."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

_COLOURS = ("#c1272d", "#0071bc", "#e69f00", "#2e8b57", "#6a51a3", "#7f7f7f", "#17a2b8", "#8c6d31")
_WIDTH, _HEIGHT, _LEFT, _TOP, _BOTTOM, _RIGHT = 760, 360, 60, 40, 60, 190


def text_table(titles: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Columns of equal width: numbers to the right, floats to three places."""
    cells = [[_cell(value) for value in row] for row in rows]
    widths = [max(len(line[place]) for line in [list(titles), *cells]) for place in range(len(titles))]
    numeric = [all(isinstance(row[place], int | float) for row in rows) for place in range(len(titles))]

    def line(values: Sequence[str]) -> str:
        parts = zip(values, widths, numeric, strict=True)
        return "  ".join(text.rjust(width) if right else text.ljust(width) for text, width, right in parts).rstrip()

    return "\n".join([line(list(titles)), line(["-" * width for width in widths]), *map(line, cells)])


def _cell(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def bar_chart(
    path: Path, title: str, groups: Sequence[str], series: Mapping[str, Sequence[float]], unit: str = ""
) -> None:
    """Write bars side by side: one colour for each series, one cluster for each group; a comma in the name of a group
    begins a new line."""
    chart = _Chart(title, unit, max(max(values) for values in series.values()))
    width = (_WIDTH - _LEFT - _RIGHT) / len(groups)
    for place, group in enumerate(groups):
        left = _LEFT + place * width
        for line, part in enumerate(group.split(", ")):
            chart.text(left + width / 2, _HEIGHT - _BOTTOM + 18 + 15 * line, part, "middle")
        for number, (name, values) in enumerate(series.items()):
            bar = width * 0.8 / len(series)
            top = chart.height(values[place])
            shape = f'x="{left + width * 0.1 + number * bar:.1f}" y="{top:.1f}" width="{bar * 0.92:.1f}"'
            tip = f"<title>{escape(name)}, {escape(group)}: {values[place]:.3f}</title>"
            colour = _COLOURS[number % len(_COLOURS)]
            bottom = _HEIGHT - _BOTTOM - top
            chart.parts.append(f'<rect {shape} height="{bottom:.1f}" fill="{colour}">{tip}</rect>')
    chart.legend(series)
    chart.write(path)


def line_chart(
    path: Path,
    title: str,
    series: Mapping[str, Sequence[tuple[float, float]]],
    across: str,
    unit: str = "",
    *,
    logarithmic: bool = False,
) -> None:
    """Write one line for each series of points, across on a logarithmic scale where asked for."""
    points = [point for line in series.values() for point in line]
    scale: Callable[[float], float] = math.log if logarithmic else float
    low, high = scale(min(x for x, _ in points)), scale(max(x for x, _ in points))
    chart = _Chart(title, unit, max(y for _, y in points))

    def place(x: float) -> float:
        return _LEFT + 10 + (scale(x) - low) / ((high - low) or 1) * (_WIDTH - _LEFT - _RIGHT - 20)

    for x in sorted({x for x, _ in points}):
        chart.text(place(x), _HEIGHT - _BOTTOM + 18, f"{x:g}", "middle")
    chart.text((_LEFT + _WIDTH - _RIGHT) / 2, _HEIGHT - _BOTTOM + 40, across, "middle")
    for number, (name, line) in enumerate(series.items()):
        colour = _COLOURS[number % len(_COLOURS)]
        drawn = " ".join(f"{place(x):.1f},{chart.height(y):.1f}" for x, y in line)
        chart.parts.append(f'<polyline points="{drawn}" fill="none" stroke="{colour}" stroke-width="2"/>')
        for x, y in line:
            tip = f"<title>{escape(name)}, {x:g}: {y:.3f}</title>"
            chart.parts.append(
                f'<circle cx="{place(x):.1f}" cy="{chart.height(y):.1f}" r="3.5" fill="{colour}">{tip}</circle>'
            )
    chart.legend(series)
    chart.write(path)


class _Chart:
    """A frame with a scale from 0 to a round number, and what is drawn in it."""

    def __init__(self, title: str, unit: str, highest: float) -> None:
        self._top = _round_up(highest)
        self.parts: list[str] = []
        self.text(_LEFT, 22, title, "start", 15)
        self.text(_LEFT - 8, _TOP - 6, unit, "end")
        for step in range(6):
            value = self._top * step / 5
            y = self.height(value)
            across = f'x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"'
            self.parts.append(f'<line {across} stroke="#dddddd" stroke-width="1"/>')
            self.text(_LEFT - 8, y + 4, f"{value:g}", "end")

    def height(self, value: float) -> float:
        """Where a value lies, from the top of the picture."""
        return _HEIGHT - _BOTTOM - value / self._top * (_HEIGHT - _BOTTOM - _TOP)

    def text(self, x: float, y: float, text: str, anchor: str, size: int = 12) -> None:
        """Write a text at a place."""
        shown = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}"'
        self.parts.append(f"<text {shown}>{escape(text)}</text>")

    def legend(self, names: Mapping[str, object]) -> None:
        """The names of the series beside the frame."""
        for number, name in enumerate(names):
            y = _TOP + 12 + number * 20
            colour = _COLOURS[number % len(_COLOURS)]
            self.parts.append(f'<rect x="{_WIDTH - _RIGHT + 14}" y="{y - 10}" width="12" height="12" fill="{colour}"/>')
            self.text(_WIDTH - _RIGHT + 32, y, name, "start")

    def write(self, path: Path) -> None:
        """Write the picture."""
        head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" font-family="sans-serif">'
        ground = f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>'
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join([head, ground, *self.parts, "</svg>"]) + "\n", encoding="utf-8")


def _round_up(value: float) -> float:
    """The next 1, 2, 2.5 or 5 times a power of ten."""
    power = 1e-6
    while True:
        for factor in (1, 2, 2.5, 5):
            if value <= factor * power:
                return factor * power
        power *= 10
