"""The main program of every Python client: `python lines.py NAME`.

NAME_sessions.py and the modules of the workloads stand beside it. It runs in a venv of its own, which has the
client and nothing of this project. With `forks` after NAME it loads the client and forks a process for each
request (`forking.py`).

Lines are JSON objects. The first output is {"ready": true}. An input line is a task,

    {"number": 1, "run": "consume", "bootstrap": "h:1", "topic": "t", "api": "Fetch"}
    {"number": 2, "run": "produce", "bootstrap": "h:1", "topic": "t", "work": {"records": 30, ...}}

or ends one, {"number": 1, "over": true}. A task without `work` is a session of the fuzzer, whose case is of
that API: NAME_sessions has functions for the sessions of fuzz/targets/clients/workloads.py, with arguments
bootstrap and topic, which may be coroutines. A task with `work` is a workload (`workloads.py`) with a `Work`
(`work.py`), which reports events as they happen, a line each (experiments/explore/history.py). Both return
the number of records consumed. Sessions run concurrently, each in a thread. At the end of a task there is a
line with

- number: of the task, and records: the number of records,
- delivered: the first records, as `delivered` has them,
- failed: errors that the client returned and did not raise,
- raised: the exception that left the client: class and bases, the innermost frames of libraries
(file:function), whether it left a call or ended a thread in the background, and whether it may be another
session's.

A session without a fault must raise nothing: tests/fuzz/targets/clients/test_healthy.py runs it.
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
from exceptions import describe_exception
from work import Work

SECONDS = 1.0
"""The longest that a session reads, in seconds: the bench usually ends it earlier."""
JOINING = 0.5
"""Additional seconds for a session that joins a group first."""
KEPT = 64
"""Records and errors of a session to report."""
SHORT = 64
"""Bytes of a key or a value to report; longer ones are reported by a digest."""
POLLING = 0.02
BEAT = 200
"""Milliseconds between two heartbeats of a member that stays: far more than between two polls."""
RECORDS = 14
"""The records in the bench's topic: a session that has read them is finished."""


class _Session:
    """A running session or workload: its number, its observations, and whether it is to end."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.over = threading.Event()
        self.delivered: list[list[Any]] = []
        self.failed: list[str] = []
        self.background: list[dict[str, Any]] = []


_running: dict[int, _Session] = {}
_left: list[dict[str, Any]] = []
"""Exceptions in the background while no session ran."""
_NONE = _Session(-1)
_MOST = 64
"""Sessions side by side."""


def _here() -> _Session:
    """Return the session of this thread; each thread inherits it from the thread that created it."""
    session: _Session = getattr(threading.current_thread(), "session", _NONE)
    return session


def here() -> int:
    """Return the number of this thread's session."""
    return _here().number


def wanted(until: float = float("inf")) -> bool:
    """Return whether the session is to continue: it is not over, and `until` (time.monotonic) not past."""
    return not _here().over.is_set() and time.monotonic() < until


def read(poll: Callable[[float], int], more: float = 0.0) -> int:
    """Poll until all records have arrived or the session is over, and return the number of records.

    After the end, records that are available at once are still taken. more: seconds beyond SECONDS.
    """
    records, until = 0, time.monotonic() + SECONDS + more
    while records < RECORDS:
        last = not wanted(until)
        polled = poll(0.0 if last else POLLING)
        records += polled
        if last and not polled:
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
    """Report a record that the application received. timestamp: in ms; None or negative: none."""
    records = _here().delivered
    if len(records) < KEPT:
        when = -1 if timestamp is None or timestamp < 0 else timestamp
        named = [[name, _as_text(header)] for name, header in headers or ()]
        records.append([partition, offset, when, _as_text(key), _as_text(value), named])


def _as_text(data: bytes | None) -> str | None:
    if data is None or len(data) <= SHORT:
        return None if data is None else data.hex()
    return f"{len(data)} bytes {hashlib.sha256(data).hexdigest()}"


def failed(error: str) -> None:
    """Report the name of an error that the client returned instead of a result."""
    if len(_here().failed) < KEPT:
        _here().failed.append(error)


async def watched(session: Coroutine[Any, Any, int]) -> int:
    """Await a coroutine, and report other tasks that end with an exception."""

    def ended(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        if problem := context.get("exception"):
            in_background(problem, "task", here())

    asyncio.get_running_loop().set_exception_handler(ended)
    return await session


def _listen(tasks: queue.SimpleQueue[dict[str, Any]]) -> None:
    """Read lines: queue tasks, mark sessions as over, and queue {} at the end."""
    for line in sys.stdin:
        task = json.loads(line)
        if task.get("over"):
            if task["number"] in _running:
                _running[task["number"]].over.set()
        else:
            _running[task["number"]] = _Session(task["number"])
            tasks.put(task)
    tasks.put({})


def in_background(problem: BaseException, where: str, number: int = -1) -> None:
    """Report an exception that ended a thread or task in the background.

    It counts for session `number` if that runs, else for each running session, else for the next one.
    """
    description = describe_exception(problem, where)
    mine = [_running[number]] if number in _running else [*_running.values()]
    if len(mine) > 1:
        description["unsure"] = True
    for background in [session.background for session in mine] or [_left]:
        background.append(description)


def _session(name: str, session: str) -> Callable[[str, str], Any] | None:
    """Return a session's function; None if the library does not have the session."""
    module = importlib.import_module(f"{name}_sessions")
    return getattr(module, session.replace("-", "_"), None)


_original_init = threading.Thread.__init__


def _new_thread(self: threading.Thread, *arguments: Any, **named: Any) -> None:
    """Create a thread that knows its session."""
    _original_init(self, *arguments, **named)
    self.session = _here()  # type: ignore[attr-defined]


def _ended_thread(args: Any) -> None:
    """Report an exception that ended a thread: see `threading.excepthook`."""
    if args.exc_value is not None:
        in_background(args.exc_value, "thread", getattr(args.thread, "session", _NONE).number)


class _Program:
    """The program of a library: runs tasks and reports their results."""

    def __init__(self, name: str) -> None:
        self._name = name
        # the library's output must not stand between the results
        self._answers = os.fdopen(os.dup(1), "w")
        os.dup2(2, 1)
        self._speaking = threading.Lock()

    def say(self, line: dict[str, Any]) -> None:
        """Print a line."""
        with self._speaking:
            self._answers.write(json.dumps(line) + "\n")
            self._answers.flush()

    def run(self, task: dict[str, Any]) -> None:
        """Run a session or a workload, and report its result."""
        current = _running[task["number"]]
        threading.current_thread().session = current  # type: ignore[attr-defined]
        records, raised = 0, None
        try:
            records = self._records(task)
        except KeyboardInterrupt:
            raise
        except BaseException as problem:  # noqa: BLE001 (whatever leaves the client is said)
            raised = describe_exception(problem, "call")
        del _running[task["number"]]
        others = [*current.background, *_left]
        _left.clear()
        observed = (
            {"delivered": current.delivered, "failed": current.failed} if "work" not in task else {}
        )
        if raised is None and others:
            raised = others.pop(0)
        line = {"number": task["number"], "records": records, "raised": raised, "others": others}
        self.say({**line, **observed})

    def _records(self, task: dict[str, Any]) -> int:
        if "work" in task:
            return workloads.find(self._name, task["run"])(Work(task, self.say))
        session = _session(self._name, task["run"])
        result = session(task["bootstrap"], task["topic"]) if session else 0
        return asyncio.run(watched(result)) if asyncio.iscoroutine(result) else result


def main(name: str, *options: str) -> None:
    """Run tasks until there are no more lines. options: "forks", to run them in forked processes."""
    if options:
        importlib.import_module(f"{name}_sessions")
        if not forking.fork():
            return
    program = _Program(name)
    faulthandler.enable()
    faulthandler.register(signal.SIGQUIT, all_threads=True)
    threading.excepthook = _ended_thread
    threading.Thread.__init__ = _new_thread  # type: ignore[method-assign]
    tasks: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(tasks,), daemon=True).start()
    program.say({"ready": True})
    with ThreadPoolExecutor(_MOST) as threads:
        while task := tasks.get():
            if "work" not in task:
                threads.submit(program.run, task)
                continue
            try:
                program.run(task)
            except KeyboardInterrupt:
                return


if __name__ == "__main__":
    # the modules import this one by its name: there must be one of it
    sys.modules["lines"] = sys.modules["__main__"]
    main(*sys.argv[1:])
