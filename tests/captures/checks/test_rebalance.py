"""What generations are made of."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.captures.checks.epochs import Epochs
from barnabas.captures.checks.generations import Generations
from barnabas.captures.checks.rebalance import Member, Members
from barnabas.captures.kafka.exchange import Exchange
from tests.captures.checks.given import S
from tests.captures.checks.groups import leave, sync
from tests.captures.checks.test_epochs import beats
from tests.captures.checks.test_generations import (
    ALONE,
    FENCED,
    MISSED,
    PAIR,
    TRIO,
    join,
    learnt,
    leaves,
    told,
)

NAMES = [f"m{n}" for n in range(300)]


def member(id: str, client: str = "app", instance: str | None = None) -> Member:
    return Member(id, client, f"host/{client}", instance, 1, 0)


def test_members_with_something_in_common_are_counted() -> None:
    members = Members()
    for one in (member("a"), member("b"), member("c", "other", "static")):
        members[one.id] = one
    assert [members.others(member("a"), name) for name in ("app", "host/app", "other")] == [1, 1, 1]
    assert (members.static("static"), members.static("no"), members.static(None)) == ("c", "", "")
    members["b"] = member("b", "other")
    assert (members.others(members["a"], "app"), members["a"].named(members)) == (0, "app")
    members.discard("c")
    members.discard("never")
    assert (members.static("static"), members.others(members["b"], "other")) == ("", 0)
    for member_id in "ab":
        members.discard(member_id)
    assert vars(members) == vars(Members()), "nothing is left of those who have gone"


@pytest.mark.parametrize("begin", [Generations, Epochs])
def test_nobody_goes_over_all_members_for_each(begin: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a group of many that come and go, the work is in proportion to what they say."""
    walks: list[str] = []

    def counted(name: str) -> None:
        def walk(self: Members, *rest: object) -> object:
            walks.append(name)
            return getattr(dict, name)(self, *rest)

        monkeypatch.setattr(Members, name, walk, raising=False)

    for name in ("__iter__", "values", "items", "keys"):
        counted(name)
    if begin is Generations:
        come = [join(n, name, 1, new=True, client="app", took=400) for n, name in enumerate(NAMES)]
        go = [leaves(1000 + n, name) for n, name in enumerate(NAMES)]
    else:
        come = [beats(n, name, 0, n + 1, client="app") for n, name in enumerate(NAMES)]
        go = [beats(1000 + n, name, -1, -1) for n, name in enumerate(NAMES)]
    of = begin()
    causes = [cause for one in (*come, *go) for cause in of.learn(one)]
    assert len(causes) >= 600
    assert len(walks) <= 2


NEWCOMER = join(100, "c", 2, new=True, took=9 * S)
EARLY = (*told(1 * S, "a"), join(1010, "a", 2, took=8 * S))
NEXT = (join(7.1 * S, "c", 3, took=5 * S), join(7.1 * S, "a", 3, took=5 * S))

WAITED = {
    "which did not rejoin": ([*PAIR, ALONE, *told(200, "b")], ["", "b, which did not rejoin"]),
    "late since it was told": (
        [*PAIR, NEWCOMER, *told(1 * S, "b"), *EARLY, join(9 * S, "b", 2, took=100)], ["", "b, 8 s"]
    ),
    "late since it was told first": (
        [*PAIR, NEWCOMER, *told(1 * S, "b"), *told(3 * S, "b"), *EARLY, join(9 * S, "b", 2, took=100)],
        ["", "b, 8 s"],
    ),
    "told when the last one before had its answer, and again": (
        [*(*PAIR, *told(11, "b"), NEWCOMER, *told(1 * S, "b"), *EARLY), join(9 * S, "b", 2, took=100)],
        ["", "b, 8 s"],
    ),
    "neither told late nor late for half of the time": (
        [*PAIR, NEWCOMER, *told(4.55 * S, "b"), *EARLY, join(9 * S, "b", 2, took=100)], ["", ""]
    ),
    "who misses it is waited for, but not in the next one": (
        [*TRIO, *MISSED, *FENCED], ["", "b, which did not rejoin", ""]
    ),
    "not before the first one has come": (
        [
            *(*TRIO, leaves(1 * S, "c"), *told(1.1 * S, *"ab")),
            *(join(5 * S, "b", 2, took=3.1 * S), join(8 * S, "a", 2, members=("a", "b"), took=100)),
        ],
        ["", "a, 3 s"],
    ),
    # it was what ended the wait: the other one had been given up before
    "who comes last is late also if another one never came": (
        [
            *(*TRIO, *told(1.1 * S, *"ac"), join(1 * S, "b", 2, took=5 * S)),
            join(5.95 * S, "a", 2, members=("a", "b"), took=50),
        ],
        ["", "a, 4.85 s"],
    ),
    # only the leader's list, or its own answers, say that a member did not
    "who was not seen to join may have joined unseen": ([*TRIO, *MISSED], ["", "a, 2.6 s"]),
    "told of one that it missed, and again of the next": (
        [
            *(*TRIO, *MISSED, *told(7.2 * S, "b"), *NEXT),
            *(join(12 * S, "b", 3, took=100), sync(12.2 * S, "a", 3)),
        ],
        ["", "a, 2.6 s", "b, 4.8 s"],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("exchanges", "names"), WAITED.values(), ids=WAITED)
def test_for_whom_a_generation_waits(exchanges: list[Exchange], names: list[str]) -> None:
    found = ["" if one.waited is None else str(one.waited) for one in learnt(*exchanges)]
    assert found == names


def test_a_member_that_hears_of_it_late_is_not_late() -> None:
    newcomer = join(100, "c", 2, new=True, took=3 * S)
    a = join(3 * S + 5, "a", 2, members=("a", "c"))
    (_, one) = learnt(*PAIR, leave(50, "b"), newcomer, *told(3 * S, "a"), a)
    assert one.waited is not None
    assert (one.waited.kind, one.waited.names) == ("untold", ("a",))
    assert [*map(str, one.causes)] == ["b left", "c joined"]
