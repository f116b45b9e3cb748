"""Scenarios that members of a group of the new protocol meet."""

from __future__ import annotations

from collections import Counter

import pytest

from barnabas.captures.kafka.exchange import Exchange
from barnabas.harness import Harness
from barnabas.peers.apache import ApacheCluster
from barnabas.peers.apache.client import JavaClient, JavaError, Member
from tests.experiments.scenarios.expectations import of_api
from tests.experiments.scenarios.groups import (
    CLASSIC,
    CONSUMER,
    PARTITIONS,
    configure_group,
    group_behind,
)
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


def read_in_group(
    java: JavaClient, cluster: ApacheCluster, proxy: Harness, count: int, pause: float = 0.0
) -> Member:
    """What a Java member saw which reads so many records, some at a time."""
    topic = made_topic(cluster.bootstrap, f"new-group-{count}-java", PARTITIONS)
    send(cluster.bootstrap, topic, numbers(count), partitions=PARTITIONS)
    own = {"enable.auto.commit": "false", "max.poll.records": "4", "group.protocol": "consumer"}
    settings = {**JAVA, **own, "bootstrap.servers": proxy.bootstrap}
    (member,) = java.read_together(topic, count, group=topic, pause=pause, settings=settings)
    assert len({*member.received}) == count
    return member


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


def test_where_it_is_withdrawn_java_is_told_by_heartbeats_and_by_what_is_offered(
    cluster: ApacheCluster, java: JavaClient
) -> None:
    topic = stored(cluster, "withdrawn-java")
    with through("consumer-protocol-withdrawn", cluster.bootstrap) as proxy:
        settings = {**JAVA, "bootstrap.servers": proxy.bootstrap}
        consumer = {**settings, "group.protocol": "consumer"}
        for _ in ("refused", "not offered"):
            with pytest.raises(JavaError, match="UnsupportedVersionException"):
                java.consume(topic, 2 * len(VALUES), group=topic, settings=consumer)
        received = java.consume(topic, len(VALUES), group=topic, settings=settings)
    withdrawn(proxy)
    assert [one.value for one in received] == VALUES


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


def test_where_the_group_is_gone_java_ends_and_a_new_consumer_reads_on(
    cluster: ApacheCluster, java: JavaClient
) -> None:
    topic = stored(cluster, "group-gone-java")
    with through("group-not-found", cluster.bootstrap) as proxy:
        settings = {**JAVA, "bootstrap.servers": proxy.bootstrap, "group.protocol": "consumer"}
        with pytest.raises(JavaError, match="GroupIdNotFoundException"):
            java.consume(topic, 2 * len(VALUES), group=topic, settings=settings)
        received = java.consume(topic, len(VALUES), group=topic, settings=settings)
    gone(proxy)
    assert [one.value for one in received] == VALUES


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


def test_a_java_member_loses_its_partitions_and_joins_again(
    cluster: ApacheCluster, java: JavaClient
) -> None:
    with through("group-member-fenced", cluster.bootstrap) as proxy:
        member = read_in_group(java, cluster, proxy, 100, pause=0.2)
    fenced(proxy)
    assert len([one for one in member.told if one.startswith("lost ")]) == 2


def stale(proxy: Harness, *apis: str) -> None:
    """Twice each, and nobody joined again for it."""
    told = [(one.api, one.error) for rule in proxy.rules.rules for one in fired(proxy, rule.name)]
    assert told == [(api, "STALE_MEMBER_EPOCH") for api in apis for _ in range(2)]
    taken = [one for one in of_api(proxy, BEATS) if not one.error and one.request]
    joined = [asked(one, "member_id") for one in taken if asked(one, "member_epoch") == 0]
    assert len(joined) == len({*joined})


def test_who_commits_with_an_old_epoch_is_told_and_stays(cluster: ApacheCluster) -> None:
    with group_behind("stale-member-epoch", cluster) as group:
        group.join(1, CONSUMER)
        group.until_shared()
        group.work()
    stale(group.proxy, "OffsetCommit")
    assert group.told == ["assigned", *["STALE_MEMBER_EPOCH"] * 2, "revoked"]
    assert group.twice == 0


def test_a_java_member_with_an_old_epoch_is_told_and_stays(
    cluster: ApacheCluster, java: JavaClient
) -> None:
    with through("stale-member-epoch", cluster.bootstrap) as proxy:
        member = read_in_group(java, cluster, proxy, 60)
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


def test_a_static_java_member_is_told_that_it_is_not_released(
    cluster: ApacheCluster, java: JavaClient
) -> None:
    topic = stored(cluster, "static-member-java", session_ms=45_000)
    with through("static-member-unreleased", cluster.bootstrap) as proxy:
        own = {**JAVA, **STATIC, "group.protocol": "consumer"}
        settings = {**own, "bootstrap.servers": proxy.bootstrap}
        assert len(java.consume(topic, 10, group=topic, settings=settings)) == 10
        with pytest.raises(JavaError, match="UnreleasedInstanceIdException"):
            java.consume(topic, 10, group=topic, settings=settings)
    assert len(fired(proxy, "nobody hears that it leaves")) == 1
