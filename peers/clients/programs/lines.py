"""What every client program in Python does: `python lines.py NAME`, beside which NAME_sessions.py and
the modules of its workloads stand.

It runs in a venv of its own, which has the client and nothing of this project: nothing else is imported. With
`forks` behind NAME it loads the client and becomes a process of these for each that is wanted (`forking.py`).
Lines are JSON objects. It begins with {"ready": true}. A line in is something to run,

    {"number": 1, "run": "consume", "bootstrap": "h:1", "topic": "t", "api": "Fetch"}
    {"number": 2, "run": "produce", "bootstrap": "h:1", "topic": "t", "work": {"records": 30, ...}}

or says that nothing more is wanted of it, {"number": 1, "over": true}. Without `work` it is a session of the
fuzzer, whose case is of that API: NAME_sessions has functions for those of fuzz/targets/clients/workloads.py,
of bootstrap and topic, which may be coroutines. With it, it is a workload (`workloads.py`) of a `Work`
(`work.py`), which tells events as they happen, a line each (experiments/explore/history.py). Either returns
the number of records consumed. Sessions that are asked for side by side run so, each in a thread. At its end
there is a line with the number, the records, delivered:
the first of them, as `delivered` has them, failed: errors that were given back and not raised, and raised:
what left the client, with the names of its class and its bases, the innermost frames of libraries
(file:function), whether it left a call or ended a thread in the background, and whether it is unsure that it
was this session's.
A session in which nothing is wrong must raise nothing: tests/fuzz/targets/clients/test_healthy.py runs it.
"""

from __future__ import annotations

import asyncio
import faulthandler
import hashlib
import importlib
import json
import os
import queue
import signal
import sys
import threading
import time
from collections.abc import Callable, Coroutine, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import forking
import workloads
from telling import told
from work import Work

SECONDS = 1.0
"""That a session reads for at most: the bench says earlier that it is over."""
JOINING = 0.5
"""And so much longer if it joins a group first."""
KEPT = 64
"""Records and errors of a session that are told."""
SHORT = 64
"""Bytes of a key or a value that are told; more of them by a digest."""
POLLING = 0.02
BEAT = 200
"""Milliseconds between two heartbeats of who stays in a group: far more than between two polls."""
RECORDS = 14
"""What the bench's topic has: with these a session has seen all."""


class _Session:
    """One that runs: what it was given, and whether it is to go on."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.over = threading.Event()
        self.delivered: list[list[Any]] = []
        self.failed: list[str] = []
        self.background: list[dict[str, Any]] = []


_running: dict[int, _Session] = {}
_left: list[dict[str, Any]] = []
"""What ended in the background while no session ran."""
_NONE = _Session(-1)
_MOST = 64
"""Sessions side by side."""


def _here() -> _Session:
    """The session of this thread: each has that of the thread that made it."""
    found: _Session = getattr(threading.current_thread(), "session", _NONE)
    return found


def here() -> int:
    """The number of the session of this thread."""
    return _here().number


def wanted(until: float = float("inf")) -> bool:
    """Whether a session is to go on: nobody said that it is over, and it is not so late (time.monotonic)."""
    return not _here().over.is_set() and time.monotonic() < until


def read(poll: Callable[[float], int], more: float = 0.0) -> int:
    """Poll, for POLLING seconds each, until all records have come, or the session is over; what is there then
    is taken, too. more: seconds beyond SECONDS."""
    records, until = 0, time.monotonic() + SECONDS + more
    while records < RECORDS:
        last = not wanted(until)
        found = poll(0.0 if last else POLLING)
        records += found
        if last and not found:
            break
    return records


def delivered(
    partition: int,
    offset: int,
    timestamp: int | None,
    key: bytes | None,
    value: bytes | None,
    headers: Iterable[tuple[str, bytes | None]] | None,
) -> None:
    """A record of a session was given to the application. timestamp: in ms; None or negative: it has none."""
    kept = _here().delivered
    if len(kept) < KEPT:
        when = -1 if timestamp is None or timestamp < 0 else timestamp
        named = [[name, _shown(one)] for name, one in headers or ()]
        kept.append([partition, offset, when, _shown(key), _shown(value), named])


def _shown(data: bytes | None) -> str | None:
    if data is None or len(data) <= SHORT:
        return None if data is None else data.hex()
    return f"{len(data)} bytes {hashlib.sha256(data).hexdigest()}"


def failed(error: str) -> None:
    """A session was given an error, by its name, in the place of what it asked for."""
    if len(_here().failed) < KEPT:
        _here().failed.append(error)


async def watched(session: Coroutine[Any, Any, int]) -> int:
    """Await a coroutine, and tell of tasks beside it that end by themselves."""

    def ended(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        if problem := context.get("exception"):
            in_background(problem, "task", here())

    asyncio.get_running_loop().set_exception_handler(ended)
    return await session


def _listen(asked: queue.SimpleQueue[dict[str, Any]]) -> None:
    """Lines in: what to run, nothing at the end, and what is over."""
    for line in sys.stdin:
        found = json.loads(line)
        if found.get("over"):
            if found["number"] in _running:
                _running[found["number"]].over.set()
        else:
            _running[found["number"]] = _Session(found["number"])
            asked.put(found)
    asked.put({})


def in_background(problem: BaseException, where: str, number: int = -1) -> None:
    """Something ended that nobody waits for: said with the session of that number, if it runs, else with each
    that does, or with the next."""
    one = told(problem, where)
    mine = [_running[number]] if number in _running else [*_running.values()]
    if len(mine) > 1:
        one["unsure"] = True
    for kept in [session.background for session in mine] or [_left]:
        kept.append(one)


def _session(name: str, wanted: str) -> Callable[[str, str], Any] | None:
    """None: the library has none such."""
    module = importlib.import_module(f"{name}_sessions")
    return getattr(module, wanted.replace("-", "_"), None)


_make = threading.Thread.__init__


def _made(self: threading.Thread, *arguments: Any, **named: Any) -> None:
    """A thread that knows its session."""
    _make(self, *arguments, **named)
    self.session = _here()  # type: ignore[attr-defined]


def _ended_thread(args: Any) -> None:
    """Something was raised in a thread: see `threading.excepthook`."""
    if args.exc_value is not None:
        in_background(args.exc_value, "thread", getattr(args.thread, "session", _NONE).number)


class _Program:
    """The program of a library: runs what it is asked for, and answers."""

    def __init__(self, name: str) -> None:
        self._name = name
        # what a library prints must not stand between the answers
        self._answers = os.fdopen(os.dup(1), "w")
        os.dup2(2, 1)
        self._speaking = threading.Lock()

    def say(self, line: dict[str, Any]) -> None:
        """Print a line."""
        with self._speaking:
            self._answers.write(json.dumps(line) + "\n")
            self._answers.flush()

    def run(self, asked: dict[str, Any]) -> None:
        """Run a session or a workload, and say what came of it."""
        mine = _running[asked["number"]]
        threading.current_thread().session = mine  # type: ignore[attr-defined]
        records, raised = 0, None
        try:
            records = self._records(asked)
        except KeyboardInterrupt:
            raise
        except BaseException as problem:  # noqa: BLE001 (whatever leaves the client is said)
            raised = told(problem, "call")
        del _running[asked["number"]]
        others = [*mine.background, *_left]
        _left.clear()
        seen = {"delivered": mine.delivered, "failed": mine.failed} if "work" not in asked else {}
        if raised is None and others:
            raised = others.pop(0)
        line = {"number": asked["number"], "records": records, "raised": raised, "others": others}
        self.say({**line, **seen})

    def _records(self, asked: dict[str, Any]) -> int:
        if "work" in asked:
            return workloads.find(self._name, asked["run"])(Work(asked, self.say))
        session = _session(self._name, asked["run"])
        found = session(asked["bootstrap"], asked["topic"]) if session else 0
        return asyncio.run(watched(found)) if asyncio.iscoroutine(found) else found


def main(name: str, *how: str) -> None:
    """Run what is asked for until there are no more lines. how: "forks", for each process that is wanted."""
    if how:
        importlib.import_module(f"{name}_sessions")
        if not forking.fork():
            return
    program = _Program(name)
    faulthandler.enable()
    faulthandler.register(signal.SIGQUIT, all_threads=True)
    threading.excepthook = _ended_thread
    threading.Thread.__init__ = _made  # type: ignore[method-assign]
    asked: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(asked,), daemon=True).start()
    program.say({"ready": True})
    with ThreadPoolExecutor(_MOST) as threads:
        while one := asked.get():
            if "work" not in one:
                threads.submit(program.run, one)
                continue
            try:
                program.run(one)
            except KeyboardInterrupt:
                return


if __name__ == "__main__":
    # the modules import this one by its name: there must be one of it
    sys.modules["lines"] = sys.modules["__main__"]
    main(*sys.argv[1:])
