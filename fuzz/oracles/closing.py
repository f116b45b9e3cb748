"""A connection closed where the protocol has an error code, and an answer where it has to be closed.

A request that a layout reads, of a version that the broker offers, is answered; bytes that none reads are
refused by closing, since a response could not be trusted to be understood (KafkaProtocol guide, Network).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from barnabas.fuzz.cases.observation import Observation
from barnabas.fuzz.observations.exchanges import exchanged, wrong_request
from barnabas.fuzz.observations.java_exceptions import raised
from barnabas.fuzz.oracles.oracle import Oracle, Verdict
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
"""What says that a Produce request holds no records: brokers to 2.4 read them with the request, and since v3
there must be one batch of magic 2 (KIP-98). To our layouts they are bytes like others."""

REFUSED: Final = "org.apache.kafka.common.errors.UnsupportedVersionException"
"""What says that a broker lacks a version. Those from 4.0 on offer Produce v0 to v2, for clients that look
for them there, and have none of them (KAFKA-18659)."""


def _judge(observation: Observation) -> Iterator[Verdict]:
    if observation.death is not None or observation.case.delivery == "half_open":
        return
    _, found = exchanged(observation)
    for one in found:
        if not one.known or one.asked.key in EXEMPT:
            return
        problem = wrong_request(one.request, one.asked)
        name = NAMES[one.asked.key]
        if one.reply is None:
            if observation.ending not in ("closed", "reset") or problem is not None:
                return
            if dict(observation.facts).get("unoffered"):
                return
            causes = [chain[-1] for entry in observation.log if (chain := raised(entry))]
            if one.asked.key == PRODUCE and causes and causes[-1].name in (*RECORDS, REFUSED):
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


CLOSING: Final = Oracle(
    "closing",
    "closed the connection where the protocol has an error code, or the reverse",
    frozenset(("broker",)),
    _judge,
)
