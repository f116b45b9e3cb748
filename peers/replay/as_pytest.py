"""Recorded exchanges as a file for pytest, which asks a cluster the same and asserts what was answered.

The file has what was asked and answered in the JSON form of the logs, to be read and changed; only what that
form does not tell is there as bytes. What asks is `barnabas.testing.seen`.
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
from barnabas.peers.replay.plan import left_out
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
"""What brokers were asked and answered, asked again: the answers are to be the same.

    pytest THIS_FILE                                       asks an embedded cluster
    pytest THIS_FILE --kafka-bootstrap-server HOST:PORT    asks yours, and writes what was written

It needs barnabas[pytest,peers].
"""
'''

PLAIN: Final = """

def test_the_answers_are_those_that_were_seen(kafka_bootstrap_server):
    differs = ask_again(SEEN, kafka_bootstrap_server, NOT_COMPARED)
    assert not differs, "was ≠ is\\n" + "\\n".join(differs)
"""

WITH_RULES: Final = """

@pytest.mark.scenario(SCENARIO)
def test_the_answers_are_those_that_were_seen(kafka_proxy):
    differs = ask_again(SEEN, kafka_proxy.bootstrap_server, NOT_COMPARED)
    assert not differs, "was ≠ is\\n" + "\\n".join(differs)
"""


class NoTest(ValueError):
    """Of these exchanges no test can be made, and why, in a line."""


def as_pytest(exchanges: Iterable[Exchange], name: str, scenario: str = "") -> str:
    """The file. name: where they are from; scenario: what rules did to them, if they did something.

    Raises NoTest.
    """
    chosen, unsent = [], Counter[str]()
    for exchange in sorted(exchanges, key=lambda exchange: exchange.ts):
        if why := _why_not(exchange):
            unsent[why] += 1
        else:
            chosen.append(exchange)
    if all(exchange.response_size is None for exchange in chosen):
        whys = ", ".join(f"{why} ({count})" for why, count in unsent.items())
        raise NoTest(f"nothing is left to be compared: {whys or 'no exchange with a response'}")
    if len(chosen) > MOST or sum(exchange.weight for exchange in chosen) > BYTES:
        raise NoTest(
            f"a test has {MOST} exchanges and {BYTES >> 20} MiB of bodies at most: choose fewer"
        )
    responses = [_body(exchange, "response") for exchange in chosen]
    ignored = [field for field in OF_THE_CLUSTER if any(_has(body, field) for body in responses)]
    said = [f"barnabas {version()} made it of {plural(len(chosen), 'exchange')} of {name}."]
    said += [f"Not asked again: {why} ({count})." for why, count in unsent.items()]
    unanswered = sum(exchange.response_size is None for exchange in chosen)
    if unanswered:
        said.append(f"Asked again and not compared: without a response ({unanswered}).")
    parts = [HEAD, *(f"# {printable(line)}\n" for line in said), "\n"]
    if scenario:
        parts.append("import pytest\n\n")
    parts.append("from barnabas.testing.seen import Seen, ask_again\n\n")
    parts.append(
        "# fields that another run or cluster has otherwise, wherever they stand in an answer\n"
    )
    parts.append(f"NOT_COMPARED = {_literal(tuple(ignored))}\n\n")
    if scenario:
        parts.append(f"# what rules did to these exchanges\nSCENARIO = {_literal(scenario)}\n\n")
    seen = "".join(map(_seen, chosen, [chosen[0].ts] * len(chosen)))
    parts += (f"SEEN = (\n{seen})\n", WITH_RULES if scenario else PLAIN)
    return "".join(parts)


def _why_not(exchange: Exchange) -> str:
    left = left_out(exchange)
    if left is not None:
        return left.reason
    if exchange.payload.get("response"):
        return "its payload was removed from the capture"
    if exchange.response_size is not None and exchange.response is None:
        return "its response was not kept or can't be read"
    return ""


def _seen(exchange: Exchange, begin: int) -> str:
    """One of them, as Python."""
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
    known |= {way: _body(exchange, way) for way in DIRECTIONS if exchange.body(way) is not None}
    fields = (f"{name}={_literal(value, len(name) + 1)},\n" for name, value in known.items())
    return textwrap.indent(f"Seen(\n{textwrap.indent(''.join(fields), '    ')}),\n", "    ")


def _body(exchange: Exchange, way: Direction) -> dict[str, Any] | bytes | None:
    """In JSON form; its bytes, if that form does not say the same."""
    value, body = getattr(exchange, way), exchange.body(way)
    if value is None or body is None:
        return body
    form = json_form(exchange.key, exchange.version, way)(value, base64_text)
    codec = codec_of(exchange.key, exchange.version, way)
    try:
        same = codec.decode(codec.encode(body_from_json(form, codec.layout))) == value
    except (Unfit, ValueError):
        same = False
    return form if same else body


def _has(body: dict[str, Any] | bytes | None, field: str) -> bool:
    return isinstance(body, dict) and without(body, (field,)) != body


def _literal(value: Any, indent: int = 0) -> str:
    """A value as Python, over several lines if it is long."""
    if isinstance(value, str) and "\n" in value:
        lines = "".join(f"    {line!r}\n" for line in value.splitlines(keepends=True))
        return f"(\n{lines})"
    return pformat(value, width=WIDTH - indent, sort_dicts=False).replace("\n", "\n" + " " * indent)
