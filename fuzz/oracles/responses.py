"""Oracles of responses: unreadable ones, UNKNOWN_SERVER_ERROR, no response at all."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from barnabas.fuzz.cases.observation import Observation
from barnabas.fuzz.observations.delayed_responses import LIMIT_MS, may_wait
from barnabas.fuzz.observations.exchanges import (
    Exchange,
    pair_responses,
    response_body_of,
    unknown_error_paths,
)
from barnabas.fuzz.observations.java_stacks import exceptions_in
from barnabas.fuzz.oracles.allowed import allowed
from barnabas.fuzz.oracles.oracle import Verdict
from barnabas.plural import plural
from barnabas.specs.malformed import Malformed
from barnabas.specs.registry import NAMES

_NULL_POINTER: Final = re.compile(r"Cannot \w+ .*\bbecause .* is null")
_MINUS_ONE: Final = b"\xff\xff"
"""The bytes of error code -1."""


def wrong(observation: Observation) -> Iterator[Verdict]:
    """Report responses that are too many, unreadable, or to another request."""
    _, exchanges = pair_responses(observation)
    facts = dict(observation.facts)
    if facts.get("garbled"):
        yield Verdict("responses", "a response of a negative size", ("negative size",))
    if len(observation.replies) > len(exchanges):
        yield Verdict(
            "responses",
            f"{plural(len(observation.replies), 'response')} to {plural(len(exchanges), 'request')}",
            (
                "more responses than requests",
                NAMES.get(exchanges[0].head.key, "") if exchanges else "",
            ),
        )
    for exchange in exchanges:
        if exchange.reply is not None and not exchange.cut:
            yield from _one(exchange)


def _one(exchange: Exchange) -> Iterator[Verdict]:
    reply = exchange.reply or b""
    name = NAMES.get(exchange.head.key, "an unknown API")
    if (
        exchange.head.key == -1
        or int.from_bytes(reply[:4], signed=True) != exchange.head.correlation_id
    ):
        yield Verdict(
            "responses",
            f"{name} was answered with another correlation id",
            ("correlation id", name),
        )
        return
    if not exchange.has_layout:
        return
    try:
        response_body_of(exchange)
    except Malformed as problem:
        field_path = re.sub(r"\[\d+\]", "", problem.path)
        yield Verdict(
            "responses",
            f"the response to {name} v{exchange.head.version} can't be decoded: {problem}",
            (name, field_path),
        )


def server_error(observation: Observation) -> Iterator[Verdict]:
    """Report each place of a response with UNKNOWN_SERVER_ERROR."""
    _, exchanges = pair_responses(observation)
    for exchange in exchanges:
        # unreadable responses are reported by `responses`: the two bytes may be anything in them
        if exchange.reply is None or not exchange.has_layout or _MINUS_ONE not in exchange.reply:
            continue
        try:
            body = response_body_of(exchange)
        except Malformed:
            continue
        paths = sorted(set(unknown_error_paths(body)))
        name = NAMES[exchange.head.key]
        signature = _logged(observation) or _null_pointer(body.get("error_message"))
        for path in paths:
            yield Verdict(
                "server_error",
                f"{name} v{exchange.head.version} was answered with UNKNOWN_SERVER_ERROR at {path}",
                (name, path, *signature),
            )


def _null_pointer(message: Any) -> tuple[str, ...]:
    """Return the message of a NullPointerException, which names the code (JEP 358); () for other messages.

    >>> _null_pointer('Cannot invoke "A.b()" because "<local4>" is null'), _null_pointer("no such topic")
    (('Cannot invoke "A.b()" because "<localN>" is null',), ())
    """
    if not isinstance(message, str) or not _NULL_POINTER.fullmatch(message):
        return ()
    return (re.sub(r"\d+", "N", message),)


def unanswered(observation: Observation) -> Iterator[Verdict]:
    """Report a whole request neither answered nor refused by an end, while the broker answers others.

    Requests that may wait (long polls, replicas, members: fuzz/observations/delayed_responses.py says which
    and why) are exempt, and so is anything that was not waited for long enough, alone.
    """
    probe = observation.probe
    # a broker that answers no client is reported by `hung`
    if observation.ending != "open" or probe is None or not probe.answered:
        return
    # a busy broker answers a burst's requests in turn, each within the limit
    if observation.took_ms < LIMIT_MS or observation.case.delivery == "burst":
        return
    _, exchanges = pair_responses(observation)
    late = next((exchange.head for exchange in exchanges if exchange.reply is None), None)
    if late is None or may_wait(late):
        return
    name = NAMES.get(late.key, "an unknown API")
    yield Verdict(
        "unanswered",
        f"{name} v{late.version} was neither answered nor refused within {LIMIT_MS} ms",
        (name, *_logged(observation)),
    )


def _logged(observation: Observation) -> tuple[str, ...]:
    """Return what tells the logged exception from others; () if there is none.

    An allowed exception has its own error code, so it is another request's.
    """
    chains = [exceptions_in(entry) for entry in observation.log]
    causes = [chain[-1] for chain in chains if chain and not allowed(chain)]
    return causes[-1].signature if causes else ()
