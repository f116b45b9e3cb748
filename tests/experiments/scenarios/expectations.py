"""What is to be seen of a scenario in the exchanges that passed a proxy, whoever the client is."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from barnabas.captures.kafka.exchange import Exchange
from barnabas.harness import Harness
from tests.experiments.scenarios.kafka import fired, silence
from tests.experiments.scenarios.leaders import asked

Check = Callable[[Harness], object]

NOT_LEADER = "NOT_LEADER_OR_FOLLOWER"
OUT_OF_ORDER = "OUT_OF_ORDER_SEQUENCE_NUMBER"


def of_api(proxy: Harness, *apis: str) -> list[Exchange]:
    """The exchanges of some APIs that are over, in the order of the requests."""
    results = [one for one in list(proxy.exchanges) if one.api in apis]
    return sorted(results, key=lambda one: one.ts)


def errors(proxy: Harness, *apis: str) -> set[str | None]:
    """What requests of some APIs were answered with."""
    return {one.error for one in of_api(proxy, *apis)}


def answers(proxy: Harness, rule: str) -> set[tuple[str | None, str | None]]:
    """API and error of the exchanges on which a rule fired."""
    return {(one.api, one.error) for one in fired(proxy, rule)}


def rules(expected: Mapping[str, str]) -> Check:
    """Each rule fired, always in that API and with that error: "Fetch ERROR", or "Fetch "."""

    def check(proxy: Harness) -> None:
        for rule, answer in expected.items():
            api, _, error = answer.partition(" ")
            assert answers(proxy, rule) == {(api, error)}, rule

    return check


def asks_versions_again(version: int) -> Check:
    """In that version, on each connection on which another one was refused; some were closed."""

    def check(proxy: Harness) -> None:
        refused = fired(proxy, "only older versions are known")
        assert {(one.api, one.error) for one in refused} == {("ApiVersions", "UNSUPPORTED_VERSION")}
        connections = {one.connection for one in refused}
        for connection in connections:
            again = [
                (one.version, one.error)
                for one in of_api(proxy, "ApiVersions")
                if one.connection == connection and not one.rules
            ]
            assert again == [(version, "")]
        closed = fired(proxy, "the connection is closed")
        assert {(one.api, one.latency_ms) for one in closed} == {("ApiVersions", None)}
        assert connections.isdisjoint(one.connection for one in closed)
        assert proxy.proxy.totals.undecoded == 0

    return check


def refused_by_broker_1(proxy: Harness) -> None:
    """It believes that it leads, says so, and refuses what it is sent for it."""
    believed = fired(proxy, "broker 1 believes that it leads")
    assert {(one.api, one.broker) for one in believed} == {("Metadata", 1)}
    refused = {(one.broker, one.error) for one in of_api(proxy, "Produce") if one.error}
    assert (1, NOT_LEADER) in refused
    # batches may arrive at the leader before an earlier one has come again
    assert {error for _, error in refused} <= {NOT_LEADER, "OUT_OF_ORDER_SEQUENCE_NUMBER"}


def fetches_again(proxy: Harness) -> None:
    """Fetches were refused for their epochs; metadata was asked for again, an offset was not."""
    fenced = "the consumer's epoch is over"
    unknown = "the broker does not know the consumer's epoch yet"
    rules({fenced: "Fetch FENCED_LEADER_EPOCH", unknown: "Fetch UNKNOWN_LEADER_EPOCH"})(proxy)
    first = min(one.ts for one in fired(proxy, fenced))
    assert [one for one in of_api(proxy, "Metadata") if one.ts > first]
    assert len(of_api(proxy, "ListOffsets")) == 1


def connects_again(proxy: Harness) -> None:
    """The link was down for 0.7 s; somebody waited for it, some connections were closed."""
    assert fired(proxy, "the link is down")
    assert max(one.latency_ms or 0 for one in proxy.exchanges) > 0.9 * 700
    assert fired(proxy, "connections that did not survive")


def finds_leaders_again(proxy: Harness) -> None:
    """Nobody knew a leader, or the wrong one; a group of one, which joins with two requests, is stable."""
    for rule, error in (
        ("nobody knows a leader", "LEADER_NOT_AVAILABLE"),
        ("produced to a broker that does not lead", NOT_LEADER),
        ("fetched from a broker that does not lead", NOT_LEADER),
    ):
        assert {one.error for one in fired(proxy, rule)} == {error}
    assert {row.api: row.count for row in proxy.tally.rows()}["JoinGroup"] == 2


def begins_fetch_session_again(proxy: Harness) -> None:
    """It is gone, and the leader is another one."""
    gone = fired(proxy, "the fetch session is gone")
    assert {one.error for one in gone} == {"FETCH_SESSION_ID_NOT_FOUND"}
    wrong = fired(proxy, "fetched from a broker that does not lead")
    assert {one.error for one in wrong} == {NOT_LEADER}


def loses_answers_to_produce(proxy: Harness) -> None:
    """Of nothing else."""
    assert {one.api for one in fired(proxy, "produced, but nobody says so")} == {"Produce"}


def loses_lines_of_fetch(proxy: Harness) -> None:
    """Of nothing else."""
    assert {one.api for one in fired(proxy, "the line breaks")} == {"Fetch"}


def reads_from_both(proxy: Harness) -> None:
    """The leader prefers a follower, which can't serve: the leader is asked again."""
    for rule, broker, error in (
        ("the leader prefers broker 2", 1, ""),
        ("the leader prefers a broker that is gone", 1, ""),
        ("the follower has not got that far", 2, "OFFSET_NOT_AVAILABLE"),
        ("the follower is no replica any more", 2, "REPLICA_NOT_AVAILABLE"),
    ):
        results = {(one.api, one.broker, one.error) for one in fired(proxy, rule)}
        assert results == {("Fetch", broker, error)}
    assert asked(proxy, "Fetch") == {1, 2}


def timed_out(proxy: Harness) -> None:
    """Some batches were not stored in time."""
    refused = fired(proxy, "not in time, and not stored")
    assert {one.error for one in refused} == {"REQUEST_TIMED_OUT"}
    assert min(one.latency_ms or 0 for one in fired(proxy, "answers come slowly")) >= 150


def times_out_for_one_partition(proxy: Harness) -> None:
    """Check that one partition was refused twelve times, and none of the others."""
    refused = fired(proxy, "partition 0 times out")
    assert len(refused) == 12
    for one in refused:
        assert one.response is not None
        codes = {
            (entry["index"], entry["error_code"])
            for topic in one.response["responses"]
            for entry in topic["partition_responses"]
        }
        assert (0, 7) in codes
        assert (1, 7) not in codes


def timed_out_and_out_of_order(proxy: Harness) -> None:
    """And a broker saw what was behind a batch that it does not have."""
    timed_out(proxy)
    assert OUT_OF_ORDER in errors(proxy, "Produce")


def overtaken(proxy: Harness) -> None:
    """Batches were overtaken, refused and sent again."""
    assert len(fired(proxy, "a produce request is overtaken by the next one")) > 1
    assert errors(proxy, "Produce") == {"", OUT_OF_ORDER}


def asks_for_its_id_again(proxy: Harness) -> None:
    """Nothing is produced before the id is there."""
    late = fired(proxy, "there is no producer id yet")
    assert [one.error for one in late] == ["REQUEST_TIMED_OUT"] * 2
    reported = of_api(proxy, "InitProducerId")
    assert [one.error for one in reported if one not in late] == [""]
    assert all(one.ts > reported[-1].ts for one in of_api(proxy, "Produce"))


def begins_with_bootstrap_servers_again(proxy: Harness) -> None:
    """They, whose ids nobody knows, were asked behind the first refusal."""
    rules({"begin again with the bootstrap servers": "Metadata REBOOTSTRAP_REQUIRED"})(proxy)
    first = min(one.ts for one in fired(proxy, "begin again with the bootstrap servers"))
    assert [one for one in of_api(proxy, "Metadata") if one.broker is None and one.ts > first]


def logs_in_again(proxy: Harness) -> None:
    """Connections were closed on a request; nobody authenticated twice on one."""
    reported = [one for one in proxy.exchanges if one.api == "SaslAuthenticate"]
    assert reported == fired(proxy, "the client does not hear that its session ends")
    for one in reported:
        assert one.response is not None
        assert one.response["session_lifetime_ms"] == 0
    assert len({one.connection for one in reported}) == len(reported)
    closed = [one.api for one in proxy.exchanges if one.latency_ms is None]
    assert {"Produce", "Metadata", "Fetch"} & {*closed}


def acknowledged_late(proxy: Harness) -> None:
    """What was stored was not acknowledged in time."""
    slow = fired(proxy, "acknowledgements come slowly")
    assert min(one.latency_ms or 0 for one in slow) >= 500
    late = fired(proxy, "stored, but not in time")
    assert {one.error for one in late} == {"REQUEST_TIMED_OUT"}


def only_broker_1_is_late(proxy: Harness) -> None:
    """The others are not, and nothing was sent again: for rows of 30 records that are written and read."""
    late = fired(proxy, "broker 1 answers late")
    assert {one.broker for one in late} == {1}
    assert {"ApiVersions", "Produce", "Fetch"} <= {one.api for one in late}
    produced = of_api(proxy, "Produce")
    assert len(produced) == 30
    for one in produced:
        added = (one.latency_ms or 0) - (one.broker_ms or 0)
        assert added > (150 if one.broker == 1 else -1)
    assert not any(one.rules for one in produced if one.broker != 1)


def keeps_to_the_newest_leader(proxy: Harness) -> None:
    """Who refuses names broker 1, in an epoch that is over: it is sent nothing."""
    for api in ("Produce", "Fetch"):
        result = fired(proxy, f"a refused {api.lower()} names a former leader")
        assert {(one.api, one.error) for one in result} == {(api, NOT_LEADER)}
        for one in result:
            assert "'current_leader': {'leader_id': 1, 'leader_epoch': 0" in str(one.response)
    assert asked(proxy, "Produce", "Fetch") == {3}


def keeps_the_newest_epoch(proxy: Harness) -> None:
    """Metadata names broker 1 in its first epoch: it is sent nothing."""
    result = fired(proxy, "an older epoch")
    assert {one.api for one in result} == {"Metadata"}
    for one in result:
        assert one.response is not None
        (partition,) = one.response["topics"][0]["partitions"]
        assert (partition["leader_id"], partition["leader_epoch"]) == (1, 0)
    assert asked(proxy, "Produce", "Fetch") == {3}
    # None: the last Fetch, of a consumer that closes
    assert errors(proxy, "Produce", "Fetch") <= {"", None}


def asks_for_metadata_again(proxy: Harness) -> None:
    """Behind the first refusal of a log directory; batches behind a first one are refused as out of order."""
    offline = fired(proxy, "the log directory is offline")
    refusals = {one.error for one in offline}
    assert "KAFKA_STORAGE_ERROR" in refusals
    assert refusals <= {"KAFKA_STORAGE_ERROR", "OUT_OF_ORDER_SEQUENCE_NUMBER"}
    first = min(one.ts for one in offline)
    assert any(one.ts > first for one in of_api(proxy, "Metadata"))


def waits_for_its_quota(proxy: Harness) -> None:
    """From who was throttled nothing was read until the time was over."""
    for rule, api in (
        ("a producer is over its quota", "Produce"),
        ("a consumer is over its quota", "Fetch"),
    ):
        result = fired(proxy, rule)
        assert {one.api for one in result} == {api}
        for one in result:
            assert one.response is not None
            assert one.response["throttle_time_ms"] == 300
            assert silence(proxy, one) > 290


def waits_for_the_topic(proxy: Harness) -> None:
    """They were told three times of each, and did nothing to the topic before that was over."""
    last = 0
    for rule, error in (
        ("nobody knows the topic", "UNKNOWN_TOPIC_OR_PARTITION"),
        ("its partitions have no leaders", "LEADER_NOT_AVAILABLE"),
    ):
        result = fired(proxy, rule)
        assert [(one.api, one.error) for one in result] == [("Metadata", error)] * 3
        last = max(last, *(one.ts for one in result))
    assert min(one.ts for one in of_api(proxy, "Produce", "Fetch")) > last


def refused_its_topic_id(proxy: Harness, api: str) -> None:
    """Once by the proxy, and then by the broker itself, for the id of which they had been told."""
    gone_rule, told_rule = {
        "Fetch": ("fetched by an id that is gone", "a reader is told an id that is no topic's"),
        "Produce": ("produced to an id that is gone", "a writer is told an id that is no topic's"),
    }[api]
    (gone,) = fired(proxy, gone_rule)
    assert (gone.api, gone.error) == (api, "UNKNOWN_TOPIC_ID")
    assert [one.api for one in fired(proxy, told_rule)] == ["Metadata"] * 2
    assert "UNKNOWN_TOPIC_ID" in [one.error for one in of_api(proxy, api) if one.ts > gone.ts]


def keeps_to_what_is_offered(*apis: str) -> Check:
    """On connections to which an older broker offered it, and on those only."""
    old = {"Produce": 9, "Fetch": 12}

    def check(proxy: Harness) -> None:
        assert {one.broker for one in fired(proxy, "broker 1 is restarted")} == {1}
        older = {one.connection for one in fired(proxy, "broker 1 offers what 2.8 did")}
        newer = {one.connection for one in proxy.exchanges if one.broker == 1} - older
        for api in apis:
            asked_in = {(one.connection, one.version) for one in of_api(proxy, api)}
            assert {version for each, version in asked_in if each in older} == {old[api]}
            assert min(version for each, version in asked_in if each in newer) > old[api]
        assert proxy.proxy.totals.undecoded == 0

    return check


def asks_for_offsets_again(proxy: Harness) -> None:
    """Each refusal once; then it is told, and only then it fetches."""
    for rule, error in (
        ("the coordinator is loading the offsets", "COORDINATOR_LOAD_IN_PROGRESS"),
        ("the coordinator is not available", "COORDINATOR_NOT_AVAILABLE"),
        ("another broker is the coordinator", "NOT_COORDINATOR"),
    ):
        assert [one.error for one in fired(proxy, rule)] == [error]
    reported = min(one.end for one in of_api(proxy, "OffsetFetch") if not one.rules)
    assert all(one.ts > reported for one in of_api(proxy, "Fetch"))


def refuses_corrupt_batches(proxy: Harness) -> None:
    """Check that the broker, not the proxy, refused each changed batch, and no other one."""
    changed = fired(proxy, "a batch is corrupted on its way")
    assert changed == [one for one in of_api(proxy, "Produce") if one.error == "CORRUPT_MESSAGE"]
    assert len(changed) > 1


SESSION_ERRORS = {
    "the broker has evicted the session": "FETCH_SESSION_ID_NOT_FOUND",
    "the broker expects another epoch of the session": "INVALID_FETCH_SESSION_EPOCH",
    "the session was opened without topic ids": "FETCH_SESSION_TOPIC_ID_ERROR",
}
INCONSISTENT = {"the session has another topic id than the log": "Fetch INCONSISTENT_TOPIC_ID"}


def opens_another_fetch_session(proxy: Harness) -> None:
    """Check that after each refusal the next Fetch on that connection opened a session."""
    rules(INCONSISTENT)(proxy)
    fetched = of_api(proxy, "Fetch")
    for rule, error in SESSION_ERRORS.items():
        refused = fired(proxy, rule)
        assert {(one.api, one.error) for one in refused} == {("Fetch", error)}
        for one in refused:
            assert one.request is not None
            assert one.request["session_epoch"] > 0
            again = next(
                each for each in fetched if each.connection == one.connection and each.ts > one.ts
            )
            assert again.request is not None
            assert again.request["session_epoch"] == 0
            assert again.request["topics"]


def has_no_fetch_session(proxy: Harness) -> None:
    """Check that the client opened no fetch session, and continued after INCONSISTENT_TOPIC_ID."""
    rules(INCONSISTENT)(proxy)
    requests = [one.request for one in of_api(proxy, "Fetch")]
    assert {one["session_epoch"] for one in requests if one is not None} == {-1}
    assert not any(fired(proxy, rule) for rule in SESSION_ERRORS)


def lacks_replicas(proxy: Harness) -> None:
    """Check that batches were refused before they were stored, and others after it."""
    rules(
        {
            "too few replicas are in sync": "Produce NOT_ENOUGH_REPLICAS",
            "stored, but on too few replicas": "Produce NOT_ENOUGH_REPLICAS_AFTER_APPEND",
        }
    )(proxy)


def asks_for_an_offset_again(proxy: Harness) -> None:
    """Check that ListOffsets was sent until it was answered, and not again after errors of Fetch."""
    asked = of_api(proxy, "ListOffsets")
    assert [one.error for one in asked] == ["OFFSET_NOT_AVAILABLE", "UNKNOWN_LEADER_EPOCH", ""]
    high = "the offset is above the high watermark"
    offline = "the log directory is offline"
    rules({high: "Fetch OFFSET_NOT_AVAILABLE", offline: "Fetch KAFKA_STORAGE_ERROR"})(proxy)
    for rule in (high, offline):
        first = min(one.ts for one in fired(proxy, rule))
        assert [one for one in of_api(proxy, "Metadata") if one.ts > first]


def loses_producer_state(proxy: Harness) -> None:
    """Check that batches of an unknown producer were refused, and stored ones got no offset."""
    rules(
        {
            "the broker has forgotten the producer": "Produce UNKNOWN_PRODUCER_ID",
            "stored, and too long ago to know where": "Produce DUPLICATE_SEQUENCE_NUMBER",
        }
    )(proxy)
