"""`barnabas proxy`: a proxy in front of a person's own brokers, until Ctrl-C."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from barnabas.addresses import format_address
from barnabas.live import Live
from barnabas.loop import run
from barnabas.output import Output
from barnabas.trouble import FINE, Trouble
from captures.writer import CaptureWriter
from proxy.rules import Rules
from proxy.scenario import Scenario
from proxy.server import Options, Proxy

Log = Literal["pretty", "json", "off"]


@dataclass(frozen=True, slots=True)
class Job:
    """What the command line asked for."""

    options: Options
    scenario: Scenario | None = None
    capture: Path | None = None
    capture_limit: int | None = None
    log: Log = "pretty"
    output: Output = field(default_factory=Output)


def run_proxy(job: Job) -> int:
    """Run until SIGINT or SIGTERM; returns the exit code. Raises Trouble if it can't start."""
    capture = open_capture(job.capture, job.capture_limit, job.scenario)
    try:
        return run(_main(job, capture))
    except KeyboardInterrupt:  # a second Ctrl-C while it drains
        return FINE
    finally:
        if capture is not None:
            capture.close()


def open_capture(
    path: Path | None, limit: int | None, scenario: Scenario | None
) -> CaptureWriter | None:
    """The capture file. Raises Trouble if it can't be written."""
    if path is None:
        return None
    try:
        return CaptureWriter(path, limit=limit, meta={} if scenario is None else scenario.meta())
    except OSError as problem:
        raise Trouble(
            f"can't write the capture {path}: {problem.strerror}; choose another --capture"
        ) from None


async def _main(job: Job, capture: CaptureWriter | None) -> int:
    output = job.output
    rules = Rules(job.scenario)
    live = Live(output.json if job.log == "json" else output.exchange, output.note)
    proxy = Proxy(job.options, rules, capture=capture, done=live.exchange, say=live.line)
    output.flag = proxy.flag
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    try:
        await proxy.start()
    except OSError as problem:
        live.close()
        where = format_address(job.options.listen)
        raise Trouble(
            f"can't listen on {where}: {os.strerror(problem.errno or 0)}; choose another --listen"
        ) from None
    live.flush()  # what is said at the start stands before the ready line
    output.ready(
        json.dumps({"ready": {"listen": format_address(proxy.address), "pid": os.getpid()}})
    )
    await stop.wait()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.remove_signal_handler(number)
    live.line(f"stopping: {proxy.connections} connections drain (Ctrl-C again stops at once)")
    with contextlib.suppress(asyncio.CancelledError):
        await proxy.stop()
    live.close()
    output.summary(proxy, rules, live.lost, capture)
    return FINE
