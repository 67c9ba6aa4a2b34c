"""A small graph as a picture: self-contained SVG, and a script to move around in it. The page first shows the picture
as an image.

Where scripts run, it is replaced by the same picture with nodes that can be dragged, a canvas that can be moved and
zoomed, and names that appear under the pointer. Elsewhere, as on GitHub, the image stays. Nothing is fetched from
anywhere.
"""

from __future__ import annotations

import base64
import math
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hoplite.api.display import shown

NODES_SHOWN = 300
_RELATIONSHIPS_SHOWN = 1_000
_WIDTH, _HEIGHT, _RADIUS = 720, 440, 13
_STEPS = 120
_COLOURS = (
    "#4c78a8", "#f58518", "#54a24b", "#e45756", "#72b7b2", "#eeca3b", "#b279a2", "#ff9da6", "#9d755d", "#8c8c8c",
)  # fmt: skip
_CAPTIONS = ("name", "title", "label", "id")


def graph_html(graph: Any) -> str:
    """A `neo4j.graph.Graph` as HTML."""
    nodes = list(graph.nodes)[:NODES_SHOWN]
    svg = picture(graph)
    data = base64.b64encode(svg.encode()).decode()
    counted = f"{len(graph.nodes)} nodes, {len(graph.relationships)} relationships"
    if len(nodes) < len(graph.nodes):
        counted += f"; the first {len(nodes)} nodes are shown"
    image = f'<img alt="{escape(counted)}" width="{_WIDTH}" height="{_HEIGHT}" src="data:image/svg+xml;base64,{data}">'
    return f"<div>{image}<p><small>{counted}</small></p><script>{_SCRIPT}</script></div>"


def picture(graph: Any) -> str:
    """A `neo4j.graph.Graph` as SVG."""
    nodes = list(graph.nodes)[:NODES_SHOWN]
    numbers = {node.element_id: number for number, node in enumerate(nodes)}
    relationships = [
        relationship
        for relationship in graph.relationships
        if all(node is not None and node.element_id in numbers for node in relationship.nodes)
    ][:_RELATIONSHIPS_SHOWN]
    ends = [(numbers[one.start_node.element_id], numbers[one.end_node.element_id]) for one in relationships]
    places = layout(len(nodes), ends)
    colours = _colours(nodes)
    lines = [_line(one, start, end, places) for one, (start, end) in zip(relationships, ends, strict=True)]
    circles = [_circle(node, number, places, colours) for number, node in enumerate(nodes)]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" height="{_HEIGHT}" '
        'font-family="sans-serif" font-size="10"><defs><marker id="end" viewBox="0 0 8 8" refX="8" refY="4" '
        'markerWidth="6" markerHeight="6" orient="auto"><path d="M0 0L8 4L0 8z" fill="#999"/></marker></defs>'
        f"<g>{''.join(lines)}{''.join(circles)}</g>{_legend(colours)}</svg>"
    )


def layout(count: int, ends: list[tuple[int, int]]) -> NDArray[np.float64]:
    """Positions for nodes: connected nodes attract, all repel each other. The same graph always looks the same."""
    if not count:
        return np.zeros((0, 2))
    turns = np.arange(count) * 2.399963  # the golden angle: the initial spiral
    places = np.sqrt(np.arange(count) + 1.0)[:, None] * np.stack((np.cos(turns), np.sin(turns)), 1)
    starts, stops = (np.array(column, np.int64) for column in zip(*ends, strict=True)) if ends else (None, None)
    reach = max(2.0, math.sqrt(count))
    for step in range(_STEPS):
        apart = places[:, None, :] - places[None, :, :]
        squares = (apart**2).sum(2) + 0.01
        moves = (apart / squares[:, :, None]).sum(1) - 0.05 * places
        if starts is not None and stops is not None:
            pull = 0.5 * (places[stops] - places[starts])
            np.add.at(moves, starts, pull)
            np.add.at(moves, stops, -pull)
        lengths = np.maximum(np.sqrt((moves**2).sum(1, keepdims=True)), 1e-9)
        places = places + moves / lengths * np.minimum(lengths, reach * 0.3 * (1 - step / _STEPS))
    low, high = places.min(0), places.max(0)
    room = np.array([_WIDTH, _HEIGHT]) - 6.0 * _RADIUS
    scaled: NDArray[np.float64] = (places - (low + high) / 2) * (room / np.maximum(high - low, 1e-9)).min()
    if count == 1:
        scaled = np.zeros((1, 2))
    centred: NDArray[np.float64] = scaled + np.array([_WIDTH / 2, _HEIGHT / 2])
    return centred


def _colours(nodes: list[Any]) -> dict[str, str]:
    labels = dict.fromkeys(_label(node) for node in nodes)
    return {label: _COLOURS[number % len(_COLOURS)] for number, label in enumerate(labels)}


def _label(node: Any) -> str:
    return min(node.labels, default="")


def _circle(node: Any, number: int, places: NDArray[np.float64], colours: dict[str, str]) -> str:
    x, y = places[number]
    caption = next((shown(node[key]) for key in _CAPTIONS if key in node), "")
    short = caption if len(caption) <= 16 else caption[:15] + "…"
    told = f"{':'.join(sorted(node.labels))} {shown(dict(node))}"
    return (
        f'<g data-n="{number}" transform="translate({x:.1f} {y:.1f})"><title>{escape(told)}</title>'
        f'<circle r="{_RADIUS}" fill="{colours[_label(node)]}" stroke="#fff"/>'
        f'<text y="{_RADIUS + 10}" text-anchor="middle" fill="#555">{escape(short)}</text></g>'
    )


def _line(relationship: Any, start: int, end: int, places: NDArray[np.float64]) -> str:
    told = f"{relationship.type} {shown(dict(relationship))}"
    ends = f'data-a="{start}" data-b="{end}"'
    drawn = f'<path d="{_curve(places[start], places[end])}" fill="none" stroke="#999" marker-end="url(#end)"/>'
    return f"<g {ends}><title>{escape(told)}</title>{drawn}</g>"


def _curve(start: Any, end: Any) -> str:
    """From the rim of one circle to that of another; a loop if they are the same."""
    x, y = start
    if (start == end).all():
        r = _RADIUS
        side, top, rim = r / 2, y - 3 * r, y - r * 0.9
        return f"M{x - side:.1f} {rim:.1f}C{x - 2 * r:.1f} {top:.1f} {x + 2 * r:.1f} {top:.1f} {x + side:.1f} {rim:.1f}"
    across = end - start
    step = across / max(float(np.hypot(*across)), 1e-9) * _RADIUS
    (x, y), (u, v) = start + step, end - step
    return f"M{x:.1f} {y:.1f}L{u:.1f} {v:.1f}"


def _legend(colours: dict[str, str]) -> str:
    named = [(label, colour) for label, colour in colours.items() if label][:10]
    return "".join(
        f'<g transform="translate(10 {14 + 15 * place})"><circle r="5" fill="{colour}"/>'
        f'<text x="9" y="3" fill="#555">{escape(label)}</text></g>'
        for place, (label, colour) in enumerate(named)
    )


_SCRIPT = """
(function (script) {
  const box = script.parentElement, image = box.querySelector('img')
  if (!image) return
  const svg = new DOMParser().parseFromString(atob(image.src.split(',')[1]).replace(/[\\u0080-\\u00ff]+/g,
    bytes => new TextDecoder().decode(Uint8Array.from(bytes, c => c.charCodeAt(0)))), 'image/svg+xml').documentElement
  image.replaceWith(svg)
  const places = new Map(), world = svg.querySelector('g'), R = 13
  let x = 0, y = 0, zoom = 1, held = null
  const draw = () => world.setAttribute('transform', `translate(${x} ${y}) scale(${zoom})`)
  world.querySelectorAll('[data-n]').forEach(node => {
    const [a, b] = node.getAttribute('transform').match(/-?[\\d.]+/g).map(Number)
    places.set(node.dataset.n, { node, x: a, y: b })
  })
  const edges = [...world.querySelectorAll('[data-a]')]
  const lead = edge => {
    const a = places.get(edge.dataset.a), b = places.get(edge.dataset.b)
    const length = Math.hypot(b.x - a.x, b.y - a.y) || 1, u = (b.x - a.x) / length * R, v = (b.y - a.y) / length * R
    edge.querySelector('path').setAttribute('d', a === b
      ? `M${a.x - R / 2} ${a.y - R * 0.9}C${a.x - 2 * R} ${a.y - 3 * R} ${a.x + 2 * R} ${a.y - 3 * R} ` +
        `${a.x + R / 2} ${a.y - R * 0.9}`
      : `M${a.x + u} ${a.y + v}L${b.x - u} ${b.y - v}`)
  }
  svg.style.cursor = 'grab'
  svg.addEventListener('wheel', event => {
    event.preventDefault()
    const factor = event.deltaY < 0 ? 1.15 : 1 / 1.15
    x = event.offsetX - (event.offsetX - x) * factor
    y = event.offsetY - (event.offsetY - y) * factor
    zoom *= factor
    draw()
  }, { passive: false })
  svg.addEventListener('pointerdown', event => {
    const node = event.target.closest('[data-n]')
    held = node ? places.get(node.dataset.n) : 'canvas'
    svg.setPointerCapture(event.pointerId)
    event.preventDefault()
  })
  svg.addEventListener('pointermove', event => {
    if (held === null) return
    if (held === 'canvas') { x += event.movementX; y += event.movementY; draw(); return }
    held.x += event.movementX / zoom
    held.y += event.movementY / zoom
    held.node.setAttribute('transform', `translate(${held.x} ${held.y})`)
    const number = held.node.dataset.n
    edges.filter(edge => edge.dataset.a === number || edge.dataset.b === number).forEach(lead)
  })
  svg.addEventListener('pointerup', () => { held = null })
})(document.currentScript)
"""
