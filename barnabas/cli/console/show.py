"""What the terminal shows: one line for each exchange.

`shown` says what a line is to say, `segments` what stands on it and of which kind, and `line` how it fits
into the width of a terminal; `painting.py` beside puts it into colours. Nothing here reads a clock.

A line begins with the time at which its exchange was over, since that is when it is printed: so the
clock of a log never goes back, however long a Fetch has waited; the latency tells when it began.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, tzinfo
from functools import lru_cache
from typing import Any, Final, NamedTuple

from rich.cells import cell_len, set_cell_size
from rich.console import Console

from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.log_line import details
from barnabas.captures.kafka.wording import fit, middle, printable
from barnabas.cli.console.painting import write

SLOW_MS: Final = 100.0
"""From this latency on a line is marked as slow ..."""

SLOW_WAIT_MS: Final = 1000.0
"""... or from this one, for APIs whose brokers wait on purpose."""

WAITING: Final = (1, 11, 14, 78)
"""Fetch, JoinGroup, SyncGroup, ShareFetch: answered when there is something to say."""

GIVING_WAY: Final = (
    ("details", 32),
    ("rules", 10),
    ("details", 16),
    ("note", 24),
    ("details", 0),
)
"""What gets shorter where a line is too long, in turn, and down to how many cells. The error and the
latency never do."""

PADDED: Final = {"client": 16, "broker": 3, "api": 20}
"""Cells that segments are padded to where there is no terminal: they may be longer."""


class Columns:
    """How many cells segments of a terminal's lines are padded to, so that they stand below each other:
    as many as the longest so far had, within bounds that go by the terminal's width.

    >>> columns = Columns()
    >>> columns.put("client", "orders", 80), columns.put("client", "consumer-readers-1", 80)
    ('orders    ', 'consumer-…rs-1')
    >>> columns.put("client", "orders", 80)
    'orders        '
    """

    def __init__(self) -> None:
        self._cells = {"client": 10, "broker": 2, "api": 17}

    def put(self, kind: str, text: str, width: int) -> str:
        """The text as it stands in its column on a terminal of so many cells."""
        least = self._cells.get(kind)
        if least is None:
            return text
        most, size = _most(kind, width), len(text) if text.isascii() else cells(text)
        if size > most:
            text = _middle(text, most)
            size = cells(text)
        if size > least:
            self._cells[kind] = size
        return text + " " * (min(least, most) - size)


@lru_cache(64)
def _most(kind: str, width: int) -> int:
    match kind:
        case "client":
            return max(14, min(28, width // 6))
        case "api":  # the longest name has 28 characters
            return max(18, min(32, width // 5))
        case _:
            return 11


class Shown(NamedTuple):
    """What the line of an exchange says, wherever that is from."""

    end: int
    """When it was over, in ns since the epoch."""
    client: str
    broker: int | None
    key: int
    version: int
    api: str
    details: str
    note: str
    error: str
    latency_ms: float | None
    rules: tuple[str, ...]
    controller: int | None = None
    """Node id of the controller that was asked in place of a broker."""


def shown(exchange: Exchange, context: Context | None = None) -> Shown:
    """What is said of an exchange. context: see `barnabas.captures.kafka.log_line.details`."""
    return Shown(
        exchange.end,
        exchange.client_id or exchange.client_address,
        exchange.broker,
        exchange.key,
        exchange.version,
        exchange.api,
        details(exchange, context),
        exchange.note,
        exchange.error or "",
        exchange.latency_ms,
        exchange.rules,
        exchange.controller,
    )


def shown_row(row: Mapping[str, Any]) -> Shown:
    """The same of a row of the control port, see `barnabas.proxy.control.views.exchange`."""
    ended = datetime.fromisoformat(row["ended"])
    return Shown(
        round(ended.timestamp() * 1e6) * 1000,
        row["client_id"] or row["client_address"],
        row["broker"],
        row["key"],
        row["version"],
        row["api"],
        row["details"],
        row["note"],
        row["error"] or "",
        row["latency_ms"],
        tuple(row["rules"]),
    )


def _node(broker: int | None, controller: int | None) -> str:
    """Return the node that was asked in short: a controller's id may be a broker's, too."""
    if controller is not None:
        return f"c{controller}"
    return "-" if broker is None else f"b{broker}"


Segment = tuple[str, str]
"""A part of a line: what kind it is, a key of STYLES, and its text."""


def segments(found: Shown, *, zone: tzinfo | None = None) -> list[Segment]:
    """The parts of an exchange's line, in order; those that say nothing are left out.

    zone: of the time of day, by default the machine's.
    """
    end, client, broker, key, version, api, details, note, error, latency, rules, controller = found
    second, rest = divmod(end // 1_000_000, 1000)
    parts = [
        ("time", f"{_clock(second, zone)}.{rest:03}"),
        ("client", client),
        ("broker", _node(broker, controller)),
        ("api", f"{api} v{version}"),
    ]
    if details:
        parts.append(("details", details))
    if note:
        parts.append(("note", note))
    if error:
        parts.append(("error", error))
    if latency is not None:
        slow = latency >= (SLOW_WAIT_MS if key in WAITING else SLOW_MS)
        parts.append(("slow" if slow else "latency", ms(latency)))
    if rules:
        parts.append(("rules", f"⟵ {', '.join(rules)}"))
    if plain(parts).isprintable() and client:  # nearly all
        return parts
    return [(kind, printable(text)) for kind, text in parts if text]


@lru_cache(64)
def _clock(second: int, zone: tzinfo | None) -> str:
    return f"{datetime.fromtimestamp(second, zone):%H:%M:%S}"


def ms(latency: float) -> str:
    """A latency in ms with three digits that count.

    >>> ms(0.1234), ms(12.34), ms(1234.5)
    ('0.12 ms', '12.3 ms', '1234 ms')
    """
    if latency < 10:
        return f"{latency:.2f} ms"
    return f"{latency:.1f} ms" if latency < 100 else f"{latency:.0f} ms"


def line(
    found: Shown,
    width: int | None = None,
    columns: Columns | None = None,
    *,
    zone: tzinfo | None = None,
) -> list[Segment]:
    """The line of an exchange in at most `width` cells: details give way first. None: all of it.

    columns: those of the lines before it.
    """
    parts = segments(found, zone=zone)
    if width is None:
        padded = [(kind, text + " " * (PADDED.get(kind, 0) - cells(text))) for kind, text in parts]
        return _spaced(padded)
    put = (columns or Columns()).put
    parts = [
        (kind, put(kind, text, width)) if kind in PADDED else (kind, text) for kind, text in parts
    ]
    text = " ".join([text for _, text in parts])
    if len(text) <= width and _narrow(text):  # most lines
        return _spaced(parts)
    parts = _spaced(_fitting(parts, width))
    text = plain(parts)
    return parts if cells(text) <= width else _cut(parts, set_cell_size(text, width - 1) + "…")


def plain(parts: Sequence[Segment]) -> str:
    """What segments say."""
    return "".join([text for _, text in parts])


def cells(text: str) -> int:
    """How many cells of a terminal a text takes."""
    return len(text) if _narrow(text) else cell_len(text)


def _narrow(text: str) -> bool:
    """Whether it has only characters of ASCII, and signs of ours that take one cell, too."""
    if text.isascii():
        return True
    signs = (
        text.count("→") + text.count("⟵") + text.count("…")
    )  # three bytes each, others two or more
    return len(text.encode("utf-8", "surrogatepass")) == len(text) + 2 * signs


def _spaced(parts: list[Segment]) -> list[Segment]:
    spaced = [_SPACE] * (2 * len(parts) - 1)
    spaced[::2] = parts
    return spaced


_SPACE: Final = ("", " ")


def _cut(parts: list[Segment], text: str) -> list[Segment]:
    """What is left of the parts where the text is all that they may say."""
    found, at = [], 0
    for kind, part in parts:
        found.append((kind, text[at : at + len(part)]))
        at += len(part)
    return found


def _fitting(parts: list[Segment], width: int) -> list[Segment]:
    """The parts, shorter where they are too long for the width."""
    over = sum([cells(text) + 1 for _, text in parts]) - 1 - width
    if over <= 0:
        return parts
    for kind, least in GIVING_WAY:
        for place, (other, before) in enumerate(parts):
            if over > 0 and other == kind:
                size = cells(before)
                text = _fit(before, max(size - over, min(size, least)))
                over -= size - cells(text)
                parts[place] = (kind, text)
    return [(kind, text) for kind, text in parts if text]


def _fit(text: str, width: int) -> str:
    text = fit(text, width) if width > 0 else ""
    return text if cells(text) <= width else set_cell_size(text, width - 1) + "…"


def _middle(text: str, width: int) -> str:
    """`middle` in cells: of text with wide characters the end goes."""
    if cells(text) <= width:
        return text
    return middle(text, width) if text.isascii() else set_cell_size(text, width - 1) + "…"


def show(console: Console, found: Shown, columns: Columns | None = None) -> None:
    """Write the line of an exchange: as wide as the terminal, or all of it if there is none. Whoever calls
    flushes the file."""
    write(console, line(found, width_of(console), columns))


def width_of(console: Console) -> int | None:
    """Into how many cells a line is to fit; None: it may have any length, as there is no terminal."""
    return console.width if console.is_terminal else None
