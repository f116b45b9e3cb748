"""The registry of all alphabets."""

from __future__ import annotations

from typing import Final

from barnabas.fuzz.states.alphabet import Alphabet
from barnabas.fuzz.states.classic_group import CLASSIC_GROUP
from barnabas.fuzz.states.consumer_group import CONSUMER_GROUP
from barnabas.fuzz.states.fetch_session import SESSION
from barnabas.fuzz.states.partition_log import LOG
from barnabas.fuzz.states.transaction import TRANSACTION
from barnabas.fuzz.states.transaction_v2 import TRANSACTION_V2
from barnabas.fuzz.states.two_members import MEMBERS
from barnabas.fuzz.states.two_producers import PRODUCERS, PRODUCERS_V2

ALPHABETS: Final[tuple[Alphabet, ...]] = (
    CLASSIC_GROUP,
    CONSUMER_GROUP,
    TRANSACTION,
    TRANSACTION_V2,
    SESSION,
    MEMBERS,
    PRODUCERS,
    PRODUCERS_V2,
    LOG,
)
