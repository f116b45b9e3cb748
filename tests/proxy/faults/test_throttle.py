from __future__ import annotations

import pytest
from pydantic import ValidationError

from barnabas.proxy.effects import Pace
from barnabas.proxy.faults.throttle import Throttle, throttle
from tests.proxy.faults.given import ask, message, only, slicings, stage
from tests.proxy.playbook import Chunks, Stage


def test_the_slower_of_bytes_and_messages_counts() -> None:
    size = message().size + 4
    config = Throttle.model_validate({"bytes": f"{size * 10}B"})
    assert only(throttle, config, float) == Pace(100_000_000, "")
    config = Throttle.model_validate({"bytes": f"{size * 10}B", "messages": 2})
    assert only(throttle, config, float) == Pace(500_000_000, "")


@pytest.mark.parametrize(
    ("per", "scope"), [("client", "client me"), ("broker", "broker 1"), ("rule", "rule")]
)
def test_a_line_may_be_shared(per: str, scope: str) -> None:
    config = Throttle.model_validate({"messages": 1, "per": per})
    assert only(throttle, config, float) == Pace(1_000_000_000, scope)


@pytest.mark.parametrize("wrong", [{}, {"bytes": "0B"}, {"messages": 0}])
def test_a_rate_of_nothing_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Throttle.model_validate(wrong)


@slicings
def test_messages_leave_one_after_the_other(chunks: Chunks) -> None:
    actor = stage("{throttle: {messages: 10}}")
    actor.ask(ask(1) + ask(2) + ask(3), chunks)
    actor.stage.wait(350)
    assert [at for at, _ in actor.times["request"]] == [100, 200, 300]
    assert actor.sent["request"] == ask(1) + ask(2) + ask(3)
    actor.stage.wait(650)  # a line that was idle saves nothing up
    actor.ask(ask(4) + ask(5), chunks)
    actor.stage.wait(250)
    assert [at for at, _ in actor.times["request"]][3:] == [1100, 1200]


def test_connections_share_the_line_of_their_client() -> None:
    for per, expected in (("client", [100, 200]), ("connection", [100, 100])):
        text = f"version: 1\nrules: [{{name: r, do: {{throttle: {{messages: 10, per: {per}}}}}}}]"
        shared = Stage(text)
        one, two = shared.actor(), shared.actor()
        one.ask(ask(1))
        two.ask(ask(2))
        shared.wait(300)
        assert [at for actor in (one, two) for at, _ in actor.times["request"]] == expected
