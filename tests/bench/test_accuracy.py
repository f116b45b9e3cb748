"""The bench of rules: against its own server without a proxy, and with a few rounds."""

from __future__ import annotations

import threading
from multiprocessing import Pipe

import pytest

from barnabas.proxy.scenario.file import loads as scenario
from bench import accuracy, load, rule_cost, server
from tests.proxy.playbook import Stage


@pytest.fixture(scope="module")
def port() -> int:
    ours, theirs = Pipe()
    threading.Thread(target=server.serve, args=(theirs,), daemon=True).start()
    found: int = ours.recv()
    return found


@pytest.mark.parametrize("size", accuracy.SIZES)
def test_messages_have_the_size_that_they_are_said_to_have(size: str, port: int) -> None:
    found = load.loads()[f"delayed {size}"]
    assert found.request_size == {"64 B": 64, "1 MiB": 1 << 20}[size]
    assert len(load.run(port, f"plain {size}", 0.05, 1 << 30).latencies) > 1


def test_every_set_of_rules_is_measured_and_none_of_them_matches() -> None:
    found = rule_cost.measure(1, lambda _: None)
    assert found[0].name == "no rule"
    assert all(0 < took < 1 for way in found for took in way.seconds.values())
    for way in found[1:]:
        rules = scenario(way.rules).rules
        assert len(rules) == (1 if way.name.startswith("where") else rule_cost.TEN)
    asked, answered = rule_cost.exchanges()
    for way in found:
        actor = Stage(way.rules).actor()
        rule_cost.once(actor, asked[:2], answered[:2])
        assert [rule.matched for rule in actor.stage.rules.rules] == [0] * len(
            actor.stage.rules.rules
        )
    assert rule_cost.table(found).row_count == len(found)
