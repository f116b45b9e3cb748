"""The errors with which an exploration answers exchanges.

The proxy answers, and the broker never gets the request. So the table has errors of brokers that did not
carry out the request, and after which the broker's state and the client's still agree. After an error about a
lost membership the client joins with the same member id; after UNKNOWN_MEMBER_ID it would take a new one, and
the broker would wait for the old one until its session ends.

A Fetch has no error that moves a reader: after OFFSET_OUT_OF_RANGE a consumer may rightly skip records.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any, Final

from barnabas.experiments import library
from barnabas.experiments.explore.cuts import Cut
from barnabas.proxy.faults.respond import Respond
from barnabas.proxy.scenario.file import load
from barnabas.specs import NAMES
from barnabas.specs.dialects.keys import error_in


def _refusal(error: str, *apis: str, after: str = "", **settings: Any) -> Cut:
    """Return the fault that answers exchanges of some APIs with an error."""
    do = {"respond": {"error": error, **settings}}
    return Cut(error, "request", do, apis=frozenset(apis), after=after)


ERRORS: Final[tuple[Cut, ...]] = (
    _refusal("NOT_LEADER_OR_FOLLOWER", "Produce", "ListOffsets", "OffsetForLeaderEpoch"),
    _refusal("MESSAGE_TOO_LARGE", "Produce"),
    # of the partitions, not of the response, whose errors are those of sessions
    _refusal("NOT_LEADER_OR_FOLLOWER", "Fetch", only={"partition": "0+"}),
    Cut(
        "LEADER_NOT_AVAILABLE",
        "response",
        {"edit": {"set": {"topics[*].error_code": 5, "topics[*].partitions": []}}},
        apis=frozenset(("Metadata",)),
    ),
    _refusal("COORDINATOR_NOT_AVAILABLE", "FindCoordinator"),
    _refusal(
        "COORDINATOR_LOAD_IN_PROGRESS",
        *("JoinGroup", "ConsumerGroupHeartbeat", "ShareGroupHeartbeat", "StreamsGroupHeartbeat"),
        *("OffsetFetch", "OffsetCommit", "TxnOffsetCommit", "InitProducerId", "EndTxn"),
    ),
    _refusal("REBALANCE_IN_PROGRESS", "SyncGroup", "Heartbeat", "OffsetCommit", after="JoinGroup"),
    _refusal("ILLEGAL_GENERATION", "Heartbeat", "OffsetCommit", after="JoinGroup"),
    _refusal("FENCED_MEMBER_EPOCH", "ConsumerGroupHeartbeat", after="ConsumerGroupHeartbeat"),
    _refusal("STALE_MEMBER_EPOCH", "OffsetCommit", after="ConsumerGroupHeartbeat"),
    _refusal("CONCURRENT_TRANSACTIONS", "AddPartitionsToTxn", "AddOffsetsToTxn"),
)
"""The errors by API; of a client that is no member of a group, brokers do not report a lost membership."""


def known_errors() -> Mapping[str, frozenset[str]]:
    """Return API -> the errors that the library's scenarios and `ERRORS` give to it."""
    errors: defaultdict[str, set[str]] = defaultdict(set)
    for cut in ERRORS:
        for api in cut.apis:
            errors[api].add(cut.name)
    for name in library.names():
        for rule in load(library.FOLDER / f"{name}.yaml").rules:
            for fault in rule.do:
                if isinstance(fault.config, Respond) and fault.config.error:
                    for key in rule.match.api or ():
                        errors[NAMES[key]].add(error_in(key, fault.config.error))
    return {api: frozenset(names) for api, names in errors.items()}
