"""The alphabet of two producers with one transactional id, of which the newer one fences the older."""

from __future__ import annotations

from typing import Final

from barnabas.fuzz.states.alphabet import Alphabet, Memory
from barnabas.fuzz.states.transaction import TRANSACTION, begins
from barnabas.fuzz.states.two_clients import begins_with, of_both
from barnabas.specs.groups import TWO_PRODUCERS
from barnabas.specs.groups.pairs import ENTERS, SENDS

_EVENTS: Final = {
    "InitProducerId": ENTERS,
    "AddPartitionsToTxn": SENDS,
    "Produce": SENDS,
    "EndTxn, commit": SENDS,
    "EndTxn, abort": SENDS,
}


def _producer(name: str, client: str) -> Memory:
    return {**begins(f"{name}-{client}"), "transactional_id": name}


PRODUCERS: Final = Alphabet(
    "two-producers",
    "two producers with one transactional id",
    TRANSACTION.needs,
    begins_with(_producer),
    of_both(TRANSACTION.inputs, _EVENTS),
    TWO_PRODUCERS,
)
