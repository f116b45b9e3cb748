"""The worker processes: forked, called, and replaced when they end."""

from __future__ import annotations

import asyncio
import math
import os
import signal
import socket
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing import Pipe
from typing import Any, Final

from barnabas.forking import fork
from barnabas.plural import plural
from barnabas.proxy.control.target import Refused
from barnabas.proxy.network.listeners import Client
from barnabas.proxy.network.report import Report, ended, merged
from barnabas.proxy.workers import handover, supervisor_requests
from barnabas.proxy.workers.channel import Caller, WorkerEnded
from barnabas.proxy.workers.loads import Loads
from barnabas.proxy.workers.worker import Channels

AGAIN: Final = 1.0
"""Seconds until a worker that has ended is replaced."""

PATIENCE: Final = 2.0
"""Seconds that a worker gets to report, and to end."""

_LOOK: Final = 0.01
"""Seconds between two looks whether a worker has ended."""


@dataclass(eq=False, slots=True)
class _Process:
    pid: int
    ends: Channels
    caller: Caller
    latest_report: Report | None = None
    """The worker's latest report."""
    silent: bool = False
    """Whether the worker did not answer the latest request for a report."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hooks:
    """The functions that workers run, and those that their pool calls."""

    work: Callable[[int, Channels, Loads], None]
    """Runs a worker in its process."""
    answers: Mapping[str, Callable[..., Any]]
    """The functions that respond to workers' requests, by name."""
    begun: Callable[[Caller], None]
    """Receives each worker that was forked."""
    lost: Callable[[int], None]
    """Receives the number of connections of a worker that has ended."""
    say: Callable[[str], None]
    """Receives lines for the person who runs the proxy."""


class Pool:
    """The worker processes. Made within a running loop, to which all methods belong."""

    def __init__(self, workers: int, keep: Sequence[int], hooks: Hooks) -> None:
        """Fork the workers; `keep` are descriptors that they need in addition to their own."""
        self.loads = Loads(workers)
        self._keep = keep
        self._hooks = hooks
        self._say = hooks.say
        self._processes: list[_Process | None] = [None] * workers
        self._ended_reports = Report()
        """The sum of the reports of workers that have ended."""
        self._ending = False
        self._tasks: set[asyncio.Task[None]] = set()
        self._loop = asyncio.get_running_loop()
        for worker in range(workers):
            self._fork(worker)

    @property
    def callers(self) -> list[Caller]:
        """Return the callers of the present workers."""
        return [process.caller for process in self._processes if process is not None]

    @property
    def reports(self) -> list[Report]:
        """Return the latest report of each worker, and the sum of those that have ended."""
        latest = [process.latest_report for process in self._processes if process is not None]
        return [self._ended_reports, *filter(None, latest)]

    @property
    def silent(self) -> tuple[int, ...]:
        """Return the numbers of the workers that did not answer at the last look, from 1."""
        return tuple(
            number
            for number, process in enumerate(self._processes, 1)
            if process is not None and process.silent
        )

    def keep(self, rules: frozenset[str]) -> None:
        """Drop the counts of ended workers for all rules but these."""
        retained = tuple(rule for rule in self._ended_reports.rules if rule.name in rules)
        self._ended_reports = replace(self._ended_reports, rules=retained)

    async def all(self, name: str, *args: Any, patience: float = PATIENCE) -> list[Any]:
        """Call a method of each worker, at once or as soon as the worker continues.

        Returns:
            The results; None for a worker that does not answer within some seconds or fails, which is
            reported.
        """
        return await asyncio.gather(
            *(
                self._answered(worker, process.caller.call(name, *args), name, patience)
                for worker, process in enumerate(self._processes)
                if process
            )
        )

    async def ask(self, name: str, *args: Any) -> tuple[list[Any], list[int]]:
        """Call a method of each worker that must be carried out now or never.

        Returns:
            The results, with LookupError or Refused if a method raises it, and the numbers of the workers
            that do not answer or fail. A worker that has ended has no result.
        """
        answers, silent = [], []

        async def one(number: int, caller: Caller) -> None:
            try:
                answers.append(await caller.call(name, *args, within=PATIENCE))
            except (LookupError, Refused) as problem:
                answers.append(problem)
            except TimeoutError:
                silent.append(number)
            except WorkerEnded:
                pass
            except Exception as problem:  # noqa: BLE001 - whatever it is costs this call
                self._say(f"worker {number} failed ({name}): {problem!r}")
                silent.append(number)

        await asyncio.gather(
            *(one(number, each.caller) for number, each in enumerate(self._processes, 1) if each)
        )
        return answers, sorted(silent)

    async def one(self, name: str, *args: Any) -> Any:
        """Call a method of one present worker, as `all` does; None if there is none."""
        for worker, process in enumerate(self._processes):
            if process:
                call = process.caller.call(name, *args)
                return await self._answered(worker, call, name, PATIENCE)
        return None

    async def _answered(
        self, worker: int, call: Coroutine[Any, Any, Any], name: str, patience: float
    ) -> Any:
        try:
            async with asyncio.timeout(patience):
                return await call
        except WorkerEnded:
            return None
        except Exception as problem:  # noqa: BLE001 - whatever it is costs this call
            late = isinstance(problem, TimeoutError)
            reason = f"no answer in {patience:g} s" if late else repr(problem)
            self._say(f"worker {worker + 1} failed to do {name}: {reason}")
            return None

    async def look(self) -> None:
        """Ask all workers for their reports."""
        await asyncio.gather(*map(self._look, filter(None, self._processes)))

    async def _look(self, process: _Process) -> None:
        try:
            process.latest_report = await process.caller.call("report", within=PATIENCE)
            process.silent = False
        except TimeoutError:
            process.silent = True
        except WorkerEnded:
            pass

    def begin(self, call: Coroutine[Any, Any, Any]) -> None:
        """Start a call whose result nobody waits for."""

        async def unless_gone() -> None:
            with suppress(WorkerEnded):
                await call

        task = self._loop.create_task(unless_gone())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def hand(self, client: Client, alone: bool) -> bool:
        """Hand a client to the worker with the fewest connections that has room, or to the first alone."""
        workers = range(1 if alone else len(self._processes))
        for worker in sorted(workers, key=self.loads.of):
            process = self._processes[worker]
            if process is None:
                continue
            with suppress(OSError):  # it is about to be dead
                if handover.hand(process.ends.clients, client):
                    self.loads.handed(worker)
                    return True
        return False

    async def stop(self, patience: float) -> None:
        """Let all workers drain within some seconds, and end."""
        self._ending = True
        await self.all("drain", patience=patience + PATIENCE)
        await self.look()
        for process in filter(None, self._processes):
            self._release(process)
            await process.caller.close()
            await _ended(process.pid)

    def _fork(self, worker: int) -> None:
        if self._ending:
            return
        pairs = handover.link(), Pipe(), socket.socketpair()
        ours, theirs = (Channels(*pair) for pair in zip(*pairs, strict=True))
        main = partial(self._hooks.work, worker, theirs, self.loads)
        try:
            pid = fork(main, [*self._keep, *theirs.descriptors], f"worker {worker + 1}")
        except OSError as problem:
            self._say(f"worker {worker + 1} can't be started: {problem.strerror}; trying again")
            for end in (*ours, *theirs):
                end.close()
            self._loop.call_later(AGAIN, self._fork, worker)
            return
        for end in theirs:
            end.close()
        caller = Caller(ours.calls, partial(self._worker_ended, worker))
        process = self._processes[worker] = _Process(pid, ours, caller)
        self._loop.add_reader(ours.requests, self._answer, process)
        self._hooks.begun(caller)

    def _answer(self, process: _Process) -> None:
        if not supervisor_requests.respond(process.ends.requests, self._hooks.answers):
            self._loop.remove_reader(process.ends.requests)

    def _release(self, process: _Process) -> None:
        self._loop.remove_reader(process.ends.requests)
        process.ends.clients.close()
        process.ends.requests.close()

    def _worker_ended(self, worker: int) -> None:
        process, self._processes[worker] = self._processes[worker], None
        assert process is not None  # noqa: S101 - who says so
        self._release(process)
        code = os.waitstatus_to_exitcode(os.waitpid(process.pid, 0)[1])
        if process.latest_report is not None:
            self._ended_reports = merged(ended(process.latest_report), [self._ended_reports])
        lost = self.loads.forget(worker)
        self._hooks.lost(lost)
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        again = "" if self._ending else " and is replaced"
        self._say(
            f"worker {worker + 1} ended ({how}){again}: {plural(lost, 'connection')} lost with it"
        )
        if not self._ending:
            self._loop.call_later(AGAIN, self._fork, worker)


async def _ended(pid: int) -> None:
    """Wait for a worker that must end, and kill it after some seconds."""
    loop = asyncio.get_running_loop()
    until = loop.time() + PATIENCE
    while not os.waitpid(pid, os.WNOHANG)[0]:  # noqa: ASYNC222 - it does not wait
        if loop.time() > until:
            os.kill(pid, signal.SIGKILL)
            until = math.inf
        await asyncio.sleep(_LOOK)
