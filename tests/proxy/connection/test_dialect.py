"""Connections on which a dialect is spoken: their frames are collected, paired and given to the rules."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from barnabas.captures.kafka.notes import WITHHELD
from tests.proxy.frames import Chunks, raw, request, response, slicings
from tests.proxy.playbook import Actor, Stage
from tests.specs.dialects.installed import LEDGER, installed
from tests.specs.dialects.test_ledger import transfer, transferred

MODULES = {
    "ledger_protocol": LEDGER.replace(
        "version_field=None", "version_field=None, kafka_apis=(0, 10)"
    )
}


@pytest.fixture(scope="module", autouse=True)
def _ledger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with installed(tmp_path_factory.mktemp("site"), modules=MODULES):
        yield


def speaking(
    do: str = "", match: str = "{api: Transfer, direction: request}", **options: bool
) -> Actor:
    """Return a connection of the dialect, under one rule or none."""
    rules = f"[{{name: r, match: {match}, do: {do}}}]" if do else "[]"
    return Stage(f"version: 1\ndialect: ledger\nrules: {rules}", **options).actor()  # type: ignore[arg-type]


ASKED = transfer(1, "savings", 7) + transfer(2, "savings", 8)
ANSWERED = transferred(1, 0, 12) + transferred(2, 0, 20)


@slicings
def test_frames_pass_and_the_log_has_their_exchanges(chunks: Chunks) -> None:
    actor = speaking()
    actor.ask(ASKED, chunks)
    actor.stage.wait(7)
    actor.answer(ANSWERED, chunks)
    assert actor.sent == {"request": ASKED, "response": ANSWERED}
    sizes = len(ASKED) // 2 - 4, len(ANSWERED) // 2 - 4
    told = [(x.request_size, x.response_size, x.latency_ms, x.note) for x in actor.done]
    assert told == [(*sizes, 7.0, "")] * 2
    assert [x.correlation_id for x in actor.done] == [1, 2]
    assert [x.response for x in actor.done] == [{"error_code": 0, "balance": n} for n in (12, 20)]
    assert not actor.said
    assert actor.connection.idle


@slicings
def test_what_cannot_be_read_passes_and_is_named(chunks: Chunks) -> None:
    actor = speaking()
    nonsense = raw(b"\0\x03\0"), raw(b"\0\0\0\x09unasked")
    actor.ask(nonsense[0] + ASKED, chunks)
    actor.answer(nonsense[1] + ANSWERED, chunks)
    assert actor.sent["request"] == nonsense[0] + ASKED
    assert actor.sent["response"] == nonsense[1] + ANSWERED
    assert (actor.stage.totals.undecoded, len(actor.said), len(actor.done)) == (2, 2, 2)
    assert [(cut["frame"], "undecodable" in cut) for cut in actor.cuts] == [(0, True)] * 2


@slicings
@pytest.mark.parametrize("direction", ["request", "response"])
def test_a_message_that_a_rule_takes_out_is_accounted_for(chunks: Chunks, direction: str) -> None:
    actor = speaking("{drop: {selective: true}}", f"{{api: Transfer, direction: {direction}}}")
    actor.ask(ASKED, chunks)
    if direction == "response":
        actor.answer(ANSWERED, chunks)
    assert not actor.sent[direction]  # type: ignore[index]
    notes = [(x.note, x.latency_ms, x.rules) for x in actor.done]
    assert notes == [(f"{direction} not forwarded: by a rule", None, ("r",))] * 2
    assert not actor.connection.state.pairing.waiting
    actor.answer(transferred(3, 0, 1))  # nobody waits for any
    assert actor.stage.totals.undecoded == 1


def test_a_delay_counts_in_the_latency() -> None:
    actor = speaking("{delay: 5ms}", "{api: Transfer, direction: response}")
    actor.ask(ASKED)
    actor.answer(ANSWERED)
    assert not actor.sent["response"]
    actor.stage.wait(5)
    assert actor.sent["response"] == ANSWERED
    assert [(x.latency_ms, x.rules) for x in actor.done] == [(5.0, ("r",))] * 2


def test_a_changed_request_leaves_with_other_fields() -> None:
    actor = speaking("{edit: {set: {amount: 50}}}")
    actor.ask(transfer(1, "savings", 70))
    assert actor.sent["request"] == transfer(1, "savings", 50)
    assert [cut["edits"] for cut in actor.cuts] == [["edit amount=50"]]
    (asked,) = actor.connection.state.pairing.waiting
    assert actor.kinds == [(asked.key, 0)]


# requests of Kafka's own that the dialect allows


COORDINATOR: dict[str, Any] = {"node_id": 3, "host": "real", "port": 9092}


@slicings
def test_addresses_are_those_of_the_proxy(chunks: Chunks) -> None:
    actor = speaking()
    actor.ask(request("FindCoordinator", 7, key="g"), chunks)
    actor.answer(response("FindCoordinator", 7, **COORDINATOR), chunks)
    changed = response("FindCoordinator", 7, **COORDINATOR | {"host": "proxy", "port": 10_003})
    assert actor.sent["response"] == changed
    assert actor.done[0].client_id == "me"
    assert [cut["edits"] for cut in actor.cuts] == [["addresses"]]


@slicings
def test_an_answer_whose_addresses_are_not_found_is_withheld(chunks: Chunks) -> None:
    actor = speaking()
    actor.ask(request("FindCoordinator", 7, key="g"), chunks)
    actor.answer(raw(response("FindCoordinator", 7, **COORDINATOR)[4:-1]), chunks)
    assert not actor.sent["response"]
    assert actor.aborted
    assert [x.note for x in actor.done] == [WITHHELD]


def test_nobody_waits_for_an_answer_to_acks_0() -> None:
    actor = speaking()
    actor.ask(request("Produce", 1, version=3, acks=0))
    assert [x.note for x in actor.done] == ["no response (acks=0)"]
    assert actor.connection.idle
