from __future__ import annotations

from barnabas.captures.kafka.exchange import Exchange
from barnabas.peers.recorded.answers import Answers
from barnabas.specs import api


def commit(offset: int, *, generation: int = 1, topic: str = "t") -> bytes:
    partitions = [{"partition_index": 0, "committed_offset": offset}]
    return body("OffsetCommit", 2, group_id="g", generation_id_or_member_epoch=generation,
                topics=[{"name": topic, "partitions": partitions}])  # fmt: skip


def body(name: str, version: int, **values: object) -> bytes:
    return api(name).request.codec(version).encode(values)


def recorded(
    name: str,
    version: int,
    request: bytes,
    *,
    number: int = 0,
    broker: int = 1,
    response: bytes | None = b"",
) -> Exchange:
    return Exchange(
        0, 1, "", "a", broker, api(name).key, version, number, 0, request_body=request,
        response_body=response, broker_ms=0.0,
    )  # fmt: skip


def found(answers: Answers, request: bytes, broker: int | None = None) -> tuple[int, str] | None:
    answer = answers.find(8, 2, request, broker)
    return None if answer is None else (answer.exchange.correlation_id, answer.how)


def test_the_same_is_answered_in_recorded_order_and_then_again() -> None:
    answers = Answers(recorded("OffsetCommit", 2, commit(5), number=n) for n in (1, 2))
    assert [found(answers, commit(5)) for _ in range(4)] == [
        (1, "same bytes"),
        (2, "same bytes"),
        (2, "again"),
        (2, "again"),
    ]
    assert answers.used == {0, 1}


def test_a_response_that_never_came_is_kept_back_once() -> None:
    exchanges = [
        recorded("OffsetCommit", 2, commit(5), number=1, broker=1),
        recorded("OffsetCommit", 2, commit(5), number=2, broker=2, response=None),
    ]
    answers = Answers(exchanges)
    assert [found(answers, commit(5), 2) for _ in range(3)] == [
        (2, "same bytes"),
        (1, "same bytes"),
        (1, "again"),
    ]
    answers = Answers(exchanges[1:])
    assert [found(answers, commit(5)) for _ in range(2)] == [(2, "same bytes"), (2, "again")]


def test_what_is_of_the_run_does_not_count() -> None:
    exchanges = [
        recorded("OffsetCommit", 2, commit(5), number=1),
        recorded("OffsetCommit", 2, commit(6), number=2),
    ]
    answers = Answers(exchanges)
    assert found(answers, commit(6, generation=9)) == (2, "same shape")
    assert found(answers, commit(5, generation=9)) == (1, "same shape")


def test_at_least_it_is_about_the_same() -> None:
    answers = Answers([recorded("OffsetCommit", 2, commit(5), number=1)])
    assert found(answers, commit(7, topic="u")) is None
    assert found(answers, commit(7)) == (1, "same names")


def test_another_version_or_api_is_no_answer() -> None:
    answers = Answers([recorded("OffsetCommit", 2, commit(5))])
    assert answers.find(8, 3, commit(5)) is None
    assert answers.find(9, 2, commit(5)) is None


def test_the_same_broker_goes_first() -> None:
    exchanges = [recorded("OffsetCommit", 2, commit(5), number=n, broker=n) for n in (1, 2)]
    answers = Answers(exchanges)
    assert found(answers, commit(5), 2) == (2, "same bytes")
    assert found(answers, commit(5), 2) == (1, "same bytes")


def test_a_better_fit_elsewhere_goes_before_a_worse_one_here() -> None:
    exchanges = [
        recorded("OffsetCommit", 2, commit(6), number=1, broker=1),
        recorded("OffsetCommit", 2, commit(5), number=2, broker=2),
    ]
    assert found(Answers(exchanges), commit(5), 1) == (2, "same bytes")


def test_a_produce_is_answered_once() -> None:
    request = body("Produce", 3, topic_data=[{"name": "t", "partition_data": [{"index": 0}]}])
    answers = Answers([recorded("Produce", 3, request)])
    assert answers.find(0, 3, request) is not None
    assert answers.find(0, 3, request) is None


def test_what_can_not_be_read_is_found_by_its_bytes() -> None:
    answers = Answers([recorded("OffsetCommit", 2, b"\xff", number=4)])
    assert found(answers, b"\xff") == (4, "same bytes")
    assert found(answers, b"\xfe") is None


def test_versions_are_those_recorded() -> None:
    exchanges = [recorded("Fetch", version, b"") for version in (11, 4, 6)]
    exchanges.append(recorded("ApiVersions", 3, b""))
    assert Answers(exchanges).versions() == {1: (4, 11)}


def test_what_nobody_asked_for_is_left() -> None:
    exchanges = [recorded("OffsetCommit", 2, commit(5), number=n) for n in (1, 2)]
    answers = Answers([*exchanges, recorded("Fetch", 4, b"")])
    found(answers, commit(5))
    assert answers.left() == {"OffsetCommit": 1}
