"""What steers a proxy of this process, without HTTP."""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Awaitable, Callable

import pytest

from barnabas.proxy.control.local import LocalTarget
from barnabas.proxy.control.target import Refused
from barnabas.proxy.scenario.file import loads
from tests.proxy.playbook import request
from tests.proxy.servers import SOON, echo_metadata, read_frame, running

NEVER = "{name: cut, match: {api: Metadata}, when: {probability: 0}, do: close}"


async def test_it_shows_what_the_proxy_is() -> None:
    async with running(echo_metadata, f"version: 1\nrules: [{NEVER}]") as it:
        target = LocalTarget(it.proxy)
        assert target.options is it.proxy.options
        assert target.address == it.proxy.address
        assert target.scenario is it.proxy.rules.scenario
        await it.metadata()
        found = await target.report()
        assert (found.totals.connections, found.tally.total) == (1, 1)
        assert [rule.name for rule in found.rules] == ["cut"]


async def test_a_connection_is_shown_as_it_is_after_each_command_and_before_its_end() -> None:
    slow = "version: 1\nrules: [{name: slow, match: {api: Fetch}, do: {delay: 1h}}]"
    async with running(echo_metadata, slow) as it:
        target = LocalTarget(it.proxy)
        reader, writer = await it.connect()
        await it.until(lambda: it.proxy.relays)
        with pytest.raises(Refused, match="connection 1 is not paused: pause it first"):
            await target.step(1, "request")
        assert (await target.pause(1))["paused"] is True
        writer.write(request("Metadata", 1))
        assert (await target.step(1, "request"))["paused"] is True
        await it.until(lambda: it.proxy.relays[1].connection.state.ingress["request"].frames)
        assert (await target.resume(1))["paused"] is False
        await asyncio.wait_for(read_frame(reader), SOON)
        writer.write(request("Fetch", 2))
        await it.until(lambda: it.proxy.rules.rules[0].fired)
        assert (await target.close(1))["request"]["queued"] == 1
        assert (await target.report()).connections == ()
        writer.close()


async def test_what_is_not_there_can_not_be_steered() -> None:
    async with running(echo_metadata) as it:
        target = LocalTarget(it.proxy)
        commands: list[Callable[[int], Awaitable[object]]] = [
            target.pause,
            target.resume,
            target.close,
            lambda number: target.step(number, "request"),
        ]
        for command in commands:
            with pytest.raises(LookupError):
                await command(1)
        for tell in (target.fire, target.release):
            with pytest.raises(LookupError):
                await tell("cut")


async def test_rules_are_fired_and_replaced() -> None:
    async with running(echo_metadata, f"version: 1\nrules: [{NEVER}]") as it:
        target = LocalTarget(it.proxy)
        await target.fire("cut")
        assert [rule.forced for rule in (await target.report()).rules] == [1]
        other = loads("version: 1\nrules: [{name: other, do: close}]")
        await target.replace(other, "somebody")
        assert target.scenario is other
        assert it.said[-1].startswith("scenario: replaced by somebody: 1 rule, 0 unchanged")


def test_a_refusal_is_the_same_in_another_process() -> None:
    found = pickle.loads(pickle.dumps(Refused("no room")))
    assert isinstance(found, Refused)
    assert str(found) == "no room"
