"""Kafka's own clients, of the broker's version."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from barnabas.peers.apache.client import JavaClient, Received
from tests.compat.clients.common import (
    GROWN,
    MADE,
    PARTITIONS,
    PATIENCE,
    RECORDS,
    SELDOM,
    SLOW,
    Asked,
    Record,
    administer,
    by_partition,
    main,
    sent,
    settled,
)

EMBEDDED: Final = "2.0.1"
"""The version that is put to the embedded cluster: newer ones hang at its answer to their ApiVersions."""

_RETRIES: Final = {
    # the default since 2.1; a new topic's leader may not know yet that it is
    "retries": "20",
    "retry.backoff.ms": "100",
    "max.in.flight.requests.per.connection": "1",
}


def _client(asked: Asked) -> JavaClient:
    version = ".".join(map(str, asked.version)) or EMBEDDED
    return JavaClient(version, {"bootstrap.servers": asked.bootstrap, "client.id": "compat"})


def _send(java: JavaClient, topic: str, label: str, **more: Any) -> list[tuple[int, int]]:
    partitions, _, values = zip(*sent(label), strict=True)
    own = {"acks": "all", **_RETRIES, **more.pop("settings", {})}
    return java.produce(topic, values, partitions=partitions, settings=own, **more)


def produce(asked: Asked) -> dict[str, Any]:
    """Offsets by partition, of each compression."""
    with _client(asked) as java:
        found = {
            name: by_partition(
                _send(java, f"{asked.name}-{name}", "p", settings={"compression.type": name})
            )
            for name in asked.compressions(*["zstd"] * asked.embedded)
        }
        asked.addresses.update(java.addresses)
    return found


def _settings(asked: Asked, more: Mapping[str, str] | None = None) -> dict[str, str]:
    return {
        "session.timeout.ms": "6000",
        "heartbeat.interval.ms": "300",
        "fetch.max.wait.ms": "100",
        **(more or {}),
    }


def _read(
    java: JavaClient, asked: Asked, group: str, count: int, more: Mapping[str, str] | None = None
) -> list[Record]:
    found = java.consume(
        asked.name, count, group=group, settings=_settings(asked, more), seconds=PATIENCE
    )
    if len(found) < count:
        raise TimeoutError(f"{len(found)} of {count} records in {PATIENCE:g} s")
    return sorted(_record(one) for one in found)


def _record(one: Received) -> Record:
    return one.partition, one.offset, None, (one.value or b"").decode()


def _commit_seldom(java: JavaClient, asked: Asked) -> list[str]:
    """What a member of KIP-848 hears of each commit: the name of an error, or nothing."""
    own = {"group.id": f"{asked.name}-seldom", "group.protocol": "consumer"}
    steps: list[list[Any]] = [["settle", PARTITIONS], ["read", 1]]
    for _ in range(SELDOM):
        steps += [["keep", SLOW], ["commit", "sync", "seldom"]]
    ((seen,),) = java.follow(asked.name, 2 * RECORDS, [[{"settings": own, "steps": steps}]])
    return [str(rest[-1]) for _, what, *rest in seen if what in ("committed", "died")]


def consume_in_group(asked: Asked) -> dict[str, Any]:
    """What a group reads, and what the next member reads after the commit."""
    found: dict[str, Any] = {}
    with _client(asked) as java:
        for label in ("first", "second"):
            _send(java, asked.name, label)
            found[label] = _read(java, asked, asked.name, RECORDS)
        if asked.consumer_protocol:
            found["seldom"] = _commit_seldom(java, asked)
        asked.addresses.update(java.addresses)
    return found


def rebalance(asked: Asked) -> dict[str, Any]:
    """Who owns what."""
    with _client(asked) as java:
        _send(java, asked.name, "r")
        asked.addresses.update(java.addresses)
        return java.share(
            asked.name, PARTITIONS, group=asked.name, settings=_settings(asked), seconds=PATIENCE
        )


def transact(asked: Asked) -> dict[str, Any]:
    """What is seen of a transaction that was aborted, and of one that was committed with offsets."""
    own = {"transactional.id": asked.name}
    committed = {"isolation.level": "read_committed"}
    offsets = dict.fromkeys(range(PARTITIONS), RECORDS // PARTITIONS)
    with _client(asked) as java:
        _send(java, asked.name, "plain")
        _send(java, asked.name, "aborted", settings=own, outcome="abort")
        _send(
            java,
            asked.name,
            "committed",
            settings=own,
            outcome="commit",
            group=asked.name,
            offsets=offsets,
        )
        asked.addresses.update(java.addresses)
        return {
            "committed": _read(java, asked, f"{asked.name}-c", 2 * RECORDS, committed),
            "uncommitted": _read(java, asked, f"{asked.name}-u", 3 * RECORDS),
            # last, as the group's coordinator learns a moment later that the transaction was committed
            "behind the offsets": _read(java, asked, asked.name, RECORDS, committed),
        }


def admin(asked: Asked) -> dict[str, Any]:
    """What admin calls give."""
    topic = f"{asked.name}-made"
    with _client(asked) as java:
        _send(java, asked.name, "a")

        def call(name: str, **about: Any) -> Callable[[], Any]:
            return lambda: java.administer(name, **about) or None

        def partitions() -> list[Any]:
            found: list[Any] = java.administer("describe", topic=topic)["partitions"]
            return found

        def configs() -> Any:
            return java.administer("configs", topic=topic)["configs"]["cleanup.policy"]

        def commit() -> None:
            _read(java, asked, asked.name, RECORDS)

        def groups() -> bool:
            return asked.name in java.administer("groups")["groups"]

        calls: dict[str, Callable[[], Any]] = {
            "create": call("create", topic=topic, partitions=MADE),
            "described": lambda: settled(partitions, MADE),
            "more": call("grow", topic=topic, partitions=GROWN),
            "grown": lambda: settled(partitions, GROWN),
            "cluster": call("cluster"),
            "configs": configs,
            "delete": call("delete", topic=topic),
            "commit": commit,
        }
        if asked.version >= (2, 0):  # KIP-222
            calls |= {
                "groups": groups,
                "group": call("group", group=asked.name),
                "offsets": call("offsets", group=asked.name),
            }
        found = administer(asked, calls)
        asked.addresses.update(java.addresses)
    return found


if __name__ == "__main__":
    main(produce, consume_in_group, rebalance, transact, admin)
