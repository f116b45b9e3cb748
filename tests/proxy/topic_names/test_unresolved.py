"""Which topic ids are asked for: in batches, one question at a time, none again too soon."""

from __future__ import annotations

import uuid

from barnabas.proxy.topic_names.unresolved import BATCH, LONGEST, PATIENCE, WANTED, UnresolvedTopics

IDS = [uuid.UUID(int=number) for number in range(1, 2 * BATCH + 2)]


def test_they_are_asked_for_in_batches_and_each_once() -> None:
    questions, names = UnresolvedTopics(), {topic: f"t{topic.int}" for topic in IDS}
    questions.want(IDS, 0)
    questions.want(IDS, 0)
    asked = []
    while ids := questions.next({}, 0):
        asked.append(len(ids))
        questions.answered(ids, names, 0)
    assert asked == [BATCH, BATCH, 1]
    assert len(questions) == 0
    assert questions.trouble == ""


def test_what_brokers_do_not_know_is_left_alone_for_a_while() -> None:
    questions = UnresolvedTopics()
    questions.want(IDS[:2], 0)
    questions.answered(questions.next({}, 0), {IDS[0]: "t"}, 5)
    assert questions.trouble == "the brokers have no topic with this ID, or do not say"
    questions.want(IDS[:2], LONGEST)
    assert questions.next({}, LONGEST) == (IDS[0],)
    questions.want(IDS[:2], LONGEST + 5)
    assert questions.next({}, LONGEST + 5) == (IDS[0], IDS[1])


def test_brokers_that_do_not_answer_are_asked_ever_more_rarely() -> None:
    questions, now, pauses = UnresolvedTopics(), 0, []
    questions.want(IDS[:1], now)
    for _ in range(9):
        questions.failed("no answer", now)
        pauses.append(questions.pause(now) // PATIENCE)
        assert questions.next({}, now) == ()
        now += questions.pause(now)
        assert questions.next({}, now) == (IDS[0],)
    assert pauses == [1, 2, 4, 8, 16, 32, 60, 60, 60]
    questions.answered(IDS[:1], {IDS[0]: "t"}, now)
    assert (questions.pause(now), questions.trouble, len(questions)) == (0, "", 0)
    questions.failed("no answer", now)
    assert questions.pause(now) == PATIENCE


def test_the_same_trouble_is_no_news() -> None:
    questions = UnresolvedTopics()
    said = [questions.failed(reason, 0) for reason in ("a", "a", "b", "b", "a")]
    assert said == [True, False, True, False, True]


def test_nothing_is_in_the_way_once_nothing_is_wanted() -> None:
    questions = UnresolvedTopics()
    questions.want(IDS[:1], 0)
    questions.failed("no answer", 0)
    assert questions.next({IDS[0]: "t"}, 0) == ()
    assert questions.trouble == ""
    questions.want(IDS[1:2], 0)
    questions.failed("no answer", 0)
    questions.forget()
    assert (len(questions), questions.trouble) == (0, "")


def test_they_are_bounded() -> None:
    questions = UnresolvedTopics()
    questions.want((uuid.UUID(int=number) for number in range(1, WANTED + 1000)), 0)
    assert len(questions) == WANTED
