"""Runs mutants in forked processes, several at a time: each has all modules and tests imported already."""

from __future__ import annotations

import os
import resource
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from tests.mutation.code_swap import swap
from tests.mutation.operators import Mutant
from tests.mutation.session import Session, Timed, run

PATIENCE: Final = 10
"""A mutant has so many seconds of CPU, and so many times what its tests take without it."""

WAIT: Final = 6
"""It has so many times as many seconds to end: it may wait for what never comes, or the machine be busy."""

INTERRUPTS: Final = (signal.SIGINT, signal.SIGTERM)

LOOK: Final = 0.005
"""Seconds between two looks for processes that have ended."""

NOT_RUN: Final = 3
"""The exit code of a process whose mutant can't be put in place."""


class Job(NamedTuple):
    """A mutant, and the tests that call its function."""

    mutant: Mutant
    source: str
    tests: Sequence[Timed]


class Outcome(NamedTuple):
    """What came of a mutant: killed, survived, not run, or timed out, which counts as killed; and why."""

    mutant: Mutant
    result: str
    by: str = ""


def outcomes(jobs: Sequence[Job], session: Session, root: Path, at_once: int) -> Iterator[Outcome]:
    """Yield the outcome of each job as it ends.

    Raises:
        KeyboardInterrupt: One of INTERRUPTS has come.
    """
    waiting, running = list(reversed(jobs)), dict[int, tuple[Job, float, int]]()
    # a handler that raises may do so in a hook of os.fork, where exceptions are lost
    interrupts: list[int] = []
    handlers = {
        number: signal.signal(number, lambda number, _: interrupts.append(number))
        for number in INTERRUPTS
    }
    try:
        while waiting or running:
            while waiting and len(running) < at_once:
                job = waiting.pop()
                if not job.tests:
                    yield Outcome(job.mutant, "uncalled")
                    continue
                reading, writing = os.pipe()
                pid = os.fork()
                if pid == 0:
                    os.close(reading)
                    _child(job, session, root, writing)
                os.close(writing)
                running[pid] = job, time.monotonic() + WAIT * _limit(job), reading
            time.sleep(LOOK)
            if interrupts:
                raise KeyboardInterrupt
            for pid, (job, end, reading) in list(running.items()):
                over, status = os.waitpid(pid, os.WNOHANG)
                late = not over and time.monotonic() > end
                if not over and not late:
                    continue
                if late:
                    os.killpg(pid, signal.SIGKILL)
                    os.waitpid(pid, 0)
                with os.fdopen(reading, "rb") as pipe:
                    by = pipe.read().decode()
                del running[pid]
                if late or (os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU):
                    yield Outcome(job.mutant, "timed out")
                elif os.waitstatus_to_exitcode(status) == NOT_RUN:
                    yield Outcome(job.mutant, "not run", by)
                elif os.waitstatus_to_exitcode(status) == 0 and not by:
                    yield Outcome(job.mutant, "survived")
                else:
                    yield Outcome(job.mutant, "killed", by or "the process ended")
    finally:  # also when somebody interrupts
        for pid in running:
            with suppress(ProcessLookupError):  # it has no group yet
                os.kill(pid, signal.SIGKILL)
                os.killpg(pid, signal.SIGKILL)
        for number, handler in handlers.items():
            signal.signal(number, handler)


def _limit(job: Job) -> int:
    return int(PATIENCE * (1 + sum(test.seconds for test in job.tests)))


def _child(job: Job, session: Session, root: Path, writing: int) -> None:
    """Run the tests until one fails, report it, and end the process."""
    code = NOT_RUN
    try:
        os.setsid()
        for number in INTERRUPTS:
            signal.signal(number, signal.default_int_handler)
        resource.setrlimit(resource.RLIMIT_CPU, (_limit(job), _limit(job) + 1))
        null = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(null, descriptor)
        mutant = job.mutant
        file = str(root / mutant.file)
        swap(file, mutant.function, job.source, mutant.applied(job.source))
        code = 0
        items = [test.item for test in job.tests]
        for item, following in zip(items, [*items[1:], None], strict=True):
            run(item, following)
            if session.failures:
                os.write(writing, session.failures[0].encode())
                break
    except BaseException as problem:  # noqa: BLE001 - whatever a mutant does
        os.write(writing, f"outside of tests: {problem!r}".encode()[:200])
    finally:
        os._exit(code)
