"""A connection closed where the protocol has an error code, and an answer where it has to be closed.

A request that a layout reads, of a version that the broker offers, is answered; bytes that none reads are
refused by closing, since a response could not be trusted to be understood (KafkaProtocol guide, Network).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from barnabas.fuzz.cases.observation import Observation
from barnabas.fuzz.observations.exchanges import Exchanged, exchanged, wrong_request
from barnabas.fuzz.observations.java_exceptions import Raised, raised
from barnabas.fuzz.oracles.allowed import REFUSING
from barnabas.fuzz.oracles.oracle import Verdict
from barnabas.specs import Malformed, decode_frame, records
from barnabas.specs.codec.careful_decoder import FOREIGN_TAG
from barnabas.specs.keys import API_VERSIONS, ENVELOPE, PRODUCE, SASL_AUTHENTICATE, SASL_HANDSHAKE
from barnabas.specs.registry import NAMES

EXEMPT: Final = {
    SASL_HANDSHAKE: "a listener without SASL refuses it as it likes",
    SASL_AUTHENTICATE: "the same",
    ENVELOPE: "from who is no broker it is refused by closing (KIP-590)",
    API_VERSIONS: "whatever cannot be read of it is answered with error 35 or 42 (KIP-511)",
}
"""API key -> why nothing is said of it."""


RECORDS: Final = frozenset(
    (
        "org.apache.kafka.common.InvalidRecordException",
        "org.apache.kafka.common.record.InvalidRecordException",
        "org.apache.kafka.common.errors.CorruptRecordException",
    )
)
"""What says, as the cause of a request that can't be read, that its records are none: old brokers (0.11) read
them with it. Newer ones (2.8), and whoever has read the request, answer with an error code."""

NOT_THERE: Final = "org.apache.kafka.common.errors.UnsupportedVersionException"
"""What says that a broker lacks a version that it offers: from 4.0 on that is Produce v0 to v2, for clients
that look for them there (KAFKA-18659)."""


def _exempt(one: Exchanged, chain: tuple[Raised, ...]) -> bool:
    """Whether a Produce request was closed on for one of these reasons."""
    if one.asked.key != PRODUCE or not chain:
        return False
    if chain[-1].name == NOT_THERE:
        return one.asked.version <= 2
    refused = any(raised.name in REFUSING for raised in chain[:-1])
    return refused and chain[-1].name in RECORDS and not _sound(one)


def _sound(one: Exchanged) -> bool:
    """Whether all its record sets can be read, and are one batch of magic 2 where they must be (KIP-98)."""
    try:
        parts = [
            part["records"] or b""
            for topic in decode_frame(one.request, "request").body["topic_data"]
            for part in topic["partition_data"]
        ]
        magics = [[batch.magic for batch in records.read(data)] for data in parts]
    except Malformed:
        return False
    return one.asked.version < 3 or all(found == [2] for found in magics)


def judge(observation: Observation) -> Iterator[Verdict]:
    """Report a connection that is closed on a readable request, and an answer to an unreadable one."""
    # who dies closes all; who has half closed a connection lets the other side do the rest
    if observation.death is not None or observation.case.delivery == "half_open":
        return
    _, found = exchanged(observation)
    for one in found:
        if not one.known or one.asked.key in EXEMPT:  # without its layout nobody knows if it is one
            return
        problem = wrong_request(one.request, one.asked)
        name = NAMES[one.asked.key]
        if one.reply is None:
            if observation.ending not in ("closed", "reset") or problem is not None:
                return
            if dict(observation.facts).get("unoffered"):  # no response of it would be understood
                return
            chains = [chain for entry in observation.log if (chain := raised(entry))]
            causes = chains[-1] if chains else ()
            if _exempt(one, causes):
                return
            yield Verdict(
                "closing",
                f"{name} v{one.asked.version} is readable, but the connection was closed",
                (name, "closed", *(causes[-1].signature if causes else ())),
            )
            return
        # a release that lacks the version of a tag does not know it, and passes over it
        if problem is not None and not problem.reason.endswith(FOREIGN_TAG):
            where = re.sub(r"\[\d+\]", "", problem.path)
            what = re.sub(r"-?\d+", "#", problem.reason)
            yield Verdict(
                "closing",
                f"{name} v{one.asked.version} was answered, though {problem}",
                (name, "answered", where, what),
            )
