"""The proxy of a job, in one process or in several, and the streams between the processes."""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from barnabas.captures.live.capture_ring import CapturePump, CaptureRingSink
from barnabas.captures.live.lock import RecordLock
from barnabas.captures.live.ring import SIZE, Ring
from barnabas.captures.live.sink import RingSink
from barnabas.captures.live.writer import RingWriter
from barnabas.captures.writing.writer import CaptureWriter, head
from barnabas.cli.proxy.job import Job
from barnabas.cli.proxy.log_stream import LogStream
from barnabas.cli.proxy.options import Log
from barnabas.proxy.control.history import BYTES, MOST, History
from barnabas.proxy.control.live_history import LiveHistory
from barnabas.proxy.control.local_target import LocalTarget
from barnabas.proxy.control.target import Target
from barnabas.proxy.network.server import Proxy
from barnabas.proxy.network.surroundings import Outputs, Surroundings
from barnabas.proxy.rules.rules import Rules
from barnabas.proxy.workers.supervisor import Supervisor, WorkerPlan
from barnabas.proxy.workers.worker import WorkerContext

SHOWN: Final = 16 << 20
"""The most bytes that wait for control port and page; what exceeds them is lost and counted."""

PAGE: Final = 32 << 20
"""The most bytes of bodies that the page holds."""


class Traffic(NamedTuple):
    """A proxy, the target that steers it, and the exchanges that the control port shows."""

    proxy: Proxy | Supervisor
    target: Target
    history: History
    topics: Mapping[uuid.UUID, str]
    """Names of topics by id, for these exchanges."""
    follower: LiveHistory | None = None
    """Reads these exchanges from a stream, if workers carry the traffic."""


class Streams:
    """The rings between processes, made before any process is forked. meta: The metadata of the capture."""

    def __init__(self, job: Job, meta: dict[str, Any], capture: CaptureWriter | None) -> None:
        self.capture = capture
        self._job = job
        self._meta = meta
        self._locks = [RecordLock() for _ in range(3)] if job.supervised else [None, None, None]
        sizes = (SIZE, SHOWN, SIZE)
        logs, controls, captures = map(Ring, sizes, self._locks)
        self.log = LogStream(logs, meta, job.log.log_wait)
        self.controls, self.captures = controls, captures

    @property
    def keep(self) -> list[int]:
        """Return the descriptors that a worker needs."""
        locks = [lock.descriptor for lock in self._locks if lock is not None]
        return [*locks, *self.log.ring.writing, *self.controls.writing, *self.captures.writing]

    def control(self) -> RingSink:
        """Return the control port's stream, as one process writes it."""
        return RingSink(self.controls, lambda: head(self._meta))

    def of_worker(self, log: LogStream) -> list[RingWriter]:
        """Return the streams that a worker writes."""
        writers = [log.writer] if self._job.log.followed else []
        if self.capture is not None:
            writers.append(RingWriter(CaptureRingSink(self.captures)))
        if self._job.control.address is not None:
            writers.append(RingWriter(self.control()))
        return writers


def in_this_process(job: Job, rules: Rules, streams: Streams) -> Traffic:
    """Make a proxy whose connections are in this process."""
    history = History(lambda observed: proxy.observe(observed))
    proxy = Proxy(
        job.options,
        rules,
        Outputs(
            capture=streams.capture,
            streams=[streams.log.writer] if job.log.followed else [],
            done=history.add,
            say=streams.log.line,
        ),
        Surroundings(topics=job.topics),
    )
    streams.log.attach(proxy.wait)
    return Traffic(proxy, LocalTarget(proxy), history, job.topics)


def in_workers(job: Job, rules: Rules, streams: Streams) -> Traffic:
    """Make a proxy whose connections are in worker processes."""

    def make(setup: WorkerContext) -> Proxy:
        log = LogStream(streams.log.ring, streams.log.meta, job.log.log_wait)
        proxy = Proxy(
            dataclasses.replace(job.options, observed=False),
            setup.rules,
            Outputs(streams=streams.of_worker(log), say=log.line, changed=setup.changed),
            Surroundings(topics=job.topics, topology=setup.topology, ordinal=setup.ordinal),
        )
        log.attach(proxy.wait)
        return proxy

    capture = streams.capture
    supervisor = Supervisor(
        job.options,
        rules,
        WorkerPlan(
            make=make,
            count=job.workers,
            keep=streams.keep,
            observed=lambda: not streams.controls.idle,
        ),
        say=streams.log.line,
        capture=None if capture is None else CapturePump(streams.captures, capture),
    )
    if job.control.address is None:
        streams.controls.idle = True
        return Traffic(supervisor, supervisor, History(), job.topics)
    control, page = streams.control(), job.control.page
    always = job.log.log != Log.off or page is not None
    control.rest(not always)
    history = History(
        lambda observed: control.rest(not (observed or always)),
        most=page or MOST,
        bytes_=BYTES if page is None else PAGE,
    )
    follower = LiveHistory(streams.controls, history, supervisor.shown)
    return Traffic(supervisor, supervisor, history, history.context.topics, follower)
