"""The alphabet of two producers with one transactional id, of which the newer one fences the older."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from barnabas.fuzz.states.alphabet import Alphabet, Memory
from barnabas.fuzz.states.transaction import DESCRIBE, TRANSACTION, begins
from barnabas.fuzz.states.transaction_v2 import TRANSACTION_V2
from barnabas.fuzz.states.two_clients import begins_with, of_both, of_one
from barnabas.specs.groups import TWO_PRODUCERS
from barnabas.specs.groups.pairs import ENTERS, SENDS

_EVENTS: Final = {
    "InitProducerId": ENTERS,
    "AddPartitionsToTxn": SENDS,
    "Produce": SENDS,
    "TxnOffsetCommit": SENDS,
    "EndTxn, commit": SENDS,
    "EndTxn, abort": SENDS,
}


def _producer(name: str, client: str) -> Memory:
    return {**begins(f"{name}-{client}"), "transactional_id": name}


def _two(name: str, description: str, alone: Alphabet, events: Mapping[str, str]) -> Alphabet:
    """Return the alphabet of two producers for the one of a single producer."""
    return alone._replace(
        name=name,
        description=description,
        begins=begins_with(_producer),
        inputs=(*of_both(alone.inputs, events), of_one(DESCRIBE)),
        table=TWO_PRODUCERS,
    )


_WITHOUT_OFFSETS: Final = {name: _EVENTS[name] for name in _EVENTS if name != "TxnOffsetCommit"}

PRODUCERS: Final = _two(
    "two-producers", "two producers with one transactional id", TRANSACTION, _WITHOUT_OFFSETS
)
PRODUCERS_V2: Final = _two(
    "two-producers-v2",
    "two producers of transactions v2 (KIP-890) with one transactional id",
    TRANSACTION_V2,
    _EVENTS,
)
