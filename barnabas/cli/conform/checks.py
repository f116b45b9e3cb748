"""The checks of `barnabas conform`, and a run of them behind a progress bar."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from contextlib import aclosing
from typing import Final

from barnabas.addresses import parse_servers
from barnabas.captures.host_port import Endpoint
from barnabas.cli.console.output import Output
from barnabas.cli.console.progress import progress_bar
from barnabas.conform.catalog import CHECKS
from barnabas.conform.check import Check
from barnabas.conform.run import CannotRun, Suite
from barnabas.conform.served import SERVED
from barnabas.conform.verdicts import Verdict
from barnabas.peers.ownership import refusal
from barnabas.trouble import COULD_NOT_RUN, Trouble

ALL: Final = (*CHECKS, *SERVED)
"""Every check, those of the declarations last."""

SLOW_S: Final = 10.0
"""After this time, a running check is named in the log."""


def own_address(text: str, owned: bool) -> Endpoint:
    """Return the address of a broker. Raises Trouble if it is on another machine and not owned."""
    [address] = parse_servers(text)[:1]
    if reason := refusal(address[0], "checks write to the broker", owned=owned):
        raise Trouble(reason)
    return address


def run_checks(
    suite: Suite, checks: Sequence[Check], output: Output, add: Callable[[Verdict], None]
) -> None:
    """Run checks behind a progress bar. Raises Trouble if the broker can't be checked."""

    async def run() -> None:
        with progress_bar(output) as progress:
            task = progress.add_task("checks", total=len(checks))
            naming = asyncio.create_task(_name_slow(suite, output))
            try:
                async with aclosing(suite.run(checks)) as verdicts:
                    async for verdict in verdicts:
                        add(verdict)
                        progress.update(task, advance=1, description=_named(suite.running))
            finally:
                naming.cancel()

    try:
        asyncio.run(run())
    except CannotRun as problem:
        raise Trouble(f"can't check the broker: {problem}", COULD_NOT_RUN) from None


def _named(running: Collection[str]) -> str:
    """Return the names of some running checks.

    >>> _named({"fetch/woken"}), _named({"a/b", "a/c", "a/d", "a/e"})
    ('fetch/woken', 'a/b, a/c and 2 more')
    """
    first, more = sorted(running)[:2], len(running) - 2
    return ", ".join(first) + (f" and {more} more" if more > 0 else "")


async def _name_slow(suite: Suite, output: Output) -> None:
    """Print the names of checks that run for long."""
    earlier: set[str] = set()
    while True:
        await asyncio.sleep(SLOW_S)
        slow = sorted(earlier & suite.running)
        if slow:
            output.note(f"running for over {SLOW_S:g} s: {', '.join(slow)}")
        earlier = set(suite.running)
