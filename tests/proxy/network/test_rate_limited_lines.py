from __future__ import annotations

from barnabas.proxy.network.rate_limited_lines import RateLimitedLines


def test_of_each_thing_one_line_a_while_with_a_count() -> None:
    said: list[str] = []
    lines = RateLimitedLines(said.append, every=10.0)
    for number in range(25):  # each second
        lines.say("broker 1", f"one {number}", 100.0 + number)
    lines.say("broker 2", "another", 125.0)
    assert said == [
        "one 0",
        "one 10; 9 more since the last such line",
        "one 20; 9 more since the last such line",
        "another",
    ]
