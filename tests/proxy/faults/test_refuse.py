from __future__ import annotations

import asyncio
import contextlib

import pytest

from barnabas.proxy.rules.rules import Rules
from barnabas.proxy.scenario.file import ScenarioError, loads
from tests.proxy.faults.given import Examples
from tests.proxy.frames import request
from tests.proxy.servers import SOON, echo_metadata, read_frame, running

EXAMPLES = Examples({})


@pytest.mark.parametrize(
    ("how", "seen"), [("reset", ConnectionResetError), ("close", None), ("hang", None)]
)
async def test_the_second_client_is_turned_away(how: str, seen: type[Exception] | None) -> None:
    do = f"{{refuse: {{how: {how}, at_most: 50ms}}}}"
    scenario = f"version: 1\nrules: [{{name: r, when: {{skip: 1, times: 1}}, do: {do}}}]"

    async with running(echo_metadata, scenario) as it:
        for number in range(3):
            reader, writer = await it.connect()
            if number == 1:
                with pytest.raises(seen) if seen else contextlib.nullcontext():
                    assert await asyncio.wait_for(reader.read(), SOON) == b""
            else:
                writer.write(request("Metadata", number))
                assert await asyncio.wait_for(read_frame(reader), SOON)
            writer.close()
        assert it.proxy.totals.rejected == 1
        assert any(f"refused by a rule ({how})" in line for line in it.said)


def test_attempts_are_counted_for_each_broker() -> None:
    rules = Rules(loads("version: 1\nrules: [{name: r, match: {broker: 2}, do: refuse}]"))
    found = [rules.connecting(broker, 0, 0) is not None for broker in (2, 1, None)]
    assert found == [True, False, False]
    assert rules.rule("r").fired == 1


@pytest.mark.parametrize(
    "rule", ["match: {api: Fetch}, do: refuse", "do: [refuse, close]", "do: [close, refuse]"]
)
def test_a_rule_about_messages_is_another(rule: str) -> None:
    with pytest.raises(ScenarioError, match="refuse applies to connections"):
        loads(f"version: 1\nrules: [{{name: r, {rule}}}]")
