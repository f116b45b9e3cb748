"""A process and its log, with programs that are no JVMs."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from barnabas.peers.apache.errors import BootError
from barnabas.peers.apache.jvm import Jvm

Start = Callable[..., Jvm]


@pytest.fixture
def made(tmp_path: Path) -> Start:
    """What makes a process of a command or a shell script, which has not been started."""

    def make(text: str | list[str]) -> Jvm:
        line = ["sh", "-c", text] if isinstance(text, str) else text
        return Jvm("it", line, tmp_path / "log.txt")

    return make


@pytest.fixture
def started(made: Start) -> Start:
    """The same for one that runs, once it has said something."""

    def start(text: str | list[str], until: str = "") -> Jvm:
        jvm = made(text)
        jvm.start()
        wait_for(jvm, until)
        return jvm

    return start


SLEEPS = "exec sleep 600"
DEAF = "trap '' TERM; echo deaf; while :; do sleep 1; done"


def wait_for(jvm: Jvm, text: str) -> None:
    while text not in jvm.output():
        assert jvm.pid is not None


@pytest.mark.parametrize(("text", "patience"), [(SLEEPS, 10), (SLEEPS, 0), (DEAF, 0.2), (DEAF, 0)])
def test_it_ends_when_asked_or_when_made_to(text: str, patience: float, started: Start) -> None:
    jvm = started(text, "deaf" if text is DEAF else "")
    pid = jvm.pid
    assert pid is not None
    jvm.end(patience)
    assert jvm.pid is None
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    jvm.end(patience)  # and once more does no harm


def test_one_that_is_paused_ends_when_asked(started: Start) -> None:
    jvm = started("trap 'echo bye; exit' TERM; echo up; while :; do sleep 0.01; done", "up")
    jvm.signal(signal.SIGSTOP)
    assert jvm.pid is not None
    jvm.end(20)
    assert jvm.output().endswith("bye\n")  # a shell may tell of its child first


def test_it_is_started_once_at_a_time_and_again_after_its_end(started: Start) -> None:
    jvm = started("echo $$; exec sleep 600")
    first = jvm.pid
    wait_for(jvm, f"{first}\n")
    with pytest.raises(RuntimeError, match="it is running already"):
        jvm.start()
    jvm.end()
    jvm.start()
    wait_for(jvm, f"{jvm.pid}\n")
    assert jvm.output() == f"{jvm.pid}\n"  # only what it said since
    assert jvm.log.read_text() == f"{first}\n{jvm.pid}\n"
    jvm.end()


def test_it_may_end_at_the_first_signal(started: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is over, and known to be, before the next one is sent."""
    jvm = started(SLEEPS)
    send = os.killpg

    def killpg(pid: int, number: int) -> None:
        send(pid, number)
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        assert jvm.pid is None

    monkeypatch.setattr(os, "killpg", killpg)
    jvm.end(10)
    assert jvm.pid is None


def test_it_is_asked_for_its_threads(started: Start) -> None:
    code = (
        "import signal; say = lambda *_: print('a thread\\nJNI global refs: 1', flush=True)\n"
        "signal.signal(signal.SIGQUIT, say); print('before', flush=True)\nwhile True: signal.pause()"
    )
    jvm = started([sys.executable, "-c", code], "before")
    for _ in range(2):  # each time what is new
        assert jvm.threads(30.0) == "a thread\nJNI global refs: 1\n"
    jvm.end()
    with pytest.raises(RuntimeError, match="it is not running"):
        jvm.threads()


def test_one_that_fails_says_why(made: Start) -> None:
    text = (
        "for i in $(seq 50); do echo line $i; done; printf '\\tat x\\n\\t... 3 more\\n' >&2; exit 3"
    )
    jvm = made(text)
    with pytest.raises(BootError) as caught:
        jvm.run(10)
    told = str(caught.value).splitlines()
    assert told[0] == "it ended with exit code 3; its log ends"
    assert told[1:] == [f"  line {i}" for i in range(39, 51)]
    assert caught.value.output.startswith("line 1\n")
    assert "\tat x" in caught.value.output


def test_one_that_takes_too_long_is_ended(made: Start) -> None:
    jvm = made(SLEEPS)
    with pytest.raises(BootError, match="it did not end within 0 s; it said nothing"):
        jvm.run(0.05)
    assert jvm.pid is None
