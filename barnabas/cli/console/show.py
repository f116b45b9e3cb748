"""The log line of an exchange on a terminal.

`log_line_of` takes the values of a line from an exchange, `segments` makes texts of known kinds from them,
and `line` fits these into the width of a terminal; `painting.py` adds colours. Nothing here reads a clock.

A line begins with the time at which its exchange ended, since it is printed then: the times of a log never
decrease, however long a Fetch has waited. The latency shows when the exchange began.
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
"""The latency from which on a line is marked as slow ..."""

SLOW_WAIT_MS: Final = 1000.0
"""... and for APIs whose brokers wait on purpose."""

WAITING: Final = (1, 11, 14, 78)
"""Fetch, JoinGroup, SyncGroup, ShareFetch: brokers delay their responses until they have content."""

GIVING_WAY: Final = (
    ("details", 32),
    ("rules", 10),
    ("details", 16),
    ("note", 24),
    ("details", 0),
)
"""The kinds of segments that are shortened in a line that is too long, in order, and to how many cells.

Error and latency are never shortened.
"""

PADDED: Final = {"client": 16, "broker": 3, "api": 20}
"""Cells to which segments are padded without a terminal; longer ones stay."""


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
        self._cells = {"client": 10, "broker": 2, "api": 17}

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


class LogLine(NamedTuple):
    """The values of an exchange's log line."""

    end: int
    """The end of the exchange, in ns since the epoch."""
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
    """Node id of the controller that got the request instead of a broker."""


def log_line_of(exchange: Exchange, context: Context | None = None) -> LogLine:
    """Return the values of an exchange's log line.

    context: See `barnabas.captures.kafka.log_line.details`.
    """
    return LogLine(
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


def log_line_of_row(row: Mapping[str, Any]) -> LogLine:
    """Return the log line's values of a row of the control port (`barnabas.proxy.control.views.exchange`)."""
    ended = datetime.fromisoformat(row["ended"])
    return LogLine(
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
    """Return the short name of the node that got the request: a controller's id may also be a broker's."""
    if controller is not None:
        return f"c{controller}"
    return "-" if broker is None else f"b{broker}"


Segment = tuple[str, str]
"""A part of a line: its kind, a key of STYLES, and its text."""


def segments(log_line: LogLine, *, zone: tzinfo | None = None) -> list[Segment]:
    """Return the segments of an exchange's line in order, without empty ones.

    zone: The time zone of the time of day, by default the machine's.
    """
    end, client, broker, key, version, api, details, note, error, latency, rules, controller = (
        log_line
    )
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
    """Format a latency in ms with three significant digits.

    >>> ms(0.1234), ms(12.34), ms(1234.5)
    ('0.12 ms', '12.3 ms', '1234 ms')
    """
    if latency < 10:
        return f"{latency:.2f} ms"
    return f"{latency:.1f} ms" if latency < 100 else f"{latency:.0f} ms"


def line(
    log_line: LogLine,
    width: int | None = None,
    columns: Columns | None = None,
    *,
    zone: tzinfo | None = None,
) -> list[Segment]:
    """Return the segments of an exchange's line in at most `width` cells; details are shortened first.

    Args:
        log_line: The line's values.
        width: The cells of the terminal; None: any length.
        columns: The column widths of the preceding lines.
        zone: The time zone of the time of day, by default the machine's.
    """
    parts = segments(log_line, zone=zone)
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
        text.count("→") + text.count("⟵") + text.count("…")
    )  # three bytes each, others two or more
    return len(text.encode("utf-8", "surrogatepass")) == len(text) + 2 * signs


def _spaced(parts: list[Segment]) -> list[Segment]:
    spaced = [_SPACE] * (2 * len(parts) - 1)
    spaced[::2] = parts
    return spaced


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
                size = cells(before)
                text = _fit(before, max(size - over, min(size, least)))
                over -= size - cells(text)
                parts[index] = (kind, text)
    return [(kind, text) for kind, text in parts if text]


def _fit(text: str, width: int) -> str:
    text = fit(text, width) if width > 0 else ""
    return text if cells(text) <= width else set_cell_size(text, width - 1) + "…"


def _middle(text: str, width: int) -> str:
    """Shorten a text in its middle; a text with wide characters loses its end."""
    if cells(text) <= width:
        return text
    return middle(text, width) if text.isascii() else set_cell_size(text, width - 1) + "…"


def show(console: Console, log_line: LogLine, columns: Columns | None = None) -> None:
    """Write the line of an exchange: as wide as the terminal, or all of it without one.

    The caller flushes the file.
    """
    write(console, line(log_line, width_of(console), columns))


def width_of(console: Console) -> int | None:
    """Return the cells of the console's terminal; None: no terminal, so lines may have any length."""
    return console.width if console.is_terminal else None
