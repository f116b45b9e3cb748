"""What the tests of drafts' peers behind a proxy share: the proxy, and its rules."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import NamedTuple

from barnabas.captures.host_port import endpoint_text
from barnabas.designs.brokers.listener import Address
from barnabas.harness import Harness
from barnabas.proxy.faults import FAULTS
from barnabas.proxy.network.options import Options
from barnabas.proxy.network.server import Proxy
from barnabas.proxy.rules.rules import Rules
from barnabas.proxy.scenario.file import Scenario, loads
from tests.proxy.faults.examples import EXAMPLES

APPLY = {name for name, model, *_ in FAULTS if not getattr(model, "only_kafka", False)}
"""The faults that a draft's messages can have."""


class Case(NamedTuple):
    """Rules as pairs of what they match and do, each fires so often; they come when all is well."""

    rules: tuple[tuple[str, str], ...]
    times: int = 1
    kept: bool | None = False
    """Nobody is lost: everybody goes on where it was. None: that may be, or not."""
    said: str = ""
    """The error that is told."""

    @property
    def faults(self) -> set[str]:
        """Their names."""
        return {do.strip("{").split(":")[0].split(",")[0].strip("} ") for _, do in self.rules}


def with_all_faults(cases: dict[str, Case], match: str) -> dict[str, Case]:
    """These, and one for each fault that they lack."""
    had = {name for case in cases.values() for name in case.faults}
    return cases | {
        name: Case(((match, json.dumps({name: EXAMPLES[name].settings})),), kept=None)
        for name in sorted(APPLY - had)
    }


def scenario(dialect: str, case: Case = Case(())) -> Scenario:  # noqa: B008 - a tuple
    """A case's rules in their order, or none."""
    rules = []
    for at, (match, do) in enumerate(case.rules):
        when = f"{{times: {case.times}, scope: rule}}"
        rules.append(f"  - {{name: r{at}, match: {{{match}}}, when: {when}, do: {do}}}\n")
    return loads(
        f"version: 1\ndialect: {dialect}\nrules:{'' if rules else ' []'}\n" + "".join(rules)
    )


@contextlib.asynccontextmanager
async def between(brokers: Iterable[Address], dialect: str) -> AsyncIterator[Proxy]:
    """A proxy in front of brokers, without rules as yet."""
    proxy = Proxy(Options(tuple(brokers), drain=0.1), Rules(scenario(dialect)))
    await proxy.start()
    try:
        yield proxy
    finally:
        await proxy.stop()


@contextlib.asynccontextmanager
async def captured(
    brokers: Iterable[Address], scenario: str, capture: Path
) -> AsyncIterator[Harness]:
    """A proxy in a thread of its own, and what it captures."""
    proxy = Harness(
        ",".join(map(endpoint_text, brokers)), scenario=loads(scenario), capture=capture
    )
    await asyncio.to_thread(proxy.__enter__)
    try:
        yield proxy
    finally:
        await asyncio.to_thread(proxy.__exit__, None, None, None)


def fired(proxy: Proxy) -> bool:
    """Whether each rule has, at least once."""
    return all(rule.fired for rule in proxy.rules.rules)
