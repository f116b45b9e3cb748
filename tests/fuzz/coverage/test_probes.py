from __future__ import annotations

from barnabas.fuzz.coverage.probes import ROOM, Key, Passed, Probes

ONE, OTHER = Key(1, "a/B"), Key(2, "a/C")


def test_what_nobody_had_passed_is_a_feature_of_who_does_first() -> None:
    passed = Passed()
    assert passed.add({ONE: Probes(0b110, 4)}) == ["reached a/B 1"]
    assert passed.add({ONE: Probes(0b110, 4), OTHER: Probes(0, 4)}) == []
    assert passed.add({ONE: Probes(0b1010, 4), OTHER: Probes(1, 4)}) == [
        "reached a/B 3",
        "reached a/C 0",
    ]
    assert passed.all == {ONE: Probes(0b1110, 4), OTHER: Probes(1, 4)}


def test_what_there_is_no_room_for_is_forgotten_and_said() -> None:
    passed = Passed()
    passed._size = ROOM - 10_000
    assert passed.add({Key(1, "a"): Probes(1, 0)}) == ["reached a 0"]
    assert passed.add({Key(2, "b"): Probes(1 << 9_000, 0)}) == ["reached more than is kept"]
    assert passed.add({Key(1, "a"): Probes(0b11, 0)}) == ["reached a 1"]
    assert list(passed.all) == [Key(1, "a")]
