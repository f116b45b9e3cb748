"""What every client program in Python does: `python lines.py MODULE`, beside which MODULE stands.

It runs in a venv of its own, which has the client and nothing of this project: nothing else is imported.
It begins with a line {"ready": true}. A line in is a session, NUMBER WORKLOAD BOOTSTRAP TOPIC API (that of
the case, or -), or says that nothing more is wanted of it, NUMBER over. A line out is JSON: number, records
(how many were consumed), raised: what left the client, with the names of its class and its bases, the
innermost frames of libraries (file:function), and whether it left a call or ended a thread in the background.
MODULE has a function for each workload of targets/clients/workloads.py, of bootstrap and topic; it returns
the number of records and may be a coroutine, which has a loop of its own. A session in which nothing is wrong
must raise nothing: tests/fuzz/targets/clients/test_healthy.py runs it.
"""

from __future__ import annotations

import asyncio
import faulthandler
import importlib
import json
import os
import queue
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Coroutine
from types import TracebackType
from typing import Any

FRAMES = 6
"""Frames that are told, innermost first."""
SECONDS = 1.0
"""That a session reads for at most: the bench says earlier that it is over."""
JOINING = 0.5
"""And so much longer if it joins a group first."""
RECORDS = 14
"""What the bench's topic has: with these a session has seen all."""

Teller = Callable[[BaseException], dict[str, Any] | None]

_over = threading.Event()
_background: list[dict[str, Any]] = []
_tellers: list[Teller] = []


def say_as(teller: Teller) -> None:
    """Have exceptions of another language told by this, which returns None for all others."""
    _tellers.append(teller)


def wanted(until: float = float("inf")) -> bool:
    """Whether a session is to go on: nobody said that it is over, and it is not so late (time.monotonic)."""
    return not _over.is_set() and time.monotonic() < until


def read(poll: Callable[[], int], more: float = 0.0) -> int:
    """Poll until all records have come, or the session is over; more: seconds beyond SECONDS."""
    records, until = 0, time.monotonic() + SECONDS + more
    while records < RECORDS and wanted(until):
        records += poll()
    return records


async def _watched(session: Coroutine[Any, Any, int]) -> int:
    """Tells of tasks that end by themselves."""

    def ended(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        if problem := context.get("exception"):
            in_background(problem, "task")

    asyncio.get_running_loop().set_exception_handler(ended)
    return await session


def _listen(sessions: queue.SimpleQueue[list[str]]) -> None:
    """Lines in: sessions, an empty one at the end, and which are over."""
    number = ""
    for line in sys.stdin:
        words = line.split()
        if words[1:] == ["over"]:
            if words[0] == number:
                _over.set()
        else:
            number = words[0]
            _over.clear()
            sessions.put(words)
    sessions.put([])


def told(problem: BaseException, where: str) -> dict[str, Any]:
    """What is said of an exception."""
    for teller in _tellers:
        found = teller(problem)
        if found is not None:
            return {**found, "where": where}
    return {
        "class": _name(type(problem)),
        "bases": [_name(base) for base in type(problem).__mro__],
        "message": str(problem)[:500],
        "frames": _frames(problem.__traceback__),
        "where": where,
    }


def in_background(problem: BaseException, where: str) -> None:
    """Something ended that nobody waits for: said with the session in which it is found."""
    _background.append(told(problem, where))


def _name(kind: type) -> str:
    return (
        kind.__qualname__
        if kind.__module__ == "builtins"
        else f"{kind.__module__}.{kind.__qualname__}"
    )


def _frames(trace: TracebackType | None) -> list[str]:
    """Those of libraries, as file:function; of what is ours if there are no others."""
    found = [(frame.filename, frame.name) for frame in reversed(traceback.extract_tb(trace))]
    own = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 (nothing is imported twice)
    theirs = [(file, name) for file, name in found if not file.startswith(own)]
    return [f"{_short(file)}:{name}" for file, name in theirs or found][:FRAMES]


def _short(file: str) -> str:
    """The path below site-packages or the standard library."""
    for place in ("site-packages/", f"python{sys.version_info[0]}.{sys.version_info[1]}/"):
        _, found, rest = file.rpartition(place)
        if found:
            return rest
    return file.rpartition("/")[2]


def main(module: str) -> None:
    """Run sessions until there are no more lines."""
    # what a library prints must not stand between the answers
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    faulthandler.enable()
    faulthandler.register(signal.SIGQUIT, all_threads=True)
    program = importlib.import_module(module)

    def hook(args: Any) -> None:
        if args.exc_value is not None:
            in_background(args.exc_value, "thread")

    threading.excepthook = hook
    sessions: queue.SimpleQueue[list[str]] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(sessions,), daemon=True).start()
    answers.write('{"ready": true}\n')
    answers.flush()
    while session := sessions.get():
        number, workload, bootstrap, topic, _ = session
        records, raised = 0, None
        try:
            found = getattr(program, workload)(bootstrap, topic)
            records = asyncio.run(_watched(found)) if asyncio.iscoroutine(found) else found
        except KeyboardInterrupt:
            return
        except BaseException as problem:  # noqa: BLE001 (whatever leaves the client is said)
            raised = told(problem, "call")
        others = [*_background]
        _background.clear()
        if raised is None and others:
            raised = others.pop(0)
        answers.write(
            json.dumps(
                {"number": int(number), "records": records, "raised": raised, "others": others}
            )
            + "\n"
        )
        answers.flush()


if __name__ == "__main__":
    # the module imports this one by its name: there must be one of it
    sys.modules["lines"] = sys.modules["__main__"]
    main(sys.argv[1])
