"""The oracle `closing`: a connection closed where the protocol has an error code, or the reverse.

A request that a layout reads, of a version that the broker offers, is answered. Bytes that no layout reads
are refused by closing the connection, since the client might not understand a response (KafkaProtocol guide,
Network).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from barnabas.fuzz.cases.observation import Observation
from barnabas.fuzz.observations.exchanges import Exchange, pair_responses, wrong_request
from barnabas.fuzz.observations.java_stacks import JavaException, exceptions_in
from barnabas.fuzz.oracles.allowed import REFUSING
from barnabas.fuzz.oracles.oracle import Verdict
from barnabas.specs import Malformed, decode_frame, records
from barnabas.specs.codec.careful_decoder import FOREIGN_TAG
from barnabas.specs.keys import API_VERSIONS, ENVELOPE, PRODUCE, SASL_AUTHENTICATE, SASL_HANDSHAKE
from barnabas.specs.registry import NAMES

EXEMPT: Final = {
    SASL_HANDSHAKE: "a listener without SASL refuses it as it likes",
    SASL_AUTHENTICATE: "the same",
    ENVELOPE: "the broker closes connections of clients that are not brokers (KIP-590)",
    API_VERSIONS: "whatever cannot be read of it is answered with error 35 or 42 (KIP-511)",
}
"""API key -> why the oracle does not judge it."""


RECORDS: Final = frozenset(
    (
        "org.apache.kafka.common.InvalidRecordException",
        "org.apache.kafka.common.record.InvalidRecordException",
        "org.apache.kafka.common.errors.CorruptRecordException",
    )
)
"""Classes of the cause that reject records of an unreadable request, in old brokers (0.11). Newer ones (2.8),
and any broker that has read the request, answer with an error code."""

NOT_THERE: Final = "org.apache.kafka.common.errors.UnsupportedVersionException"
"""The class of the cause if a broker lacks a version that it offers: since 4.0 Produce v0 to v2, for clients
that look for them there (KAFKA-18659)."""


def _exempt(exchange: Exchange, chain: tuple[JavaException, ...], *, alone: bool) -> bool:
    """Return whether a Produce request was refused for one of these reasons.

    alone: The case is one request. Else the log entry may have been attributed to a neighbour.
    """
    if exchange.head.key != PRODUCE or (alone and not chain):
        return False
    if not chain or chain[-1].name == NOT_THERE:
        return exchange.head.version <= 2
    refused = any(raised.name in REFUSING for raised in chain[:-1])
    return refused and chain[-1].name in RECORDS and not _sound(exchange)


def _sound(exchange: Exchange) -> bool:
    """Return whether all record sets can be read.

    Since Produce v3 each must be one batch of magic 2 (KIP-98).
    """
    try:
        parts = [
            part["records"] or b""
            for topic in decode_frame(exchange.request, "request").body["topic_data"]
            for part in topic["partition_data"]
        ]
        magics = [[batch.magic for batch in records.read(data)] for data in parts]
    except Malformed:
        return False
    return exchange.head.version < 3 or all(set_magics == [2] for set_magics in magics)


def judge(observation: Observation) -> Iterator[Verdict]:
    """Report a connection that is closed on a readable request, and a response to an unreadable one."""
    # a crash closes all connections; after a half-close the other side ends the connection
    if observation.death is not None or observation.case.delivery == "half_open":
        return
    _, exchanges = pair_responses(observation)
    for exchange in exchanges:
        if (
            not exchange.has_layout or exchange.head.key in EXEMPT
        ):  # without a layout its validity is unknown
            return
        problem = wrong_request(exchange.request, exchange.head)
        name = NAMES[exchange.head.key]
        if exchange.reply is None:
            if observation.ending not in ("closed", "reset") or problem is not None:
                return
            if dict(observation.facts).get(
                "unoffered"
            ):  # the client would not understand a response
                return
            chains = [chain for entry in observation.log if (chain := exceptions_in(entry))]
            causes = chains[-1] if chains else ()
            if _exempt(exchange, causes, alone=len(exchanges) == 1):
                return
            yield Verdict(
                "closing",
                f"{name} v{exchange.head.version} is readable, but the connection was closed",
                (name, "closed", *(causes[-1].signature if causes else ())),
            )
            return
        # a release that does not know a tag skips it
        if problem is not None and not problem.reason.endswith(FOREIGN_TAG):
            field_path = re.sub(r"\[\d+\]", "", problem.path)
            reason = re.sub(r"-?\d+", "#", problem.reason)
            yield Verdict(
                "closing",
                f"{name} v{exchange.head.version} was answered, though {problem}",
                (name, "answered", field_path, reason),
            )
