"""`barnabas proxy --tls-passthrough`: bytes from clients to brokers and back, until Ctrl-C."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence

from barnabas.addresses import parse_servers
from barnabas.captures.host_port import endpoint_text
from barnabas.cli.console.json_text import json_text
from barnabas.cli.console.output import Output
from barnabas.cli.proxy.mistakes import refuse_circle
from barnabas.endings import endings
from barnabas.loop import run
from barnabas.plural import plural
from barnabas.proxy.network.passthrough import Passthrough, Route
from barnabas.trouble import FINE, Trouble


def routes(bootstrap: str, listen: str) -> list[Route]:
    """A listener for each broker, in order. Raises Trouble if there are more of one kind."""
    brokers = parse_servers(bootstrap)
    listeners = parse_servers(listen, zero=True)
    if len(listeners) != len(brokers):
        raise Trouble(
            f"--tls-passthrough needs a listener for each broker: {len(brokers)} in "
            f"--bootstrap-server, {len(listeners)} in --listen HOST:PORT[,...]"
        )
    for listener in listeners:
        refuse_circle(listener, brokers)
    return [Route(*pair) for pair in zip(listeners, brokers, strict=True)]


def run_passthrough(found: Sequence[Route]) -> int:
    """Run until a signal asks it to end; returns the exit code. Raises Trouble if it can't start."""
    return run(_main(found))


async def _main(found: Sequence[Route]) -> int:
    output = Output()
    passthrough = Passthrough(found, say=output.note)
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    for number in endings():
        loop.add_signal_handler(number, stop.set)
    try:
        await passthrough.start()
    except OSError as problem:
        why = os.strerror(problem.errno) if problem.errno else str(problem)
        raise Trouble(f"can't listen: {why}; choose another --listen") from None
    listening = [endpoint_text(address) for address in passthrough.listening]
    ready = {"listen": listening[0], "listeners": listening, "pid": os.getpid()}
    output.ready(json_text({"ready": ready}))
    await stop.wait()
    await passthrough.stop()
    up, down = passthrough.bytes.values()
    output.note(
        f"{plural(passthrough.connections, 'connection')}; {plural(up, 'byte')} from clients, "
        f"{down} from brokers"
    )
    return FINE
