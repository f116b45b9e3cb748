"""Strategies of a user's own, by the path of a function or class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from barnabas.designs.consumer_rewrite.peers.own_strategies import with_listed
from barnabas.designs.consumer_rewrite.peers.settings import BrokerSettings
from barnabas.designs.consumer_rewrite.peers.strategies import STRATEGIES, Partition
from barnabas.designs.options import from_options

MODULE = """
from barnabas.designs.consumer_rewrite.peers.strategies import by_range

def plain(consumers, topics):
    return by_range(consumers, topics)

class Everything:
    "All to the first."
    def __call__(self, consumers, topics):
        owned = {name: [] for name, _ in consumers}
        owned[min(owned)] = [(topic, n) for topic in topics for n in range(topics[topic])]
        return owned

class Wanting:
    def __init__(self, something):
        pass

class Silent:
    pass

def of_one(consumers):
    pass

number = 7
"""


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    name = f"mine_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text(MODULE)
    (tmp_path / f"{name}_broken.py").write_text("1 / 0\n")
    monkeypatch.syspath_prepend(tmp_path)
    return name


def test_functions_and_classes_stand_beside_those_there_are(mine: str) -> None:
    found = with_listed(f"plain:{mine}.plain , all:{mine}.Everything")
    assert list(found) == [*STRATEGIES, "plain", "all"]
    consumers: Sequence[tuple[str, frozenset[str]]] = [("a", frozenset("t")), ("b", frozenset("t"))]
    topics: Mapping[str, int] = {"t": 2}
    all_to_a: dict[str, list[Partition]] = {"a": [("t", 0), ("t", 1)], "b": []}
    assert found["all"](consumers, topics) == all_to_a
    assert found["plain"](consumers, topics) == STRATEGIES["range"](consumers, topics)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "'' is not name:package.module.Class"),
        ("plain", "'plain' is not name:package.module.Class"),
        ("x:{}.plain,", "'' is not name:"),
        ("x:{}.plain,x:{}.plain", "x is there twice"),
        ("x:{}.other", "can't have {}.other: AttributeError"),
        ("x:{}_none.plain", "can't have {}_none.plain: ModuleNotFoundError"),
        ("x:{}_broken.plain", "can't have {}_broken.plain: ZeroDivisionError"),
        ("x:plain", "can't have plain: ValueError"),
        ("x:{}.Wanting", "can't have {}.Wanting: TypeError"),
        ("x:{}.Silent", "{}.Silent is not a strategy"),
        ("x:{}.number", "{}.number is not a strategy"),
        ("x:{}.of_one", "{}.of_one is not a strategy: too many positional arguments"),
    ],
)
def test_what_is_no_strategy_is_refused_at_start_in_one_line(
    mine: str, text: str, says: str
) -> None:
    option = "partition.assignment.strategies"
    with pytest.raises(ValueError, match="^" + option) as refused:
        from_options(BrokerSettings, {option: text.replace("{}", mine)})
    assert str(refused.value).startswith(f"{option}: " + says.replace("{}", mine))
    assert "\n" not in str(refused.value)
