"""Recorded exchanges as a file for pytest, which repeats the requests and compares the responses.

The file has requests and responses in the JSON form of the logs, to be read and changed, and in bytes where
the JSON form loses something. `barnabas.testing.seen` sends the requests.
"""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable
from pprint import pformat
from typing import Any, Final

from barnabas.captures.diff.bodies import without
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.wording import printable
from barnabas.peers.replay.outcome import OF_THE_CLUSTER
from barnabas.peers.replay.plan import omission_of
from barnabas.plural import plural
from barnabas.specs.codec import Unfit
from barnabas.specs.frames import DIRECTIONS, Direction
from barnabas.specs.json_forms import json_form
from barnabas.specs.jsonform import base64_text, body_from_json
from barnabas.specs.registry import codec_of
from barnabas.version import version

MOST: Final = 500
"""Exchanges in a file at most ..."""

BYTES: Final = 4 << 20
"""... and bytes of their bodies."""

WIDTH: Final = 100

HEAD: Final = '''\
"""Recorded requests are sent again: the responses must be the same as recorded.

    pytest THIS_FILE                                       asks an embedded cluster
    pytest THIS_FILE --kafka-bootstrap-server HOST:PORT    asks yours, and writes what was written

It needs barnabas[pytest,peers].
"""
'''

PLAIN: Final = """

def test_responses_are_as_recorded(kafka_bootstrap_server):
    differs = ask_again(SEEN, kafka_bootstrap_server, NOT_COMPARED)
    assert not differs, "was ≠ is\\n" + "\\n".join(differs)
"""

WITH_RULES: Final = """

@pytest.mark.scenario(SCENARIO)
def test_responses_are_as_recorded(kafka_proxy):
    differs = ask_again(SEEN, kafka_proxy.bootstrap_server, NOT_COMPARED)
    assert not differs, "was ≠ is\\n" + "\\n".join(differs)
"""


class NoTest(ValueError):
    """The exchanges can't become a test; the message is one line with the reason."""


def as_pytest(exchanges: Iterable[Exchange], name: str, scenario: str = "") -> str:
    """Return a Python file for pytest that repeats requests and compares the responses.

    Args:
        exchanges: the recording.
        name: of the recording, for a comment.
        scenario: the scenario whose rules affected the recording; empty: none.

    Raises:
        NoTest: No exchange can be compared, or there are too many.
    """
    chosen, unsent = [], Counter[str]()
    for exchange in sorted(exchanges, key=lambda exchange: exchange.ts):
        if reason := _omission_reason(exchange):
            unsent[reason] += 1
        else:
            chosen.append(exchange)
    if all(exchange.response_size is None for exchange in chosen):
        reasons = ", ".join(f"{reason} ({count})" for reason, count in unsent.items())
        raise NoTest(f"no exchange can be compared: {reasons or 'no exchange with a response'}")
    if len(chosen) > MOST or sum(exchange.weight for exchange in chosen) > BYTES:
        raise NoTest(
            f"a test has {MOST} exchanges and {BYTES >> 20} MiB of bodies at most: choose fewer"
        )
    responses = [_body(exchange, "response") for exchange in chosen]
    ignored = [field for field in OF_THE_CLUSTER if any(_has(body, field) for body in responses)]
    comments = [f"barnabas {version()} made it of {plural(len(chosen), 'exchange')} of {name}."]
    comments += [f"Not sent again: {reason} ({count})." for reason, count in unsent.items()]
    unanswered = sum(exchange.response_size is None for exchange in chosen)
    if unanswered:
        comments.append(f"Sent again and not compared: without a response ({unanswered}).")
    parts = [HEAD, *(f"# {printable(line)}\n" for line in comments), "\n"]
    if scenario:
        parts.append("import pytest\n\n")
    parts.append("from barnabas.testing.seen import Seen, ask_again\n\n")
    parts.append("# fields that differ between runs and clusters, anywhere in a response\n")
    parts.append(f"NOT_COMPARED = {_literal(tuple(ignored))}\n\n")
    if scenario:
        parts.append(f"# what rules did to these exchanges\nSCENARIO = {_literal(scenario)}\n\n")
    sources = "".join(map(_source, chosen, [chosen[0].ts] * len(chosen)))
    parts += (f"SEEN = (\n{sources})\n", WITH_RULES if scenario else PLAIN)
    return "".join(parts)


def _omission_reason(exchange: Exchange) -> str:
    omission = omission_of(exchange)
    if omission is not None:
        return omission.reason
    if exchange.payload.get("response"):
        return "its payload was removed from the capture"
    if exchange.response_size is not None and exchange.response is None:
        return "its response was not kept or can't be read"
    return ""


def _source(exchange: Exchange, begin: int) -> str:
    """Return an exchange as Python source."""
    known: dict[str, Any] = {
        "api": exchange.api,
        "version": exchange.version,
        "client_id": exchange.client_id,
        "connection": exchange.connection,
        "broker": exchange.broker,
        "asked": (exchange.ts - begin) / 1e6,
    }
    if exchange.response_size is not None:
        known["answered"] = (exchange.end - begin) / 1e6
    known |= {
        direction: _body(exchange, direction)
        for direction in DIRECTIONS
        if exchange.body(direction) is not None
    }
    fields = (f"{name}={_literal(value, len(name) + 1)},\n" for name, value in known.items())
    return textwrap.indent(f"Seen(\n{textwrap.indent(''.join(fields), '    ')}),\n", "    ")


def _body(exchange: Exchange, direction: Direction) -> dict[str, Any] | bytes | None:
    """Return a body in JSON form; its bytes, if the JSON form loses something."""
    value, body = getattr(exchange, direction), exchange.body(direction)
    if value is None or body is None:
        return body
    form = json_form(exchange.key, exchange.version, direction)(value, base64_text)
    codec = codec_of(exchange.key, exchange.version, direction)
    try:
        same = codec.decode(codec.encode(body_from_json(form, codec.layout))) == value
    except (Unfit, ValueError):
        same = False
    return form if same else body


def _has(body: dict[str, Any] | bytes | None, field: str) -> bool:
    return isinstance(body, dict) and without(body, (field,)) != body


def _literal(value: Any, indent: int = 0) -> str:
    """Return a value as Python source, over several lines if it is long."""
    if isinstance(value, str) and "\n" in value:
        lines = "".join(f"    {line!r}\n" for line in value.splitlines(keepends=True))
        return f"(\n{lines})"
    return pformat(value, width=WIDTH - indent, sort_dicts=False).replace("\n", "\n" + " " * indent)
