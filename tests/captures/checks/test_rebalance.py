"""What generations are made of."""

from __future__ import annotations

import pytest

from barnabas.captures.checks.epochs import Epochs
from barnabas.captures.checks.generations import Generations
from barnabas.captures.checks.rebalance import Member, Members
from barnabas.captures.kafka.exchange import Exchange
from tests.captures.checks import test_epochs as epochs
from tests.captures.checks.test_generations import join, leaves


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


@pytest.mark.parametrize("kind", [Generations, Epochs])
def test_nobody_goes_over_all_members_for_each(
    kind: type[Generations] | type[Epochs], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a group of many that come and go, the work is in proportion to what they say."""
    walks = 0

    def counted(name: str) -> None:
        def walk(self: Members, *rest: object) -> object:
            nonlocal walks
            walks += 1
            return getattr(dict, name)(self, *rest)

        monkeypatch.setattr(Members, name, walk, raising=False)

    for name in ("__iter__", "values", "items", "keys"):
        counted(name)
    names = [f"m{n}" for n in range(300)]
    told: list[Exchange] = []
    if kind is Generations:
        told += [join(n, name, 1, new=True, client="app", took=400) for n, name in enumerate(names)]
        told += [leaves(1000 + n, name) for n, name in enumerate(names)]
    else:
        told += [epochs.beat(n, name, 0, n + 1, client="app") for n, name in enumerate(names)]
        told += [epochs.beat(1000 + n, name, -1, -1) for n, name in enumerate(names)]
    of = kind()
    causes = [cause for one in told for cause in of.learn(one)]
    assert len(causes) >= 600
    assert walks <= 2
