"""The JSON of `proxy.control.views` as lines for a person."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from barnabas.plural import plural
from barnabas.proxy.control.omissions import WAITING, silent

JsonObject = Mapping[str, Any]


def status(proxy: JsonObject) -> Iterator[str]:
    """Yield lines about the whole proxy."""
    counts = proxy["connections"]
    state = "draining" if proxy["draining"] else "running"
    yield f"{state}: {proxy['listen']} for {', '.join(proxy['bootstrap'])}"
    for broker in proxy["brokers"]:
        yield f"{broker['kind']} {broker['id']}: {broker['listen']} for {broker['upstream']}"
    yield f"connections: {counts['open']} open, {counts['accepted']} accepted"
    yield from missing(proxy)
    yield f"rules: {proxy['rules']}"
    for rule in proxy["undecided"]:
        messages = plural(rule["messages"], "message")
        yield f"rule {rule['rule']!r}: {messages} undecided: {rule['reason']}"
    names = proxy["topic_names"]
    if names["wanted"] or names["trouble"]:
        trouble = f": {names['trouble']}" if names["trouble"] else ""
        yield f"{plural(names['wanted'], 'topic ID')} not yet resolved, needed by rules{trouble}"
    for row in proxy["apis"]:
        p50 = "-" if row["p50_ms"] is None else f"{row['p50_ms']:.2f}"
        yield f"{row['api']}: {plural(row['count'], 'exchange')}, p50 {p50} ms{_errors(proxy, row['api'])}"
    if proxy["capture"] is not None:
        capture = proxy["capture"]
        closed = capture.get("segments")
        segments = f", {plural(closed, 'segment')} closed" if closed else ""
        packets = f"{plural(capture['packets'], 'packet')}, {capture['lost_packets']} lost"
        yield f"capture: {capture['path']}, {packets}{segments}"


def _errors(proxy: JsonObject, api: str) -> str:
    """Return the errors in an API's responses, with a comma before each."""
    return "".join(
        f", {each['error']} {each['count']}" for each in proxy["errors"] if each["api"] == api
    )


def connections(rows: Sequence[JsonObject]) -> Iterator[str]:
    """Yield a line for each open connection."""
    yield from map(connection, rows)
    if not rows:
        yield "no connections"


def connection(row: JsonObject) -> str:
    """Return a line about a connection: the client, the broker, what waits."""
    broker = "bootstrap" if row["broker"] is None else f"b{row['broker']}"
    words = [f"{row['connection']:>4} {row['client_id'] or row['client_address']} → {broker}"]
    if row["waiting_requests"]:
        words.append(f"{plural(row['waiting_requests'], 'request')} in flight")
    for direction in ("request", "response"):
        counts = row[direction]
        words.append(plural(counts["frames"], direction))
        if counts["queued"] or counts["held"]:
            words.append(f"{plural(counts['queued'], direction)} delayed, {counts['held']} held")
        if counts["lost"]:
            words.append(f"{direction}s are lost from here on")
    return ", ".join([*words, "paused"] if row["paused"] else words)


def rules(scenario: JsonObject) -> Iterator[str]:
    """Yield a line for each rule of the scenario."""
    yield from missing(scenario)
    yield from map(rule, scenario["rules"])
    if not scenario["rules"]:
        yield "no rules"


def rule(row: JsonObject) -> str:
    """Return a line about what a rule has done."""
    return f"{row['name']}: {row['matched']} matched, {row['fired']} fired, {row['what']}"


def missing(report: JsonObject) -> Iterator[str]:
    """Yield a line that names the workers that do not answer."""
    if workers := report.get("missing_workers"):
        reason = "counts are from the last answer; rules take effect when the worker continues"
        yield f"{silent(workers)}: {reason}"


def breakpoints(rows: Sequence[JsonObject]) -> Iterator[str]:
    """Yield a line for each waiting message."""
    yield from map(breakpoint, rows)
    if not rows:
        yield "no message waits at a breakpoint"
    if len(rows) >= WAITING:
        yield f"the {WAITING} that wait longest; more may wait"


def breakpoint(row: JsonObject) -> str:  # noqa: A001
    """Return a line about a waiting message, and how long it and its client wait."""
    broker = "bootstrap" if row["broker"] is None else f"b{row['broker']}"
    arrow = "→" if row["direction"] == "request" else "←"
    words = [
        f"{row['id']:>6} {row['client_id'] or row['client_address']} {arrow} {broker} "
        f"{row['api']} v{row['version']} #{row['correlation_id']}, {plural(row['size'], 'byte')}",
        f"waits {_seconds(row['waited_ms'])}, {_seconds(row['left_ms'])} more at most",
    ]
    if (timeout := row["client_timeout"]) is not None:
        remaining_ms = timeout["left_ms"]
        remaining = (
            f"for {_seconds(remaining_ms)} more"
            if remaining_ms > 0
            else f"ended {_seconds(-remaining_ms)} ago"
        )
        words.append(f"{timeout['field']} of {_seconds(timeout['ms'])} {remaining}")
    return ", ".join([*words, f"rule {row['rule']!r}"])


def decided(decision: JsonObject) -> Iterator[str]:
    """Yield what was done, as a comment, and the scenario that does it again."""
    yield f"# {decision['id']}: {', '.join(decision['what'])}"
    yield from (decision["scenario"] or "").splitlines()


def _seconds(ms: float) -> str:
    return f"{ms / 1000:.1f} s"
