"""What the context makes of a Java client's real sessions, heartbeats and transactions."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.context.facts import facts
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.log_line import details
from barnabas.captures.kafka.phrases.context_words import context_words
from barnabas.harness import Harness
from barnabas.peers.apache import ApacheCluster
from tests.peers.java.client import FullClient, Transaction

FETCH, HEARTBEAT = 1, 68

IN_SESSION = re.compile(r", session \d+: 1 partition in-context\[0\]$")
EARLIER = " began earlier"

Phrase = Callable[[Exchange, Context], str]


def lines(exchanges: list[Exchange], key: int, phrase: Phrase = details) -> list[str]:
    """Return the phrases for the exchanges of one API, from a context that hears only `exchanges`."""
    context, phrases = Context(), []
    for exchange in exchanges:
        context.learn(exchange)
        if exchange.key == key:
            phrases.append(phrase(exchange, context))
    return phrases


@pytest.mark.needs_apache("4.3.1")
def test_from_the_beginning_and_from_the_middle(kafka: ApacheCluster) -> None:
    with (
        Harness(kafka.bootstrap) as proxy,
        FullClient("4.3.1", {"bootstrap.servers": proxy.bootstrap}) as java,
    ):
        own = {"transactional.id": "in-context"}
        for value in (b"1", b"2", b"3"):
            java.produce_in_transaction("in-context", [value], Transaction("commit"), settings=own)
        # a Fetch for each batch: three of records, two of markers between them
        new = {"group.protocol": "consumer", "max.partition.fetch.bytes": "1"}
        assert len(java.consume("in-context", 3, group="in-context", seconds=60, settings=new)) == 3
    heard = proxy.exchanges

    fetched = lines(heard, FETCH)
    assert len(fetched) > 5
    unexpected = [line for line in fetched[:-1] if not IN_SESSION.search(line)]
    assert unexpected == []
    assert "session" not in fetched[-1]  # the consumer ended it
    beats = lines(heard, HEARTBEAT)
    assert any(line.endswith("→ in-context[0]") for line in beats), beats
    assert any(line.endswith("has in-context[0]") for line in beats), beats

    context = Context()
    for exchange in heard:
        context.learn(exchange)
    assert "in-context" in context.producers.values()
    last = [exchange for exchange in heard if exchange.key == FETCH][-1]
    assert all(name == "in-context" for name in facts(last, context).get("topics", {}).values())

    middle = next(at for at, x in enumerate(heard) if x.key == FETCH) + 1
    learnt_later = lines(
        heard[middle:], FETCH, context_words
    )  # whole: a line of the log may be cut
    unexpected = [words for words in learnt_later[:-1] if not words.rstrip(")").endswith(EARLIER)]
    assert unexpected == []
    acknowledged = next(at for at, line in enumerate(beats) if line.endswith("has in-context[0]"))
    beat = [exchange for exchange in heard if exchange.key == HEARTBEAT][acknowledged]
    assert lines([beat], HEARTBEAT)[0].endswith(", assignment not seen")
