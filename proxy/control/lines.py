"""The JSON of `proxy.control.views` as lines for a person."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from barnabas.plural import plural
from barnabas.proxy.control.omissions import WAITING, silent

Found = Mapping[str, Any]


def status(found: Found) -> Iterator[str]:
    """The proxy as a whole."""
    counts = found["connections"]
    state = "draining" if found["draining"] else "running"
    yield f"{state}: {found['listen']} for {', '.join(found['bootstrap'])}"
    for broker in found["brokers"]:
        yield f"{broker['kind']} {broker['id']}: {broker['listen']} for {broker['upstream']}"
    yield f"connections: {counts['open']} open, {counts['accepted']} accepted"
    yield from missing(found)
    yield f"rules: {found['rules']}"
    for rule in found["undecided"]:
        messages = plural(rule["messages"], "message")
        yield f"rule {rule['rule']!r}: {messages} undecided: {rule['reason']}"
    names = found["topic_names"]
    if names["wanted"] or names["trouble"]:
        trouble = f": {names['trouble']}" if names["trouble"] else ""
        yield f"{plural(names['wanted'], 'topic ID')} not yet resolved, needed by rules{trouble}"
    for row in found["apis"]:
        p50 = "-" if row["p50_ms"] is None else f"{row['p50_ms']:.2f}"
        yield f"{row['api']}: {plural(row['count'], 'exchange')}, p50 {p50} ms{_errors(found, row['api'])}"
    if found["capture"] is not None:
        capture = found["capture"]
        closed = capture.get("segments")
        segments = f", {plural(closed, 'segment')} closed" if closed else ""
        packets = f"{plural(capture['packets'], 'packet')}, {capture['lost_packets']} lost"
        yield f"capture: {capture['path']}, {packets}{segments}"


def _errors(found: Found, api: str) -> str:
    """The errors that an API's responses said, with a comma in front."""
    return "".join(
        f", {each['error']} {each['count']}" for each in found["errors"] if each["api"] == api
    )


def connections(found: Sequence[Found]) -> Iterator[str]:
    """The connections that are open."""
    yield from map(connection, found)
    if not found:
        yield "no connections"


def connection(found: Found) -> str:
    """One connection: who, to which broker, what waits."""
    broker = "bootstrap" if found["broker"] is None else f"b{found['broker']}"
    words = [f"{found['connection']:>4} {found['client_id'] or found['client_address']} → {broker}"]
    if found["waiting_requests"]:
        words.append(f"{plural(found['waiting_requests'], 'request')} in flight")
    for direction in ("request", "response"):
        way = found[direction]
        words.append(plural(way["frames"], direction))
        if way["queued"] or way["held"]:
            words.append(f"{plural(way['queued'], direction)} delayed, {way['held']} held")
        if way["lost"]:
            words.append(f"{direction}s are lost from here on")
    return ", ".join([*words, "paused"] if found["paused"] else words)


def rules(found: Found) -> Iterator[str]:
    """What each rule of the scenario has done."""
    yield from missing(found)
    yield from map(rule, found["rules"])
    if not found["rules"]:
        yield "no rules"


def rule(found: Found) -> str:
    """What one rule has done."""
    return f"{found['name']}: {found['matched']} matched, {found['fired']} fired, {found['what']}"


def missing(found: Found) -> Iterator[str]:
    """Name the workers that do not answer."""
    if workers := found.get("missing_workers"):
        yield f"{silent(workers)}: counts are as of the last answer, and rules hold as soon as it goes on"


def breakpoints(found: Sequence[Found]) -> Iterator[str]:
    """The messages that wait."""
    yield from map(breakpoint, found)
    if not found:
        yield "no message waits at a breakpoint"
    if len(found) >= WAITING:
        yield f"the {WAITING} that wait longest; more may wait"


def breakpoint(found: Found) -> str:  # noqa: A001
    """One message: what it is, and how long it and its client wait."""
    broker = "bootstrap" if found["broker"] is None else f"b{found['broker']}"
    arrow = "→" if found["direction"] == "request" else "←"
    words = [
        f"{found['id']:>6} {found['client_id'] or found['client_address']} {arrow} {broker} "
        f"{found['api']} v{found['version']} #{found['correlation_id']}, {plural(found['size'], 'byte')}",
        f"waits {_seconds(found['waited_ms'])}, {_seconds(found['left_ms'])} more at most",
    ]
    if (timeout := found["client_timeout"]) is not None:
        left = timeout["left_ms"]
        passed = f"for {_seconds(left)} more" if left > 0 else f"ended {_seconds(-left)} ago"
        words.append(f"{timeout['field']} of {_seconds(timeout['ms'])} {passed}")
    return ", ".join([*words, f"rule {found['rule']!r}"])


def decided(found: Found) -> Iterator[str]:
    """What was done, as a comment, and the scenario that does it again."""
    yield f"# {found['id']}: {', '.join(found['what'])}"
    yield from (found["scenario"] or "").splitlines()


def _seconds(ms: float) -> str:
    return f"{ms / 1000:.1f} s"
