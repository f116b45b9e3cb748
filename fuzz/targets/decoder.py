"""A decoder as a target: a function that may return, or raise what it documents, and nothing else."""

from __future__ import annotations

import resource
import signal
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, Final, Self

from barnabas.fuzz.cases.case import Case, Role
from barnabas.fuzz.cases.observation import Observation

LIMIT_S: Final = 10.0
"""Seconds of this process's processor time after which a call is ended, if signals are available. A busy
machine does not make a decoder slow."""

FRAMES: Final = 4
"""Innermost frames of an exception that are reported."""

Reads = Callable[[Case], Mapping[str, Any]]
"""Reads a case and returns facts for oracles. Raises what it documents."""


class GaveUp(BaseException):
    """A call used more than LIMIT_S."""


class DecoderTarget:
    """Runs a function in this process.

    documented: the exceptions that it may raise.
    """

    role: Role = "decoder"
    at_once = 200

    def __init__(self, name: str, reads: Reads, documented: tuple[type[Exception], ...]) -> None:
        self.name = name
        self._reads = reads
        self._documented = documented

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        pass

    def run(self, cases: Sequence[Case]) -> Iterator[Observation]:
        """Read each case."""
        for case in cases:
            yield self._run(case)

    def _run(self, case: Case) -> Observation:
        facts: dict[str, Any] = {}
        raised = ""
        before = _highest()
        began = time.thread_time()
        try:
            with _limited():
                facts.update(self._reads(case))
        except self._documented as problem:
            facts["refused"] = type(problem).__name__
        except GaveUp as problem:
            raised = described(problem)
        except Exception as problem:  # noqa: BLE001 - what else it raises is what is looked for
            raised = described(problem)
        took = (time.thread_time() - began) * 1000
        return Observation(
            case,
            sent=case.chunks,
            took_ms=took,
            raised=raised,
            rss=(before, _highest()),
            facts=tuple(sorted(facts.items())),
        )


def described(problem: BaseException) -> str:
    r"""Return an exception and its frames, the innermost first: `class: message\n file:function\n ...`."""
    frames = traceback.extract_tb(problem.__traceback__)[-FRAMES:][::-1]
    lines = [f" {Path(frame.filename).name}:{frame.name}" for frame in frames]
    return "\n".join([f"{type(problem).__name__}: {problem}", *lines])


def _highest() -> int:
    """Return the peak memory of this process in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


@contextmanager
def _limited() -> Iterator[None]:
    """End a call that takes too long; only the main thread can be interrupted."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def give_up(number: int, frame: FrameType | None) -> None:
        raise GaveUp(f"no result within {LIMIT_S:.0f} s of processor time")

    before = signal.signal(signal.SIGPROF, give_up)
    signal.setitimer(signal.ITIMER_PROF, LIMIT_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
