from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator

import pytest

from barnabas.fuzz.coverage.agent import HOST, SIZE, Agent, CountedProcess
from barnabas.fuzz.coverage.probes import ROOM, Key, PassedProbes, Probes
from barnabas.fuzz.coverage.python import dump

FILE = Key(0, "f.py")


def _answer(text: bytes) -> bytes:
    return len(text).to_bytes(4) + text


def _program(agent: Agent, answers: list[bytes]) -> Callable[[], None]:
    """One that connects, answers so often, and ends; returns what waits for its end."""
    here = socket.create_connection((HOST, agent.port))

    def run() -> None:
        with here:
            for answer in answers:
                if here.recv(1):
                    here.sendall(answer)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread.join


def test_each_program_tells_what_it_passed_since_it_was_asked() -> None:
    agent = Agent(dump)
    ends = [
        _program(agent, [_answer(b'{"f.py": [1, 3]}'), _answer(b"{}")]),
        _program(agent, [_answer(b'{"f.py": [2]}'), _answer(b'{"f.py": [9]}')]),
    ]
    assert agent.since() == {FILE: Probes(0b1110, 0)}
    assert agent.since() == {FILE: Probes(1 << 9, 0)}
    for end in ends:
        end()
    assert agent.since() == {}
    agent.close()


def test_one_that_is_gone_or_says_nonsense_is_asked_no_more() -> None:
    agent = Agent(dump)
    good = _program(agent, [_answer(b'{"f.py": [1]}')] * 2)
    bad = [
        _program(agent, [])
        , _program(agent, [_answer(b'{"f.py": ["x"]}')] * 2),
        _program(agent, [_answer(b"[1]")] * 2),
        _program(agent, [_answer(b"[" * 200_000)] * 2),
        _program(agent, [(SIZE + 1).to_bytes(4)] * 2),
        _program(agent, [_answer(b'{"f.py": [1]}')[:-1]]),
    ]  # fmt: skip
    assert agent.since() == {FILE: Probes(2, 0)}
    assert agent.since() == {FILE: Probes(2, 0)}
    agent.close()
    for end in (good, *bad):
        end()


def test_one_that_tells_a_byte_at_a_time_is_not_waited_for_nor_are_others_lost() -> None:
    asked = threading.Semaphore(0)

    def seconds() -> Iterator[float]:
        for second in range(1000):
            asked.release()
            yield float(second)

    agent = Agent(dump, clock=seconds().__next__)
    with socket.create_connection((HOST, agent.port)) as slow:
        answer = _answer(b'{"f.py": [1]}' + b" " * 500)

        def trickle() -> None:
            with contextlib.suppress(OSError):
                for byte in answer:
                    asked.acquire()
                    slow.sendall(bytes((byte,)))

        thread = threading.Thread(target=trickle, daemon=True)
        thread.start()
        good = _program(agent, [_answer(b'{"f.py": [2]}')])
        assert agent.since() == {}
        assert agent.since() == {FILE: Probes(1 << 2, 0)}
        agent.close()
        asked.release(len(answer))
        thread.join()
    good()


def test_news_of_a_process_is_what_no_other_had_passed() -> None:
    passed = PassedProbes()
    first, second = (CountedProcess(Agent(dump), {}, passed) for _ in range(2))
    said = [_answer(b'{"f.py": [1]}')]
    ends = [_program(one._agent, said) for one in (first, second)]
    assert first.news() == ["reached f.py 1"]
    assert second.news() == []
    for one, end in zip((first, second), ends, strict=True):
        end()
        one.close()


ONE, OTHER = Key(1, "a/B"), Key(2, "a/C")


def test_what_nobody_had_passed_is_a_feature_of_who_does_first() -> None:
    passed = PassedProbes()
    assert passed.add({ONE: Probes(0b110, 4)}) == ["reached a/B 1"]
    assert passed.add({ONE: Probes(0b110, 4), OTHER: Probes(0, 4)}) == []
    assert passed.add({ONE: Probes(0b1010, 4), OTHER: Probes(1, 4)}) == [
        "reached a/B 3",
        "reached a/C 0",
    ]
    assert passed.all == {ONE: Probes(0b1110, 4), OTHER: Probes(1, 4)}


def test_what_there_is_no_room_for_is_forgotten_and_said() -> None:
    passed = PassedProbes()
    passed._size = ROOM - 10_000
    assert passed.add({Key(1, "a"): Probes(1, 0)}) == ["reached a 0"]
    assert passed.add({Key(2, "b"): Probes(1 << 9_000, 0)}) == ["reached more than is kept"]
    assert passed.add({Key(1, "a"): Probes(0b11, 0)}) == ["reached a 1"]
    assert list(passed.all) == [Key(1, "a")]


def test_programs_that_there_is_no_room_for_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("barnabas.fuzz.coverage.agent.PROGRAMS", 1)
    agent = Agent(dump)
    ends = [_program(agent, [_answer(b'{"f.py": [%d]}' % line)]) for line in (1, 2)]
    assert agent.since() == {FILE: Probes(1 << 1, 0)}
    ends[0]()
    assert agent.since() == {}
    assert agent.since() == {FILE: Probes(1 << 2, 0)}
    ends[1]()
    agent.close()
