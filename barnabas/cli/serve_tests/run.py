"""`barnabas serve-tests`: serves proxies for tests, until Ctrl-C."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from barnabas.addresses import parse_servers
from barnabas.broker_kinds import OFFERS, check_hosts
from barnabas.captures.host_port import endpoint_text
from barnabas.cli.console.json_text import json_text
from barnabas.cli.console.listeners import listening
from barnabas.cli.console.output import Output
from barnabas.cli.console.parsing import parse_offer
from barnabas.cli.console.stop import until_signal
from barnabas.cli.peers.built_in import CHECK_INTERVAL, Running, running
from barnabas.cli.proxy.option_conflicts import refuse_overwriting
from barnabas.cli.proxy.run import allow_descriptors, write_token
from barnabas.cli.proxy.tls_contexts import make_tls
from barnabas.cli.serve_tests.options import ServeTestsOptions
from barnabas.loop import run
from barnabas.page.openapi import described
from barnabas.peers import processes
from barnabas.proxy.control.api import application
from barnabas.proxy.control.guard import new_token
from barnabas.proxy.control.server import serve
from barnabas.proxy.network.options import Options
from barnabas.testing.server.api import routes
from barnabas.testing.server.roster import Roster
from barnabas.trouble import FINE, Trouble

Address = tuple[str, int]


def serve_tests(options: ServeTestsOptions) -> int:
    """Serve until a signal ends it; return the exit code. Raises Trouble if it can't start."""
    output = Output()
    refuse_overwriting({"--token-file": options.token_file}, options.tls.files)
    tls = make_tls(options.tls)
    allow_descriptors()
    with (
        _cluster(options.bootstrap_server, output) as cluster,
        _folder(options.captures) as folder,
    ):
        proxy_options = Options(
            parse_servers(cluster.bootstrap),
            listen=(options.listen[0], 0),
            drain=0.0,
            tls=tls,
            offer=parse_offer(None, OFFERS.get(cluster.kind, ())),
        )
        return run(_main(options, proxy_options, cluster.ended, folder, output))


@contextlib.contextmanager
def _cluster(servers: Sequence[Address] | str, output: Output) -> Iterator[Running]:
    """Yield the cluster behind the proxies, which is started if a kind of brokers is given."""
    if not isinstance(servers, str):
        check_hosts([host for host, _ in servers])
        yield Running(",".join(map(endpoint_text, servers)), "", "", lambda: None)
        return
    with contextlib.ExitStack() as stack:
        try:
            brokers = stack.enter_context(running(servers))
        except Trouble as problem:
            line = f"{problem}; or name a cluster of yours: --bootstrap-server HOST:PORT"
            raise Trouble(line, problem.code) from None
        output.note(brokers.note)
        yield brokers


@contextlib.contextmanager
def _folder(captures: Path | None) -> Iterator[Path]:
    """Yield the folder of captures; a temporary one is removed even if this process is killed."""
    if captures is None:
        with processes.folder() as temporary:
            yield temporary
        return
    try:
        captures.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise Trouble(
            f"can't write to {captures}: {problem.strerror}; choose another --captures"
        ) from None
    yield captures.resolve()


async def _main(
    options: ServeTestsOptions,
    proxy_options: Options,
    cluster_ended: Callable[[], str | None],
    folder: Path,
    output: Output,
) -> int:
    stop = until_signal()
    for line in proxy_options.tls.explain():
        output.note(line)
    keep = options.captures is not None
    roster = Roster(
        proxy_options,
        folder,
        keep,
        options.test_timeout,
        lambda: secrets.token_hex(4),
        cluster_ended,
    )
    token = new_token()
    if options.token_file is not None:
        write_token(options.token_file, token, "--token-file")
    with listening("--listen", options.listen):
        serving = await serve(application(described(routes(roster))), options.listen, token)
    watching = [
        asyncio.create_task(roster.watch()),
        asyncio.create_task(_report_end(cluster_ended, output)),
    ]
    ready: dict[str, Any] = {
        "control": endpoint_text(serving.address),
        "token": token,
        "bootstrap": ",".join(map(endpoint_text, proxy_options.bootstrap)),
        "pid": os.getpid(),
    }
    if proxy_options.tls.trust is not None:
        ready["ca"] = str(proxy_options.tls.trust)
    output.ready(json_text({"ready": ready}))
    await stop.wait()
    for task in watching:
        task.cancel()
    await roster.close()  # first, so that waiting requests get their responses
    await serving.stop()
    return FINE


async def _report_end(cluster_ended: Callable[[], str | None], output: Output) -> None:
    """Wait until the cluster ends by itself, and print how."""
    while True:
        if reason := cluster_ended():
            output.note(f"barnabas: {reason}; restart serve-tests")
            return
        await asyncio.sleep(CHECK_INTERVAL)
