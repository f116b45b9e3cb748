"""`barnabas serve`: the brokers of a capture, for a live client."""

from __future__ import annotations

import os
from pathlib import Path

from barnabas.captures.host_port import endpoint_text
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.tls.keylog import KeyLog
from barnabas.cli.captures.input import bar, only_kafka, opened, read
from barnabas.cli.console.json_text import json_text
from barnabas.cli.console.output import Output
from barnabas.cli.console.until_signal import until_signal
from barnabas.loop import run
from barnabas.peers.recorded.broker import RecordedBroker
from barnabas.plural import plural
from barnabas.trouble import COULD_NOT_RUN, FINDINGS, FINE, Trouble

LIMIT = 1 << 30
"""Bytes of messages that are kept in memory at most."""


def serve(
    path: Path,
    listen: tuple[str, int],
    speed: float,
    keys: KeyLog | None = None,
    output: Output | None = None,
) -> int:
    """Answer until a signal asks it to end; FINDINGS if anything was asked that was never recorded.

    Raises Trouble if it can't start.
    """
    output = output or Output()
    broker = RecordedBroker(_exchanges(path, keys, output), speed=speed, say=output.note)
    if not broker.answers.recorded:
        raise Trouble(f"{path} has no recorded requests", COULD_NOT_RUN)
    return run(_main(broker, listen, output))


def _exchanges(path: Path, keys: KeyLog | None, output: Output) -> list[Exchange]:
    capture = opened(path, keys=keys)
    only_kafka(capture, "serve")
    found: list[Exchange] = []
    size = 0
    for exchange in read(capture, capture.exchanges(bar(output, "reading")), output):
        size += exchange.request_size + (exchange.response_size or 0)
        if size > LIMIT:
            raise Trouble(
                f"{path} holds more than {LIMIT >> 20} MiB of messages: serve a slice "
                "of it (barnabas convert)",
                COULD_NOT_RUN,
            )
        found.append(exchange)
    return sorted(found, key=lambda exchange: exchange.ts)


async def _main(broker: RecordedBroker, listen: tuple[str, int], output: Output) -> int:
    stop = until_signal()
    try:
        await broker.start(listen)
    except OSError as problem:
        why = os.strerror(problem.errno) if problem.errno else str(problem)
        raise Trouble(f"can't listen: {why}; choose another --listen") from None
    ready = {"listen": endpoint_text(broker.listeners[None]), "pid": os.getpid()}
    output.ready(json_text({"ready": ready}))
    output.note(f"{plural(len(broker.answers.recorded), 'recorded exchange')} loaded")
    for node, address in broker.listeners.items():
        if node is not None:
            output.note(f"listening on {endpoint_text(address)} for {node[0]} {node[1]}")
    await stop.wait()
    await broker.stop()
    return _summary(broker, output)


def _summary(broker: RecordedBroker, output: Output) -> int:
    served = broker.served
    said = [
        plural(served.connections, "connection"),
        f"{plural(served.answered.total(), 'request')} answered",
    ]
    said += [f"{count} matched by {how}" for how, count in served.answered.most_common()]
    output.note(", ".join(said))
    left = broker.answers.unused()
    if left:
        said = [f"{count} {api}" for api, count in left.most_common()]
        output.note(f"recorded but not requested: {', '.join(said)}")
    for what, count in served.unknown.most_common():
        output.note(f"requested but not recorded: {what}, {plural(count, 'time')}")
    return FINDINGS if served.unknown else FINE
