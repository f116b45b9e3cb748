"""`barnabas proxy --tls-passthrough`: forwards bytes between clients and brokers, until Ctrl-C."""

from __future__ import annotations

import os
from collections.abc import Sequence

from barnabas.addresses import parse_servers
from barnabas.captures.host_port import endpoint_text
from barnabas.cli.console.json_text import json_text
from barnabas.cli.console.listeners import listening
from barnabas.cli.console.output import Output
from barnabas.cli.console.stop import until_signal
from barnabas.cli.proxy.option_conflicts import refuse_circle
from barnabas.loop import run
from barnabas.plural import plural
from barnabas.proxy.edits.topology import Address
from barnabas.proxy.network.passthrough import Passthrough, Route
from barnabas.trouble import FINE, Trouble


def run_passthrough(brokers: Sequence[Address], listen: str) -> int:
    """Run until a signal ends it; return the exit code. Raises Trouble if it can't start.

    listen: A listener for each broker, in order.
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


async def _main(routes: Sequence[Route]) -> int:
    output = Output()
    passthrough = Passthrough(routes, say=output.note)
    stop = until_signal()
    with listening("--listen"):
        await passthrough.start()
    listeners = [endpoint_text(address) for address in passthrough.listening]
    ready = {"listen": listeners[0], "listeners": listeners, "pid": os.getpid()}
    output.ready(json_text({"ready": ready}))
    await stop.wait()
    await passthrough.stop()
    up, down = passthrough.bytes.values()
    output.note(
        f"{plural(passthrough.connections, 'connection')}; {plural(up, 'byte')} from clients, "
        f"{down} from brokers"
    )
    return FINE
