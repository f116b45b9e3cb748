"""Runs the checks of `barnabas conform` behind a progress bar."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from barnabas.addresses import parse_servers
from barnabas.captures.host_port import Endpoint
from barnabas.cli.console.output import Output
from barnabas.cli.console.progress import counting_bar
from barnabas.conform.check import Check
from barnabas.conform.run import CannotRun, Suite
from barnabas.conform.verdicts import Verdict
from barnabas.peers.ownership import OPTION, is_loopback
from barnabas.trouble import COULD_NOT_RUN, Trouble


def own_address(text: str, own: bool) -> Endpoint:
    """Return the address of a broker. Raises Trouble if it is on another machine and not owned."""
    [address] = parse_servers(text)[:1]
    if not own and not is_loopback(address[0]):
        raise Trouble(
            f"{address[0]} is not this machine, and checks write to the broker: "
            f"if you own it, give {OPTION}"
        )
    return address


def run_checks(
    suite: Suite, checks: Sequence[Check], output: Output, add: Callable[[Verdict], None]
) -> None:
    """Run checks behind a progress bar. Raises Trouble if the broker can't be checked."""

    async def run() -> None:
        with counting_bar(output) as progress:
            task = progress.add_task("checks", total=len(checks))
            async for verdict in suite.run(checks):
                add(verdict)
                progress.advance(task)

    try:
        asyncio.run(run())
    except CannotRun as problem:
        raise Trouble(f"can't check the broker: {problem}", COULD_NOT_RUN) from None
