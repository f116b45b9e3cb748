"""`barnabas serve-tests`: a server of proxies for tests, until Ctrl-C."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from barnabas.addresses import parse_servers
from barnabas.captures.host_port import endpoint_text
from barnabas.cli.console.json_text import json_text
from barnabas.cli.console.output import Output
from barnabas.cli.proxy.run import write_token
from barnabas.endings import endings
from barnabas.loop import run
from barnabas.page.openapi import described
from barnabas.peers.embedded import EmbeddedCluster, UnavailableError
from barnabas.proxy.control.api import application
from barnabas.proxy.control.guard import new_token
from barnabas.proxy.control.serving import serve
from barnabas.proxy.network.options import Options
from barnabas.proxy.network.tls import Tls
from barnabas.testing.server.api import routes
from barnabas.testing.server.roster import Roster
from barnabas.trouble import COULD_NOT_RUN, FINE, Trouble

Address = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Job:
    """What the command line asked for. bootstrap: None is an embedded cluster."""

    bootstrap: Sequence[Address] | None
    listen: Address
    timeout: float
    captures: Path | None
    token_file: Path | None
    tls: Tls


def serve_tests(job: Job, output: Output | None = None) -> int:
    """Serve until a signal asks it to end. Raises Trouble if it can't start."""
    try:
        with _cluster(job) as bootstrap, _folder(job) as folder:
            return run(_main(job, bootstrap, folder, output or Output()))
    except UnavailableError as problem:
        line = f"{problem}\n(or name a cluster of yours: --bootstrap-server)"
        raise Trouble(line, COULD_NOT_RUN) from None


@contextlib.contextmanager
def _cluster(job: Job) -> Iterator[Sequence[Address]]:
    if job.bootstrap is not None:
        yield job.bootstrap
        return
    with EmbeddedCluster() as cluster:
        yield parse_servers(cluster.bootstrap)


@contextlib.contextmanager
def _folder(job: Job) -> Iterator[Path]:
    if job.captures is None:
        with tempfile.TemporaryDirectory(prefix="barnabas-tests-") as made:
            yield Path(made)
        return
    try:
        job.captures.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise Trouble(
            f"can't write to {job.captures}: {problem.strerror}; choose another --captures"
        ) from None
    yield job.captures.resolve()


async def _main(job: Job, bootstrap: Sequence[Address], folder: Path, output: Output) -> int:
    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    for number in endings():
        loop.add_signal_handler(number, stop.set)
    for line in job.tls.explain():
        output.note(line)
    options = Options(bootstrap, listen=(job.listen[0], 0), drain=0.0, tls=job.tls)
    keep = job.captures is not None
    roster = Roster(options, folder, keep, job.timeout, lambda: secrets.token_hex(4))
    token = new_token()
    if job.token_file is not None:
        write_token(job.token_file, token, "--token-file")
    try:
        serving = await serve(application(described(routes(roster))), job.listen, token)
    except OSError as problem:
        where = endpoint_text(job.listen)
        said = os.strerror(problem.errno or 0)
        raise Trouble(f"can't listen on {where}: {said}; choose another --listen") from None
    watching = loop.create_task(roster.watch())
    ready: dict[str, Any] = {
        "control": endpoint_text(serving.address),
        "token": token,
        "bootstrap": ",".join(map(endpoint_text, bootstrap)),
        "pid": os.getpid(),
    }
    if job.tls.trust is not None:
        ready["ca"] = str(job.tls.trust)
    output.ready(json_text({"ready": ready}))
    await stop.wait()
    watching.cancel()
    await roster.close()  # first: requests that wait are answered then
    await serving.stop()
    return FINE
