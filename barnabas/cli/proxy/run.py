"""`barnabas proxy`: runs a proxy in front of the user's brokers, until Ctrl-C."""

from __future__ import annotations

import asyncio
import contextlib
import os
import resource
import secrets
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from barnabas.captures.files import private
from barnabas.captures.host_port import endpoint_text
from barnabas.captures.writing.writer import CaptureWriter
from barnabas.cli.console.extras import needs
from barnabas.cli.console.json_text import json_text
from barnabas.cli.console.listeners import listening
from barnabas.cli.console.stop import until_signal
from barnabas.cli.proxy.job import Job
from barnabas.cli.proxy.log_process import LogProcess
from barnabas.cli.proxy.options import CaptureOptions
from barnabas.cli.proxy.traffic import Streams, Traffic, in_this_process, in_workers
from barnabas.loop import run
from barnabas.peers.ownership import is_loopback
from barnabas.plural import plural
from barnabas.proxy.network.clock import clock
from barnabas.proxy.rules.rules import Rules
from barnabas.stop_signals import ignore_signals, stop_signals
from barnabas.trouble import FINE, Trouble

if TYPE_CHECKING:
    from starlette.types import ASGIApp

ENOUGH: Final = 1 << 20
"""The most descriptors of a process: Linux's default limit (fs.nr_open)."""


def run_proxy(job: Job) -> int:
    """Run until a signal ends it; return the exit code. Raises Trouble if it can't start."""
    if job.control.address is not None:
        check(job.control.address, job.control.option)
    allow_descriptors()
    rules = Rules(job.scenario)
    rules.began = clock()
    meta = {"masked": job.options.masking.kinds, **rules.meta()}
    capture = open_capture(job.capture, meta)
    # forks, which must happen before the event loop starts
    streams = Streams(job, meta, capture)
    live = LogProcess(job.output, streams.log, job.log.log, job.otlp)
    try:
        return run(_main(job, rules, streams, live))
    except KeyboardInterrupt:  # a second Ctrl-C while it drains
        return FINE
    finally:
        if capture is not None:
            capture.close()


def allow_descriptors() -> None:
    """Raise the limit of file descriptors of this process and its workers: a connection needs two."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = ENOUGH if hard == resource.RLIM_INFINITY else min(hard, ENOUGH)
    if soft != resource.RLIM_INFINITY and soft < most:
        with contextlib.suppress(OSError, ValueError):  # a system that allows less than its limit
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def open_capture(options: CaptureOptions, meta: dict[str, Any]) -> CaptureWriter | None:
    """Open the capture, a file or a folder of segments. Raises Trouble if it can't be written."""
    path = options.capture
    if path is None:
        return None
    if options.rotation is None and os.path.isdir(path):  # noqa: PTH112 - also where a name is too long
        raise Trouble(f"{path} is a folder: give --rotate 256MiB, too, to write segments into it")
    try:
        return CaptureWriter(
            path,
            limit=options.capture_limit,
            meta=meta,
            rotation=options.rotation,
            capture=secrets.token_hex(8),
        )
    except OSError as problem:
        raise Trouble(
            f"can't write the capture {path}: {problem.strerror}; choose another --capture"
        ) from None


async def _main(job: Job, rules: Rules, streams: Streams, live: LogProcess) -> int:
    output, stream = job.output, streams.log
    make = in_workers if job.supervised else in_this_process
    traffic = make(job, rules, streams)
    proxy, target, history, _, follower = traffic
    loop = asyncio.get_running_loop()
    live.attach(loop, proxy.note)
    stop, heard = until_signal(), stop_signals()
    async with contextlib.AsyncExitStack() as at_end:
        at_end.callback(live.close)
        ready: dict[str, Any] = {}
        if job.control.address is not None:
            ready = await at_end.enter_async_context(control_port(job, traffic, stop.set, live))
        with listening("--listen", job.options.listen):
            await proxy.start()
        ready = {"listen": endpoint_text(proxy.address), "pid": os.getpid(), **ready}
        if job.scenario_file is not None:
            watching = loop.create_task(
                job.scenario_file.watch(
                    lambda scenario: target.replace(scenario, "its file"), stream.line
                )
            )
            at_end.callback(watching.cancel)
        live.flush()  # print the first notes before the ready line
        output.ready(json_text({"ready": ready}))
        job.began(ready["listen"])
        if "page" in ready:
            output.note(f"page: {ready['page']}")
        await stop.wait()
        for number in heard:
            loop.add_signal_handler(number, proxy.hurry)
        proxy.stop_listening()  # before the note
        stream.line(
            f"stopping: {plural(proxy.open, 'connection')} to drain (Ctrl-C again stops at once)"
        )
        await proxy.stop()
        ignore_signals(loop, heard)  # the summary is still to be printed
        if follower is not None:
            follower.close()
        report = await target.report()
        history.close()
    if follower is None:
        for key, name, count in live.told.get("errors", ()):
            report.tally.error(key, name, count)
    output.summary(report, live.remarks(report.tally.total), live.told.get("undecoded", 0))
    return FINE


def check(address: tuple[str, int], option: str) -> None:
    """Raise Trouble if the address of an option is not on loopback, or its packages are missing."""
    with needs(option, "control"):
        from barnabas.proxy.control import api, server  # noqa: F401
    if not is_loopback(address[0]):
        endpoint = endpoint_text(address)
        raise Trouble(f"{option} {endpoint}: only loopback addresses are allowed, e.g. 127.0.0.1:0")


@contextlib.asynccontextmanager
async def control_port(
    job: Job, traffic: Traffic, drain: Callable[[], None], live: LogProcess
) -> AsyncIterator[dict[str, str]]:
    """Serve the control port, and yield its values for the ready line.

    Raises:
        Trouble: It can't be served.
    """
    from barnabas.page.openapi import described
    from barnabas.proxy.control import api
    from barnabas.proxy.control.guard import new_token
    from barnabas.proxy.control.server import serve

    control, address = job.control, job.control.address
    assert address is not None  # noqa: S101
    _, target, history, topics, _ = traffic
    token, free = new_token(), None
    if control.control_token_file is not None:
        write_token(control.control_token_file, token, "--control-token-file")
    spans = live.dropped_spans
    steering = api.routes(target, history, topics, drain, live.lost, spans)
    app: ASGIApp = api.application(described(steering))
    if control.page is not None:
        from barnabas.cli.proxy.web import paged
        from barnabas.page.api import is_file

        free = is_file
        app = paged(job, control.page, traffic, steering)
    with listening(control.option, address):
        serving = await serve(app, address, token, free)
    try:
        endpoint = endpoint_text(serving.address)
        values = {"control": endpoint, "token": token}
        page = {} if control.web is None else {"page": f"http://{endpoint}/#token={token}"}
        yield {**values, **page}
    finally:
        await serving.stop()


def write_token(path: Path, token: str, option: str) -> None:
    """Write the token to a file that only its owner can read. Raises Trouble, naming the option."""
    if os.path.exists(path) and not path.is_file():  # noqa: PTH110 - also where a name is too long
        raise Trouble(f"{option} {path}: not a regular file; choose another")
    try:
        private.replace(path, f"{token}\n".encode())
    except OSError as problem:
        raise Trouble(
            f"can't write the token to {path}: {problem.strerror}; choose another {option}"
        ) from None
