"""What each check finds, of histories and logs written by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.experiments.explore.checks import CHECKS, check
from barnabas.experiments.explore.checks.delivered import (
    consumed_after_acceptance,
    consumed_again,
    consumed_out_of_order,
    consumed_twice,
    phantom,
    read_uncommitted,
    skipped,
)
from barnabas.experiments.explore.checks.promise import Check
from barnabas.experiments.explore.checks.written import (
    duplicated,
    failed_yet_written,
    lost,
    misplaced,
    reordered,
    reported_twice,
)
from barnabas.experiments.explore.history import Consumer, Event, History
from barnabas.experiments.explore.log import Log, LoggedRecord
from tests.experiments.explore.checks.told import (
    CAREFUL,
    FROM_THE_START,
    OTHER,
    READER,
    SHARING,
    SHARING_TOO,
    T,
    aborted,
    accepted,
    acknowledged,
    assigned,
    committed,
    consumed,
    error,
    failed,
    found,
    log,
    offset_committed,
    sent,
)

OF_ANOTHER_GROUP = Consumer(consumer="v", group="i", share=True)
FROM_5 = Log(starts={(T, 0): 5})
SHARED = (SHARING, SHARING_TOO, consumed("a", 0, "s"))
TRANSACTED = (sent("a", "t"), sent("b", "t"), acknowledged("a"))
ABORTED_THEN_COMMITTED = (sent("a", "1"), aborted("1"), sent("a", "2"), committed("2"))
OF_OPEN_ONE = (CAREFUL, sent("a", "t"), consumed("a", 0))
A_AND_C = (consumed("a", 0), consumed("c", 2))

# fmt: off
ROWS: dict[str, tuple[Check, Log, tuple[Event, ...], str]] = {
    "accepted by who is given it again": (
        consumed_after_acceptance, log("a"), (*SHARED, accepted(0), consumed("a", 0, "s")), "a"),
    "accepted by another member": (
        consumed_after_acceptance, log("a"), (*SHARED, accepted(0), consumed("a", 0, "u")), "a"),
    "not accepted yet": (
        consumed_after_acceptance, log("a"),
        (*SHARED, consumed("a", 0, "u"), accepted(0)), ""),
    "accepted at other offsets, in other partitions, by other groups": (
        consumed_after_acceptance, log("a", "b"),
        (SHARING, OF_ANOTHER_GROUP, consumed("a", 0, "s"), accepted(0), accepted(1, partition=1),
         consumed("b", 1, "s"), consumed("a", 0, "v")), ""),
    "before the committed offset": (
        consumed_again, log("a"),
        (READER, OTHER, consumed("a", 0), offset_committed(1), consumed("a", 0, "d")), "a"),
    "behind the committed offset": (
        consumed_again, log("a"),
        (READER, OTHER, consumed("a", 0), offset_committed(1), consumed("b", 1, "d")), ""),
    "not committed when it was sought, but later": (
        consumed_again, log("a"),
        (READER, consumed("a", 0), assigned(), offset_committed(1), consumed("a", 0)), ""),
    "committed when it was assigned": (
        consumed_again, log("a"),
        (READER, consumed("a", 0), offset_committed(1), assigned(), consumed("a", 0)), "a"),
    "given once, whenever it was committed": (
        consumed_again, log("a", "b"), (READER, offset_committed(2), consumed("a", 0), consumed("b", 1)), ""),
    "given again before it was committed": (
        consumed_again, log("a"),
        (READER, OTHER, consumed("a", 0), consumed("a", 0, "d"), offset_committed(1)), ""),
    "committed by other groups, in other partitions": (
        consumed_again, log("a"),
        (READER, offset_committed(1, "h"), offset_committed(1, partition=1), consumed("a", 0)), ""),
    "committed by a group, read by nobody's consumer": (
        consumed_again, log("a"), (offset_committed(1), consumed("a", 0, "nobody")), ""),
    "not behind the one before": (consumed_out_of_order, log(), (*A_AND_C, consumed("b", 1)), "b"),
    "the same again": (consumed_twice, log(), (*A_AND_C, consumed("c", 2)), "c"),
    "assigned anew": (consumed_out_of_order, log(), (consumed("b", 1), assigned(), consumed("a", 0)), ""),
    "assigned elsewhere": (
        consumed_out_of_order, log(),
        (consumed("b", 1), assigned(partition=1), assigned("d"), consumed("a", 0)), "a"),
    "of other partitions and consumers": (
        consumed_out_of_order, log(),
        (consumed("b", 1), consumed("a", 0, partition=1), consumed("a", 0, "d")), ""),
    "share groups promise no order": (
        consumed_out_of_order, log(), (SHARING, consumed("b", 1, "s"), consumed("a", 0, "s")), ""),
    "sent again after it failed": (
        reordered, log("b", "a"), (sent("a"), sent("b"), failed("a"), sent("a")), ""),
    "failed, and written by the second attempt": (
        failed_yet_written, log("a"), (sent("a"), failed("a"), sent("a"), error("a")), ""),
    "acknowledged twice": (reported_twice, log("a"), (sent("a"), *2 * [acknowledged("a")]), "a"),
    "acknowledged, and an error": (reported_twice, log("a"), (sent("a"), error("a"), acknowledged("a")), "a"),
    "an outcome each": (reported_twice, log("a"), (sent("a"), sent("b"), acknowledged("a"), error("b")), ""),
    "an outcome for each send": (reported_twice, log("a"), (*2 * [sent("a")], *2 * [error("a")]), ""),
    "three times": (duplicated, log("a", "b", "a", "a"), (sent("a"), sent("b")), "a"),
    "each once": (duplicated, log("a", "b"), (sent("a"), sent("b")), ""),
    "twice, sent twice by the program": (duplicated, log("a", "a"), (sent("a"), sent("a")), "a"),
    "twice, once aborted, and others'": (duplicated, log("a", "a", "x", "x", undone=[0]), (sent("a"),), ""),
    "failed and there": (failed_yet_written, log("a", "b"), (sent("a"), sent("b"), failed("a")), "a"),
    "failed and not there": (failed_yet_written, log("b"), (sent("a"), sent("b"), failed("a")), ""),
    "aborted and visible": (failed_yet_written, log("a"), (sent("a", "t"), aborted("t")), "a"),
    "aborted": (failed_yet_written, log("a", undone=[0]), (sent("a", "t"), aborted("t")), ""),
    "aborted, still open in the log": (
        failed_yet_written, log("a", undecided=[0]), (sent("a", "t"), aborted("t")), ""),
    "failed, and promised another time": (
        failed_yet_written, log("a"), (sent("a"), failed("a"), sent("a"), acknowledged("a")), ""),
    "aborted, and committed another time": (failed_yet_written, log("a"), ABORTED_THEN_COMMITTED, ""),
    "acknowledged and missing": (
        lost, log("a"), (sent("a"), sent("b"), sent("c"), acknowledged("a"), acknowledged("b")), "b"),
    "acknowledged and there": (
        lost, log("b", "a"), (sent("a"), sent("b"), sent("c"), acknowledged("a"), acknowledged("b")), ""),
    "promised by nobody": (lost, log(), (sent("a"), sent("b"), failed("b")), ""),
    "acknowledged in an open transaction": (lost, log(), TRANSACTED, ""),
    "acknowledged in an aborted transaction": (lost, log(), (*TRANSACTED, aborted("t")), ""),
    "of a committed transaction": (lost, log("a"), (*TRANSACTED, committed("t")), "b"),
    "committed, aborted in the log": (lost, log("a", undone=[0]), (sent("a", "t"), committed("t")), "a"),
    "committed, still open in the log": (lost, log("a", undecided=[0]), (sent("a", "t"), committed("t")), ""),
    "promised by the second time": (lost, log(), ABORTED_THEN_COMMITTED, "a"),
    "there since the second time": (lost, log("a", "a", undone=[0]), ABORTED_THEN_COMMITTED, ""),
    "where it was acknowledged": (misplaced, log("a"), (sent("a"), acknowledged("a", 0)), ""),
    "another there": (misplaced, log("b", "a"), (sent("a"), acknowledged("a", 0)), "a"),
    "nothing there": (misplaced, log(), (sent("a"), acknowledged("a", 0)), "a"),
    "another than was read": (misplaced, log("a", "c"), (consumed("a", 0), consumed("b", 1)), "b"),
    "read though aborted": (misplaced, log("a", "b", undone=[1]), (consumed("a", 0), consumed("b", 1)), ""),
    "acknowledged without an offset": (misplaced, log("b", "a"), (sent("a"), acknowledged("a")), ""),
    "read from before the run": (misplaced, FROM_5, (consumed("a", 4),), ""),
    "sent by nobody": (phantom, log("a", "x"), (sent("a"), consumed("a", 0), consumed("x", 1)), "x"),
    "in a topic that the run only reads": (phantom, log("x"), (consumed("x", 0),), ""),
    "sent by nobody, from before the run": (phantom, FROM_5, (sent("a"), consumed("x", 4)), ""),
    "sent by nobody, since the run began": (phantom, FROM_5, (sent("a"), consumed("x", 5)), "x"),
    "aborted, to who reads committed records": (read_uncommitted, log("a", undone=[0]), OF_OPEN_ONE, "a"),
    "aborted, to who reads all": (
        read_uncommitted, log("a", undone=[0]), (READER, sent("a", "t"), consumed("a", 0)), ""),
    "not aborted": (read_uncommitted, log("a"), OF_OPEN_ONE, ""),
    "aborted by the client, visible in the log": (
        read_uncommitted, log("a"), (CAREFUL, sent("a", "t"), aborted("t"), consumed("a", 0)), "a"),
    "of an open transaction": (
        read_uncommitted, log("a", "b", undecided=[0, 1]), (*OF_OPEN_ONE, sent("b"), consumed("b", 1)), "a"),
    "the second time it was committed, and that is read": (
        read_uncommitted, log("a", "a", undone=[0]),
        (CAREFUL, *ABORTED_THEN_COMMITTED, consumed("a", 1)), ""),
    "the second time it was committed, and the first is read": (
        read_uncommitted, log("a", "a", undone=[0]),
        (CAREFUL, *ABORTED_THEN_COMMITTED, consumed("a", 0)), "a"),
    "misplaced is found elsewhere": (read_uncommitted, log("b", undone=[0]), OF_OPEN_ONE, ""),
    "behind a later one": (reordered, log("b", "a", "c"), (sent("a"), sent("b"), sent("c")), "a"),
    "with a gap": (reordered, log("a", "c"), (sent("a"), sent("b"), sent("c")), ""),
    "repeated": (reordered, log("a", "b", "a"), (sent("a"), sent("b")), ""),
    "in other partitions": (
        reordered, Log([LoggedRecord(T, 0, 0, "b"), LoggedRecord(T, 1, 0, "a")]), (sent("a"), sent("b")), ""),
    "of other producers": (
        reordered, log("b", "a"), (sent("a", producer="one"), sent("b", producer="two")), ""),
    "aborted is not sent": (
        reordered, log("a", "b", "a", undone=[0]),
        (sent("a", "1"), aborted("1"), sent("b", "2"), sent("a", "2")), ""),
    "between what was read": (skipped, log("a", "b", "c", "d"), (READER, *A_AND_C), "b"),
    "read by another of the group": (
        skipped, log("a", "b", "c", "d"), (READER, *A_AND_C, OTHER, consumed("b", 1, "d")), ""),
    "committed further than was read": (
        skipped, log("a", "b", "c"), (READER, consumed("a", 0), offset_committed(2)), "b"),
    "before the first, which was to be read": (
        skipped, log("a", "b", "c"), (FROM_THE_START, consumed("b", 1)), "a"),
    "of a batch that none of its members came to see": (
        skipped, log("a", "b", "c"), (FROM_THE_START, offset_committed(2)), "a b"),
    "nothing read yet": (skipped, log("a", "b"), (FROM_THE_START,), ""),
    "before the first, which need not be read": (skipped, log("a", "b"), (READER, consumed("b", 1)), ""),
    "committed, and nothing was to be read": (skipped, log("a", "b"), (READER, offset_committed(2)), ""),
    "behind where the group had committed": (
        skipped, log("a", "b", "c"), (READER, offset_committed(0), consumed("b", 1)), "a"),
    "from where the group had committed": (
        skipped, log("a", "b", "c"), (READER, offset_committed(1), consumed("b", 1)), ""),
    "aborted, skipped by who reads committed records": (
        skipped, log("a", "b", "c", undone=[1]), (CAREFUL, *A_AND_C), ""),
    "open, skipped by who reads committed records": (
        skipped, log("a", "b", "c", undecided=[1]), (CAREFUL, *A_AND_C), ""),
    "open, skipped by who reads all": (skipped, log("a", "b", "c", undecided=[1]), (READER, *A_AND_C), "b"),
    "read by another consumer without a group": (
        skipped, log("a", "b", "c"),
        (consumed("a", 0, "x"), consumed("b", 1, "y"), consumed("c", 2, "x")), "b"),
}
# fmt: on


@pytest.mark.parametrize(("one", "held", "told", "ids"), ROWS.values(), ids=[*ROWS])
def test_what_a_check_finds(one: Check, held: Log, told: tuple[Event, ...], ids: str) -> None:
    kind = one.__name__.replace("_", " ")
    assert found(one, held, *told) == ([(kind, tuple(ids.split()))] if ids else [])


@pytest.mark.parametrize(
    ("one", "told", "text"),
    [
        (
            consumed_again,
            (READER, consumed("a", 0), consumed("b", 1), offset_committed(2), consumed("b", 1)),
            "1 delivered to g from orders[0] again although a later offset was committed (the "
            "first: offset 1, committed 2): b",
        ),
        (
            skipped,
            (FROM_THE_START, consumed("b", 1)),
            "orders[0], which it read from offset 0 on: a",
        ),
    ],
)
def test_it_says_what_was_compared(one: Check, told: tuple[Event, ...], text: str) -> None:
    (finding,) = one(History(told), log("a", "b"))
    assert finding.text.endswith(text)


@given(st.lists(st.integers(0, 20), unique=True))
def test_rising_offsets_are_in_order(offsets: list[int]) -> None:
    told = [consumed(str(offset), offset) for offset in sorted(offsets)]
    assert found(consumed_out_of_order, log(), *told) == []
    assert bool(found(consumed_out_of_order, log(), *reversed(told))) == (len(offsets) > 1)


@given(st.permutations([f"{number}" for number in range(6)]))
def test_only_the_order_of_sending_has_none_behind_another(order: list[str]) -> None:
    ids = sorted(order)
    names = {name for _, ids in found(reordered, log(*order), *map(sent, ids)) for name in ids}
    # what is left without them is in order, and each of them is smaller than one before it
    assert [name for name in order if name not in names] == sorted(set(order) - names)
    assert all(any(other > name for other in order[: order.index(name)]) for name in names)


def test_each_check_has_a_kind_of_its_own() -> None:
    wrong: list[Event] = [
        *(sent("a"), sent("b"), sent("e"), sent("f"), sent("t", "1"), CAREFUL),
        *(acknowledged("e"), acknowledged("a", 1), error("e"), failed("f"), aborted("1")),
        *(consumed("f", 2), offset_committed(4), consumed("t", 1), consumed("x", 0)),
        *(2 * [consumed("t", 1)]),
        *(SHARING, consumed("a", 1, "s"), accepted(1), consumed("a", 1, "s")),
    ]
    kinds = [found.kind for found in check(History(wrong), log("b", "a", "f", "b"))]
    assert len(set(kinds)) == len(kinds) == len(CHECKS)


def test_nothing_was_said_and_nothing_is_there() -> None:
    assert check(History(), Log()) == ()


@given(st.lists(st.tuples(st.integers(0, 2), st.sampled_from(["plain", "committed", "aborted"]))))
def test_a_cluster_and_a_client_that_do_as_they_should(records: list[tuple[int, str]]) -> None:
    events: list[Event] = [CAREFUL]
    held: list[LoggedRecord] = []
    ends = [0, 0, 0]
    for number, (partition, kind) in enumerate(records):
        name, transaction = f"r{number}", None if kind == "plain" else f"t{number}"
        offset = ends[partition]
        ends[partition] += 1 if transaction is None else 2  # and a marker
        held.append(LoggedRecord(T, partition, offset, name, kind != "aborted"))
        events += [sent(name, transaction), acknowledged(name, offset, partition)]
        if transaction is not None:
            events.append(committed(transaction) if kind == "committed" else aborted(transaction))
    for partition in range(3):
        events.append(assigned(partition=partition))
        for record in held:
            if record.partition == partition and record.visible:
                events.append(consumed(record.id, record.offset, partition=partition))
        events.append(offset_committed(ends[partition], partition=partition))
    assert check(History(events), Log(held)) == ()
