"""`barnabas proxy --toxiproxy`: runs the proxies that clients of toxiproxy's API make, until Ctrl-C."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import json
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from barnabas.captures.host_port import endpoint_text
from barnabas.captures.kafka.wording import printable, shorten
from barnabas.captures.summary.api_stats import ApiStats
from barnabas.captures.writing.writer import CaptureWriter
from barnabas.cli.console.extras import needs
from barnabas.cli.console.json_text import json_text
from barnabas.cli.console.listeners import listening
from barnabas.cli.console.output import Output
from barnabas.cli.console.stop import until_signal
from barnabas.cli.proxy.job import Job
from barnabas.cli.proxy.log_process import LogProcess
from barnabas.cli.proxy.run import allow_descriptors, open_capture
from barnabas.cli.proxy.traffic import Streams
from barnabas.loop import run
from barnabas.peers.ownership import is_loopback
from barnabas.proxy.connection.totals import Totals
from barnabas.proxy.edits.topology import Address
from barnabas.proxy.network.capture_watch import say_closed, watch
from barnabas.proxy.network.clock import clock
from barnabas.proxy.network.report import Report
from barnabas.proxy.network.server import Proxy
from barnabas.proxy.network.surroundings import Outputs, Surroundings
from barnabas.proxy.rules.rules import Rules
from barnabas.stop_signals import ignore_signals, stop_signals
from barnabas.trouble import FINE, Trouble, os_errors

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from barnabas.proxy.toxiproxy.store import Store

NAME: Final = 40
"""The most characters of a proxy's name at the beginning of its notes."""

FIRST: Final = "kafka"
"""The name of the first proxy, if a bootstrap server is given."""


def run_toxiproxy(job: Job, address: Address, config: Path | None) -> int:
    """Run until a signal ends it.

    Args:
        job: Its bootstrap server, if there is one, is the upstream of the first proxy.
        address: The address of the API.
        config: A file with the first proxies, as for toxiproxy-server's -config.

    Returns:
        The exit code.

    Raises:
        Trouble: It can't start.
    """
    with needs("--toxiproxy", "control"):
        import barnabas.proxy.toxiproxy.api  # noqa: F401
    body = _populating(job, config)
    allow_descriptors()
    meta = {"masked": job.options.masking.kinds, **Rules(job.scenario).meta()}
    capture = open_capture(job.capture, meta)
    streams = Streams(job, meta, capture)  # before the event loop starts: the log process is forked
    live = LogProcess(job.output, streams.log, job.log.log, job.otlp)
    try:
        return run(_main(job, address, body, streams, live))
    except KeyboardInterrupt:  # a second Ctrl-C
        return FINE
    finally:
        if capture is not None:
            capture.close()


def _populating(job: Job, config: Path | None) -> bytes | None:
    """Return the JSON of the first proxies; None: there are none. Raises Trouble for an unreadable file."""
    from barnabas.proxy.toxiproxy.api import LONGEST

    if config is not None:
        with os_errors(f"can't read --toxiproxy-config {config}"), config.open("rb") as file:
            body = file.read(LONGEST + 1)
        if len(body) > LONGEST:
            raise Trouble(f"--toxiproxy-config {config}: longer than {LONGEST >> 20} MiB")
        return body
    if not job.options.bootstrap:
        return None
    listen, upstream = map(endpoint_text, (job.options.listen, job.options.bootstrap[0]))
    return json.dumps([{"name": FIRST, "listen": listen, "upstream": upstream}]).encode()


async def _main(
    job: Job, address: Address, body: bytes | None, streams: Streams, live: LogProcess
) -> int:
    from barnabas.proxy.toxiproxy.api import application
    from barnabas.proxy.toxiproxy.guard import guard

    loop, stream, output = asyncio.get_running_loop(), streams.log, job.output
    totals, tally = Totals(), ApiStats()
    store = _store(job, streams, totals, tally)

    def waits(paused: bool) -> None:
        for each in store.proxies.values():
            each.wait(paused)

    def note(comment: dict[str, Any]) -> None:
        if streams.capture is not None:
            streams.capture.note(clock(), comment)

    stream.attach(waits)
    live.attach(loop, note)
    stop, heard = until_signal(), stop_signals()
    if streams.capture is not None:
        watch(streams.capture, loop, stream.line)
    for line in job.options.explain():
        stream.line(line)
    async with contextlib.AsyncExitStack() as at_end:
        at_end.callback(live.close)
        at_end.push_async_callback(store.end)  # after the API has stopped
        app = guard(application(store), any_host=not is_loopback(address[0]))
        endpoint = await at_end.enter_async_context(_serving(app, address))
        if body is not None:
            await _populate(store, body)
        live.flush()
        ready = {"toxiproxy": endpoint, "pid": os.getpid()}
        output.ready(json_text({"ready": ready}))
        output.note(
            f"toxiproxy's API: http://{endpoint}, without a token: "
            "whoever reaches it can listen on this machine's ports, and connect from it"
        )
        await stop.wait()
        stream.line("stopping")
        ignore_signals(loop, heard)
    _summarize(output, streams.capture, live, totals, tally)
    return FINE


def _summarize(
    output: Output,
    capture: CaptureWriter | None,
    live: LogProcess,
    totals: Totals,
    tally: ApiStats,
) -> None:
    """Close the capture, and print the closing tables."""
    report = Report(tally, totals, capture=None if capture is None else capture.state)
    if capture is not None:
        capture.close()
        say_closed(capture, output.note)
    for key, name, count in live.told.get("errors", ()):
        tally.error(key, name, count)
    output.summary(report, live.remarks(tally.total), live.told.get("undecoded", 0))


async def _populate(store: Store, body: bytes) -> None:
    """Make the first proxies. Raises Trouble for one that can't be made."""
    done, problem = await store.populate(body)
    if problem is not None:
        raise Trouble(f"can't create proxy {len(done) + 1} of the config: {problem}")


def _store(job: Job, streams: Streams, totals: Totals, tally: ApiStats) -> Store:
    """Return the store of proxies, which all write to the same streams."""
    from barnabas.proxy.control.scenario_edits import EMPTY
    from barnabas.proxy.toxiproxy.api_proxy import ApiProxy
    from barnabas.proxy.toxiproxy.store import Store

    scenario = EMPTY if job.scenario is None else job.scenario.meta()["scenario"]
    writers = [streams.log.writer] if job.log.followed else []
    capture = [] if streams.capture is None else [streams.capture]

    def make(proxied: ApiProxy, listen: Address) -> Proxy:
        name = shorten(printable(proxied.name), NAME)
        rules = Rules(proxied.rules())
        rules.began = clock()
        return Proxy(
            dataclasses.replace(job.options, bootstrap=[proxied.target], listen=listen),
            rules,
            Outputs(
                streams=[*capture, *writers],
                say=lambda line: streams.log.line(f"{name}: {line}"),
            ),
            Surroundings(
                topics=job.topics,
                totals=totals,
                tally=tally,
                elsewhere=lambda node: store.elsewhere(proxied, node),
                neighbours=lambda: store.listeners(),
                layer=proxied.layer,
            ),
        )

    def new(name: str, listen: str, upstream: str) -> ApiProxy:
        return ApiProxy(name, listen, upstream, make, scenario, job.options.faults)

    store = Store(new)
    return store


@contextlib.asynccontextmanager
async def _serving(app: ASGIApp, address: Address) -> AsyncIterator[str]:
    """Serve the API, and yield its address. Raises Trouble if it can't be served."""
    from barnabas.proxy.control.server import serve_guarded

    with listening("--toxiproxy HOST:PORT", address):
        serving = await serve_guarded(lambda _: app, address)
    try:
        yield endpoint_text(serving.address)
    finally:
        await serving.stop()
