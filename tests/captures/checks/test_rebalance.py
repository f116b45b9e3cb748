"""What generations are made of."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.captures.checks.epochs import Epochs
from barnabas.captures.checks.generations import Generations
from barnabas.captures.checks.rebalance import Member, Members
from tests.captures.checks.test_epochs import beats
from tests.captures.checks.test_generations import join, leaves

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
