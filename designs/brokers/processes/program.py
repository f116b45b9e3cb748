"""The process of a broker: `python -m barnabas.designs.brokers.processes.program OPTIONS`, which are JSON.

It writes one line to stdout, `{"address": [host, port]}` or `{"error": reason}`, and its log to stderr. It
exits at the end of stdin, so it does not outlive its parent.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import resource
import signal
import sys
import threading
from pathlib import Path
from typing import Any

from barnabas.captures.kafka.wording import printable
from barnabas.designs.brokers.listener import call_in
from barnabas.designs.brokers.processes.node import Node
from barnabas.designs.brokers.processes.session import (
    LostDataError,
    UnreachableError,
    leave,
    session,
)
from barnabas.designs.brokers.registry.broker_ids import TakenError


def main() -> None:
    """Run a broker until stdin ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))  # each log is an open file
    sys.exit(asyncio.run(_run(json.loads(sys.argv[1]))))


async def _run(options: dict[str, Any]) -> int:
    from kazoo.exceptions import KazooException

    def say(line: str) -> None:
        with contextlib.suppress(OSError):  # the reader has gone, or its terminal is closed
            print(f"broker {options['node']}: {printable(line)}", file=sys.stderr, flush=True)

    try:
        client = await asyncio.to_thread(session, options["zookeeper"], options["expiry"])
    except UnreachableError as problem:
        return _failed(str(problem))
    node = Node(
        client,
        options["root"],
        options["design"],
        options["node"],
        options["brokers"],
        Path(options["folder"]),
        say,
    )
    try:
        await node.listen(tuple(options["listen"]), 2 * options["expiry"])
    except (OSError, TakenError, KazooException) as problem:
        await asyncio.to_thread(leave, client)
        reason = problem.strerror if isinstance(problem, OSError) else str(problem)
        return _failed(reason or type(problem).__name__)
    print(json.dumps({"address": node.address}), flush=True)
    over = asyncio.Event()
    loop = asyncio.get_running_loop()
    threading.Thread(target=_listen, args=(loop, over), daemon=True).start()
    waits = [asyncio.create_task(event.wait()) for event in (over, node.ended)]
    await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    code = 0 if over.is_set() else 1
    if node.ended.is_set():
        known = isinstance(node.failure, LostDataError | TakenError)
        say(f"ends: {node.failure if known else repr(node.failure)}")
    await node.stop()
    await asyncio.to_thread(leave, client)
    return code


def _listen(loop: asyncio.AbstractEventLoop, over: asyncio.Event) -> None:
    """Wait for the end of stdin."""
    sys.stdin.read()
    call_in(loop, over.set)


def _failed(reason: str) -> int:
    print(json.dumps({"error": reason}), flush=True)
    return 1


if __name__ == "__main__":
    main()
