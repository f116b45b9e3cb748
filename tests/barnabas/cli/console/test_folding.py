"""What the log of a terminal leaves out: counted, and never what says something."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pytest

from barnabas.captures.kafka.exchange import Exchange
from barnabas.cli.console.folding import Folded
from barnabas.cli.console.output import Output
from barnabas.cli.console.terminal import Terminal
from barnabas.specs.registry import api

FETCH: dict[str, Any] = {"throttle_time_ms": 0, "error_code": 0, "session_id": 9}
VERSIONS: dict[str, Any] = {"error_code": 0, "api_keys": [], "throttle_time_ms": 0}


def fetch(records: bytes | None = None, error: int = 0, **changes: Any) -> Exchange:
    partition = {"partition_index": 0, "error_code": error, "records": records}
    body = FETCH | {"responses": [{"topic": "orders", "partitions": [partition]}]}
    return made(1, 11, body, **changes)


def made(key: int, version: int, response: dict[str, Any], **changes: Any) -> Exchange:
    declared = api(key).response.codec(version)
    values = {"latency_ms": 500.0, "response_body": declared.encode(response), **changes}
    return Exchange(0, 1, "c:1", "me", 1, key, version, 7, 20, **values)


LEFT_OUT: dict[str, Callable[[], Exchange]] = {
    "an empty fetch": fetch,
    "a fetch of a session in which nothing changed": lambda: made(1, 11, FETCH | {"responses": []}),
    "ApiVersions": lambda: made(18, 3, VERSIONS),
}

SHOWN: dict[str, Callable[[], Exchange]] = {
    "a fetch with records": lambda: fetch(bytes(61)),
    "with an error": lambda: fetch(error=1),
    "on which a rule fired": lambda: fetch(rules=("slow",)),
    "without a response": lambda: fetch(response_body=None, latency_ms=None),
    "with a note": lambda: fetch(note="connection closed"),
    "with a response that can't be read": lambda: fetch(response_body=b"\0"),
    "with a request that can't be read": lambda: fetch(request_body=b"\0"),
    "ApiVersions that was refused": lambda: made(18, 3, VERSIONS | {"error_code": 35}),
    "ApiVersions on which a rule fired": lambda: made(18, 3, VERSIONS, rules=("slow",)),
    "anything else": lambda: made(12, 3, {"throttle_time_ms": 0, "error_code": 0}),
}


@pytest.mark.parametrize("name", [*LEFT_OUT, *SHOWN])
def test_what_is_left_out(name: str) -> None:
    folded = Folded()
    assert folded.takes((LEFT_OUT | SHOWN)[name]()) is (name in LEFT_OUT)
    assert bool(folded.note) is (name in LEFT_OUT)


def output(terminal: bool) -> Output:
    return Output(Terminal(file=io.StringIO(), force_terminal=terminal, width=120))


@pytest.mark.parametrize(
    ("terminal", "filtered", "wanted", "shown"),
    [
        (True, False, None, 1),
        (True, True, None, 4),
        (False, False, None, 4),
        (True, False, False, 4),
        (False, False, True, 1),
        (True, True, True, 1),
    ],
)
def test_where_they_are_left_out(
    terminal: bool, filtered: bool, wanted: bool | None, shown: int
) -> None:
    out = output(terminal)
    if filtered:
        out.passes = lambda _: True
    out.fold(wanted)
    for make in (*LEFT_OUT.values(), SHOWN["a fetch with records"]):
        out.exchange(make())
    assert isinstance(out.out.file, io.StringIO)
    assert out.out.file.getvalue().count("\n") == shown
    said = "2 empty Fetches, 1 ApiVersions not shown: --no-quiet-fetches"
    assert (out.folded.note if out.folded else "") == ("" if shown == 4 else said)


def test_those_left_out_are_learnt_from_all_the_same() -> None:
    out = output(True)
    out.fold(None)
    begun = fetch(request_body=api(1).request.codec(11).encode(SESSION))
    out.learning(out.exchange)(begun)
    session = out.context.sessions.of(begun)
    assert session is not None
    assert session.count == 1


SESSION: dict[str, Any] = {
    "session_id": 0,
    "session_epoch": 0,
    "topics": [{"topic": "orders", "partitions": [{"partition": 0, "fetch_offset": 0}]}],
}
