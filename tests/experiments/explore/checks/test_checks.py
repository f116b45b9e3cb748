"""All checks together: a run without faults has no findings, whatever its shape."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from barnabas.experiments.explore.checks import CHECKS, check
from barnabas.experiments.explore.history import Event, History
from barnabas.experiments.explore.log import Log, Logged
from tests.experiments.explore.checks.told import (
    CAREFUL,
    SHARING,
    T,
    aborted,
    accepted,
    acknowledged,
    assigned,
    committed,
    consumed,
    failed,
    log,
    offset_committed,
    sent,
)


def test_each_check_has_a_kind_of_its_own() -> None:
    wrong: list[Event] = [
        *(sent("a"), sent("b"), sent("e"), sent("f"), sent("t", "1"), CAREFUL),
        *(acknowledged("e"), acknowledged("a", 1), failed("f"), aborted("1")),
        *(consumed("f", 2), offset_committed(4), consumed("t", 1), consumed("x", 0)),
        consumed("t", 1),
        *(SHARING, consumed("a", 1, "s"), accepted(1), consumed("a", 1, "s")),
    ]
    kinds = [found.kind for found in check(History(wrong), log("b", "a", "f", "b"))]
    assert len(set(kinds)) == len(kinds) == len(CHECKS)


def test_nothing_was_said_and_nothing_is_there() -> None:
    assert check(History(), Log()) == ()


@given(st.lists(st.tuples(st.integers(0, 2), st.sampled_from(["plain", "committed", "aborted"]))))
def test_a_cluster_and_a_client_that_do_as_they_should(records: list[tuple[int, str]]) -> None:
    events: list[Event] = [CAREFUL]
    held: list[Logged] = []
    ends = [0, 0, 0]
    for number, (partition, kind) in enumerate(records):
        name, transaction = f"r{number}", None if kind == "plain" else f"t{number}"
        offset = ends[partition]
        ends[partition] += 1 if transaction is None else 2  # and a marker
        held.append(Logged(T, partition, offset, name, kind != "aborted"))
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
