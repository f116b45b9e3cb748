"""Arrange the segments of a log line in columns that fit the width of a terminal.

    time          client  connection  API              latency  details              outcome
    18:01:11.856  writer  3→b2        Produce v10      39.0 ms  orders[0] 2 records  ⟵ slow produce

Columns up to the details are aligned in all lines, outcomes as far as the width allows it. A line that is too
long loses parts of its details first, and never its error.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final

from rich.cells import cell_len, set_cell_size

from barnabas.captures.kafka.wording import fit, middle

Segment = tuple[str, str]
"""A part of a line: its kind, a key of STYLES, and its text."""

HEAD: Final = ("time", "client", "broker", "api")
"""The kinds of segments before the latency."""

LATENCIES: Final = ("latency", "slow")

GIVING_WAY: Final = (
    ("details", 32),
    ("rules", 10),
    ("details", 16),
    ("note", 24),
    ("details", 0),
    ("note", 0),
    ("api", 11),
    ("rules", 0),
    ("client", 6),
)
"""The kinds of segments that are shortened in a line that is too long, in order, and to how many cells.

Errors, other reasons why there is no response, and latencies are never shortened.
"""

NARROW: Final = 100
"""Cells of a terminal below which the log abbreviates."""


class Columns:
    """The widths to which a terminal's segments are padded, so that columns are aligned.

    A column is as wide as its longest text so far, within bounds that depend on the terminal's width.

    >>> columns = Columns()
    >>> columns.put("client", "orders", 80), columns.put("client", "consumer-readers-1", 80)
    ('orders    ', 'consumer-…rs-1')
    >>> columns.put("client", "orders", 80)
    'orders        '
    """

    def __init__(self) -> None:
        self._cells = {"client": 10, "broker": 2, "api": 18, "latency": 7, "details": 0}

    def put(self, kind: str, text: str, width: int) -> str:
        """Return a text padded or shortened to its column on a terminal of `width` cells."""
        least = self._cells.get(kind)
        if least is None:
            return text
        most, size = _most(kind, width), len(text) if text.isascii() else cells(text)
        if size > most:
            text = _middle(text, most)
            size = cells(text)
        if size > least:
            self._cells[kind] = size
        padding = " " * (min(least, most) - size)
        return padding + text if kind == "latency" else text + padding

    def put_details(self, text: str, room: int, outcome: int) -> str:
        """Return details padded so that the outcome begins in the same column as those of other lines.

        Args:
            text: The details.
            room: The cells for details and outcome.
            outcome: The cells of the outcome.
        """
        size, most = cells(text), room * 2 // 3
        if size <= most:
            self._cells["details"] = max(self._cells["details"], size)
        return text + " " * (min(self._cells["details"], most, room - outcome - 1) - size)


@lru_cache(64)
def _most(kind: str, width: int) -> int:
    match kind:
        case "client":
            return max(14, min(28, width // 6))
        case "api":  # the longest name has 28 characters
            return max(18, min(32, width // 5))
        case _:
            return 11


def arranged(parts: Sequence[Segment], width: int, columns: Columns) -> list[Segment]:
    """Return segments in the order of a terminal's columns, padded; the line may still be too long."""
    head = [(kind, columns.put(kind, text, width)) for kind, text in parts if kind in HEAD]
    details, outcome = "", []
    latency = ("", columns.put("latency", "", width))
    for kind, text in parts:
        if kind in LATENCIES:
            latency = kind, columns.put("latency", text, width)
        elif kind == "details":
            details = text
        elif kind not in HEAD:
            outcome.append((kind, text))
    if outcome:
        room = width - sum([cells(text) + 1 for _, text in (*head, latency)])
        outcome_cells = sum([cells(text) + 1 for _, text in outcome]) - 1
        details = columns.put_details(details, room, outcome_cells)
    body = [("details", details)] * bool(details) + outcome
    return _fitting([*head, latency, *body] if body or latency[0] else head, width)


def abbreviated(parts: Sequence[Segment]) -> list[Segment]:
    """Return segments in the words of a narrow terminal."""
    return [(kind, _SHORT[kind](text) if kind in _SHORT else text) for kind, text in parts]


_SHORT: Final[dict[str, Callable[[str], str]]] = {
    "retry": lambda text: text.replace("retry ", "↻"),
    "unanswered": lambda text: text.removeprefix("no response: "),
    "note": lambda text: text.removeprefix("no response: "),
}


def fitted(parts: Sequence[Segment], width: int, columns: Columns) -> list[Segment]:
    """Return segments with spaces between them, in columns and in at most `width` cells."""
    parts = spaced(arranged(parts, width, columns))
    text = plain(parts)
    return parts if cells(text) <= width else _cut(parts, set_cell_size(text, width - 1) + "…")


def plain(parts: Sequence[Segment]) -> str:
    """Return the text of segments, without colours."""
    return "".join([text for _, text in parts])


def cells(text: str) -> int:
    """Return the number of terminal cells that a text takes."""
    return len(text) if _narrow(text) else cell_len(text)


def _narrow(text: str) -> bool:
    """Check that a text consists of ASCII and of the log's own signs, each of which takes one cell."""
    if text.isascii():
        return True
    signs = (
        text.count("→") + text.count("⟵") + text.count("…") + text.count("↻")
    )  # three bytes each, others two or more
    return len(text.encode("utf-8", "surrogatepass")) == len(text) + 2 * signs


def spaced(parts: Sequence[Segment]) -> list[Segment]:
    """Return segments with a space between them."""
    result = [_SPACE] * (2 * len(parts) - 1)
    result[::2] = parts
    return result


_SPACE: Final = ("", " ")


def _cut(parts: list[Segment], text: str) -> list[Segment]:
    """Distribute a shortened text of a line to the kinds of its segments."""
    shortened, offset = [], 0
    for kind, part in parts:
        shortened.append((kind, text[offset : offset + len(part)]))
        offset += len(part)
    return shortened


def _fitting(parts: list[Segment], width: int) -> list[Segment]:
    """Shorten segments until they fit into the width."""
    over = sum([cells(text) + 1 for _, text in parts]) - 1 - width
    if over <= 0:
        return parts
    for kind, least in GIVING_WAY:
        for index, (other, before) in enumerate(parts):
            if over > 0 and other == kind:
                size, bare = cells(before), before.rstrip()
                room = max(size - over, min(size, least))
                text = bare if cells(bare) <= room else _fit(bare, room)
                over -= size - cells(text)
                parts[index] = (kind, text + " " * -over)
    return [(kind, text) for kind, text in parts if text]


def _fit(text: str, width: int) -> str:
    text = fit(text, width) if width > 0 else ""
    return text if cells(text) <= width else set_cell_size(text, width - 1) + "…"


def _middle(text: str, width: int) -> str:
    """Shorten a text in its middle; a text with wide characters loses its end."""
    if cells(text) <= width:
        return text
    return middle(text, width) if text.isascii() else set_cell_size(text, width - 1) + "…"
