from __future__ import annotations

from barnabas.proxy.network.seldom import Seldom


def test_the_first_line_is_said_and_then_one_a_while_with_a_count() -> None:
    said: list[str] = []
    lines = Seldom(said.append, every=10.0)
    for number in range(25):  # each second
        lines.say("broker 1", f"one {number}", 100.0 + number)
    assert said == [
        "one 0",
        "one 10; 9 more since the last such line",
        "one 20; 9 more since the last such line",
    ]


def test_each_thing_has_lines_of_its_own() -> None:
    said: list[str] = []
    lines = Seldom(said.append, every=10.0)
    for about in ("broker 1", "broker 2", "broker 1"):
        lines.say(about, about, 5.0)
    lines.say("broker 2", "again", 15.0)
    assert said == ["broker 1", "broker 2", "again"], "nothing was left out of broker 2's"
