"""`barnabas proxy --tls-passthrough`: bytes from clients to brokers and back, until Ctrl-C."""

from __future__ import annotations

import os
from collections.abc import Sequence

from barnabas.addresses import parse_servers
from barnabas.captures.host_port import endpoint_text
from barnabas.cli.console.json_text import json_text
from barnabas.cli.console.output import Output
from barnabas.cli.console.until_signal import until_signal
from barnabas.cli.proxy.mistakes import refuse_circle
from barnabas.loop import run
from barnabas.plural import plural
from barnabas.proxy.edits.topology import Address
from barnabas.proxy.network.passthrough import Passthrough, Route
from barnabas.trouble import FINE, Trouble


def run_passthrough(brokers: Sequence[Address], listen: str) -> int:
    """Run until a signal asks it to end; returns the exit code. Raises Trouble if it can't start.

    listen: a listener for each broker, in order.
    """
    listeners = parse_servers(listen, zero=True)
    if len(listeners) != len(brokers):
        raise Trouble(
            f"--tls-passthrough needs a listener for each broker: {len(brokers)} in "
            f"--bootstrap-server, {len(listeners)} in --listen HOST:PORT[,...]"
        )
    for listener in listeners:
        refuse_circle(listener, brokers)
    return run(_main([Route(*pair) for pair in zip(listeners, brokers, strict=True)]))


async def _main(found: Sequence[Route]) -> int:
    output = Output()
    passthrough = Passthrough(found, say=output.note)
    stop = until_signal()
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
