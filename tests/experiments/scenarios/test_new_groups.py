"""Scenarios that members of a group of the new protocol meet."""

from __future__ import annotations

from collections import Counter

import pytest

from barnabas.captures.kafka.exchange import Exchange
from barnabas.harness import Harness
from barnabas.peers.apache import ApacheCluster
from tests.experiments.scenarios.expectations import of_api
from tests.experiments.scenarios.groups import (
    CLASSIC,
    CONSUMER,
    PARTITIONS,
    configure_group,
    group_behind,
)
from tests.experiments.scenarios.java_client import ScenarioClient
from tests.experiments.scenarios.kafka import (
    JAVA,
    Received,
    fired,
    made_topic,
    numbers,
    receive,
    send,
    through,
)

pytestmark = pytest.mark.needs_apache("4.3.1")

VALUES = numbers(10)
BEATS = "ConsumerGroupHeartbeat"


def asked(exchange: Exchange, field: str) -> object:
    """What a request says."""
    assert exchange.request is not None
    return exchange.request[field]


def stored(cluster: ApacheCluster, name: str, session_ms: int = 1000) -> str:
    """A topic with VALUES, whose group has such a session."""
    topic = made_topic(cluster.bootstrap, name)
    timeout = {"consumer.session.timeout.ms": str(session_ms)}
    configure_group(cluster.bootstrap, topic, timeout)
    send(cluster.bootstrap, topic, VALUES)
    return topic


def withdrawn(proxy: Harness) -> None:
    """The first heartbeat that is refused is the last one: nobody is offered it then."""
    last = of_api(proxy, BEATS)[-1]
    assert fired(proxy, "heartbeats are not supported") == [last]
    assert last.error == "UNSUPPORTED_VERSION"
    assert {one.api for one in fired(proxy, "heartbeats are not offered")} == {"ApiVersions"}


def gone(proxy: Harness) -> None:
    """Its member says nothing more, and joins no more."""
    (told,) = fired(proxy, "the group is gone")
    assert (told.api, told.error) == (BEATS, "GROUP_ID_NOT_FOUND")
    own = [one for one in of_api(proxy, BEATS) if one.request]
    mine = [one for one in own if asked(one, "member_id") == asked(told, "member_id")]
    assert mine[-1] is told


def test_where_it_is_withdrawn_confluent_kafka_is_told_and_the_classic_one_goes_on(
    cluster: ApacheCluster,
) -> None:
    topic = stored(cluster, "withdrawn")
    with through("consumer-protocol-withdrawn", cluster.bootstrap) as proxy:
        first = receive(proxy.bootstrap, topic, 0, CONSUMER, done=lambda found: bool(found.errors))
        second = receive(proxy.bootstrap, topic, len(VALUES), CLASSIC)
    withdrawn(proxy)
    assert (first.values, first.errors) == (VALUES, ["_FATAL"])
    assert (second.values, second.errors) == (VALUES, [])


def test_where_the_group_is_gone_confluent_kafka_ends_and_a_new_consumer_reads_on(
    cluster: ApacheCluster,
) -> None:
    topic = stored(cluster, "group-gone")
    with through("group-not-found", cluster.bootstrap) as proxy:
        first = receive(proxy.bootstrap, topic, 0, CONSUMER, done=lambda found: bool(found.errors))
        send(cluster.bootstrap, topic, VALUES)
        second = receive(proxy.bootstrap, topic, len(VALUES), CONSUMER)
    gone(proxy)
    assert (first.values, first.errors) == (VALUES, ["_FATAL"])
    assert second.errors == []
    assert second.values[-len(VALUES) :] == VALUES


def test_who_does_not_hear_what_it_was_given_asks_again_and_gets_the_same_answer(
    cluster: ApacheCluster,
) -> None:
    with group_behind("group-heartbeat-reply-lost", cluster) as group:
        group.join(2, CONSUMER)
        group.work()
        group.join(1, CONSUMER)
        group.work()
    beats = group.exchanges(BEATS)
    lost = fired(group.proxy, "it has other partitions and does not hear of it")
    assert len(lost) == 3
    for one in lost:
        again = next(b for b in beats if b.client_id == one.client_id and b.ts > one.ts)
        for field in ("member_epoch", "member_id"):
            assert asked(again, field) == asked(one, field)
    assert {one.error for one in beats} == {""}
    assert group.stayed
    assert group.twice == 0


def fenced(proxy: Harness) -> list[Exchange]:
    """The two heartbeats; each one's member joined again, with the id that it had."""
    told = [one for rule in proxy.rules.rules for one in fired(proxy, rule.name)]
    assert [one.error for one in told] == ["FENCED_MEMBER_EPOCH", "UNKNOWN_MEMBER_ID"]
    for one in told:
        beats = of_api(proxy, BEATS)
        again = next(b for b in beats if b.client_id == one.client_id and b.ts > one.ts)
        assert asked(again, "member_id") == asked(one, "member_id")
        assert (asked(again, "member_epoch"), again.error) == (0, "")
    return told


def test_who_is_fenced_or_unknown_loses_its_partitions_and_joins_again(
    cluster: ApacheCluster,
) -> None:
    with group_behind("group-member-fenced", cluster) as group:
        group.join(2, CONSUMER)
        group.work_until("a member is unknown")
        group.until_shared()
        group.work()
    told = Counter(one.client_id for one in fenced(group.proxy))
    beats = [one for one in group.exchanges(BEATS) if not one.error and one.request]
    begun = Counter(one.client_id for one in beats if asked(one, "member_epoch") == 0)
    assert begun == told + Counter(member.name for member in group.members)
    lost = Counter({member.name: member.told.count("lost") for member in group.members})
    assert lost.total() >= 1  # one that has no partitions yet loses none
    assert lost <= told
    assert group.stayed


def stale(proxy: Harness, *apis: str) -> None:
    """Twice each, and nobody joined again for it."""
    hit = [one for rule in proxy.rules.rules for one in fired(proxy, rule.name)]
    told = [(one.api, one.error) for one in hit if one.api != BEATS]
    assert told == [(api, "STALE_MEMBER_EPOCH") for api in apis for _ in range(2)]
    taken = [one for one in of_api(proxy, BEATS) if not one.error and one.request]
    joined = [asked(one, "member_id") for one in taken if asked(one, "member_epoch") == 0]
    assert len(joined) == len({*joined})


def test_a_java_member_with_an_old_epoch_is_told_and_stays(
    cluster: ApacheCluster, java: ScenarioClient
) -> None:
    topic = made_topic(cluster.bootstrap, "stale-member-epoch-java", PARTITIONS)
    send(cluster.bootstrap, topic, numbers(60), partitions=PARTITIONS)
    own = {"enable.auto.commit": "false", "max.poll.records": "4", "group.protocol": "consumer"}
    with through("stale-member-epoch", cluster.bootstrap) as proxy:
        settings = {**JAVA, **own, "bootstrap.servers": proxy.bootstrap}
        (member,) = java.read_together(topic, 60, settings)
    stale(proxy, "OffsetFetch", "OffsetCommit")
    told = [one for one in member.told if "assigned" not in one and "revoked" not in one]
    assert told == ["CommitFailedException"] * 2
    assert len(member.received) == 60


STATIC = {"group.instance.id": "static"}


def test_a_static_member_comes_back_when_its_old_session_is_over(cluster: ApacheCluster) -> None:
    topic = stored(cluster, "static-member", session_ms=3000)
    with through("static-member-unreleased", cluster.bootstrap) as proxy:

        def member() -> Received:
            own = {**CONSUMER, **STATIC}
            count = len(VALUES)
            return receive(
                *(proxy.bootstrap, topic, count, own),
                done=lambda found: bool(found.errors) or len(found.values) == count,
            )

        first = member()
        send(cluster.bootstrap, topic, numbers(10, 10))
        tries = [member()]
        while tries[-1].errors:
            tries.append(member())
    (lost,) = fired(proxy, "nobody hears that it leaves")
    assert (asked(lost, "member_epoch"), lost.response) == (-2, None)
    refused = [one for one in proxy.exchanges if one.error == "UNRELEASED_INSTANCE_ID"]
    assert len(refused) == len(tries) - 1 >= 1
    assert first.values == VALUES
    assert [one.values for one in tries] == [*[[]] * len(refused), numbers(10, 10)]
    assert {error for one in tries for error in one.errors} == {"_FATAL"}
