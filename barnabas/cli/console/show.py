"""The log line of an exchange on a terminal.

`log_line_of` takes the values of a line from an exchange, `segments` makes texts of known kinds from them,
and `line` arranges these for the width of a terminal (`layout.py`); `painting.py` adds colours. Nothing here
reads a clock. Without a terminal lines have all their text, in an order that programs may rely on.

A line begins with the time at which its exchange ended, since it is printed then: the times of a log never
decrease, however long a Fetch has waited. The latency shows when the exchange began.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, tzinfo
from functools import lru_cache
from typing import Any, Final, NamedTuple

from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.log_line import details
from barnabas.captures.kafka.normal_errors import is_normal
from barnabas.captures.kafka.notes import is_failure
from barnabas.captures.kafka.wording import printable
from barnabas.cli.console.layout import (
    NARROW,
    Columns,
    Segment,
    abbreviated,
    cells,
    fitted,
    plain,
    spaced,
)
from barnabas.cli.console.painting import write
from barnabas.cli.console.terminal import Terminal

SLOW_MS: Final = 100.0
"""The latency from which on a line is marked as slow ..."""

SLOW_WAIT_MS: Final = 1000.0
"""... and for APIs whose brokers wait on purpose."""

WAITING: Final = (1, 11, 14, 78)
"""Fetch, JoinGroup, SyncGroup, ShareFetch: brokers delay their responses until they have content."""

PADDED: Final = {"client": 16, "broker": 3, "api": 20}
"""Cells to which segments are padded without a terminal; longer ones stay."""


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
    connection: int = 0
    """The number of the connection; 0: unknown."""
    retry: int = 0
    """How often the client has sent the same request before, in vain (`barnabas.captures.checks.retries`)."""


def log_line_of(exchange: Exchange, context: Context | None = None, retry: int = 0) -> LogLine:
    """Return the values of an exchange's log line.

    Args:
        exchange: The exchange.
        context: See `barnabas.captures.kafka.log_line.details`.
        retry: See `LogLine.retry`.
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
        exchange.connection,
        retry,
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
        connection=row["connection"],
    )


def _node(broker: int | None, controller: int | None) -> str:
    """Return the short name of the node that got the request: a controller's id may also be a broker's."""
    if controller is not None:
        return f"c{controller}"
    return "-" if broker is None else f"b{broker}"


def segments(log_line: LogLine, *, zone: tzinfo | None = None) -> list[Segment]:
    """Return the segments of an exchange's line in order, without empty ones.

    zone: The time zone of the time of day, by default the machine's.
    """
    end, client, broker, key, version, api, details, note, error, latency, rules, controller, *_ = (
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
        parts.append(("unanswered" if latency is None and is_failure(note) else "note", note))
    if error:
        parts.append(("normal" if is_normal(api, error) else "error", error))
    if latency is not None:
        slow = latency >= (SLOW_WAIT_MS if key in WAITING else SLOW_MS)
        parts.append(("slow" if slow else "latency", ms(latency)))
    if log_line.retry:
        parts.append(("retry", f"retry {log_line.retry}"))
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
    """Return the segments of an exchange's line, arranged in at most `width` cells.

    Args:
        log_line: The line's values.
        width: The cells of the terminal; None: any length.
        columns: The column widths of the preceding lines.
        zone: The time zone of the time of day, by default the machine's.
    """
    parts = segments(log_line, zone=zone)
    if width is None:
        padded = [(kind, text + " " * (PADDED.get(kind, 0) - cells(text))) for kind, text in parts]
        return spaced(padded)
    return fitted(worded(parts, log_line, width), width, columns or Columns())


def worded(parts: list[Segment], log_line: LogLine, width: int) -> list[Segment]:
    """Return segments in the words of a terminal: abbreviated, or with the connection's number."""
    if width < NARROW:
        return abbreviated(parts)
    if not log_line.connection:
        return parts
    connection = f"{log_line.connection}→{_node(log_line.broker, log_line.controller)}".ljust(6)
    return [(kind, connection if kind == "broker" else text) for kind, text in parts]


def show(console: Terminal, log_line: LogLine, columns: Columns | None = None) -> None:
    """Write the line of an exchange: as wide as the terminal, or all of it without one.

    The caller flushes the file.
    """
    write(console, line(log_line, width_of(console), columns))


def width_of(console: Terminal) -> int | None:
    """Return the cells of the console's terminal; None: no terminal, so lines may have any length."""
    return console.width if console.is_screen else None
