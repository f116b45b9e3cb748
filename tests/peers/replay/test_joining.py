from __future__ import annotations

from barnabas.peers.replay.joining import Joined


def test_the_latest_generation_of_each_group() -> None:
    joined = Joined[str]()
    for group, generation, member in (("g", 1, "a"), ("h", 1, "b"), ("g", 1, "c"), ("g", 1, "a")):
        joined.note(group, generation, member, member)
    assert joined.others("g", 1, "x") == ["a", "c"]
    assert joined.others("g", 1, "c") == ["a"]
    joined.note("g", 2, "d", "d")
    assert joined.others("g", 1, "x") == []
    assert joined.others("g", 2, "x") == ["d"]
    assert joined.others("nobody", 1, "x") == []
