"""What can be asked of the rules of a proxy with real traffic."""

from __future__ import annotations

import asyncio
from pathlib import Path
from urllib.parse import quote

import pytest

from barnabas.proxy.control.local_target import LocalTarget
from barnabas.proxy.control.target import Refused
from barnabas.proxy.scenario.file import Scenario, loads
from tests.proxy.control.desk import desk
from tests.proxy.control.test_api import SLOW, scenario
from tests.proxy.frames import request
from tests.proxy.servers import SOON, read_frame

HOLD = "{name: held, match: {api: Metadata}, do: {hold: {until: {api: Fetch}, at_most: 1h}}}"


async def test_without_a_scenario_there_is_an_empty_one() -> None:
    text = "version: 1\nrules: []\n"
    async with desk() as it:
        found = await it.get("/scenario")
        assert found == {"text": text, "seed": 0, "rules": [], "missing_workers": []}
        assert (await it.ask("PUT", "/scenario", text.encode())).status == 200


async def test_replacing_it_lets_go_what_was_held_and_is_said_and_captured(tmp_path: Path) -> None:
    async with desk(scenario(SLOW), capture=tmp_path / "c.pcapng") as it:
        async with it.client() as (reader, writer):
            writer.write(request("Metadata", 1))
            await it.it.until(lambda: it.it.proxy.rules.rules[0].fired)
            text = scenario("{name: other, do: close, match: {api: Fetch}}")
            answer = await it.ask("PUT", "/scenario", text.encode())
            assert answer.status == 200
            assert answer.json["text"] == text
            assert (await asyncio.wait_for(read_frame(reader), SOON))[3] == 1
        said = "scenario: replaced by the control port: 1 rule, 0 unchanged"
        assert said in it.it.said
    written = (tmp_path / "c.pcapng").read_bytes()
    assert written.count(b'"barnabas":"scenario","by":"the control port"') == 1
    assert written.count(b"name: other") == 1


async def test_a_rule_more_and_a_rule_less() -> None:
    async with desk(scenario(SLOW)) as it:
        slow = it.it.proxy.rules.rules[0]
        added = await it.ask("POST", "/scenario/rules", HOLD.encode())
        assert [rule["name"] for rule in added.json["rules"]] == ["slow", "held"]
        assert it.it.proxy.rules.rules[0] is slow, "its counters go on"
        left = await it.ask("DELETE", "/scenario/rules/slow")
        assert [rule["name"] for rule in left.json["rules"]] == ["held"]
        assert left.json["seed"] == 5


@pytest.mark.parametrize("name", ["x/fire", "ümlaut 50%", "?#"])
async def test_rules_have_any_name(name: str) -> None:
    async with desk() as it:
        rule = f"name: {name!r}\ndo: close\n"
        assert (await it.ask("POST", "/scenario/rules", rule.encode())).status == 200
        path = f"/scenario/rules/{quote(name, safe='')}"
        assert (await it.ask("POST", f"{path}/fire")).json["to_fire"] == 1
        assert (await it.ask("DELETE", path)).json["rules"] == []


@pytest.mark.parametrize(("method", "path"), [("PUT", ""), ("POST", "/rules")])
async def test_rules_that_can_not_hold_now_are_a_conflict(
    method: str, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(*_: object) -> None:
        raise Refused("connections are open: close them first")

    monkeypatch.setattr(LocalTarget, "replace", refuse)

    async with desk(scenario(SLOW)) as it:
        body = HOLD if path else scenario(HOLD)
        answer = await it.ask(method, f"/scenario{path}", body.encode())
        assert (answer.status, answer.error) == (409, "connections are open: close them first")
        assert [rule["name"] for rule in (await it.get("/scenario"))["rules"]] == ["slow"]


async def test_rules_that_are_added_at_once_all_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    """If workers carry the connections, it takes a while until all of them have a rule."""
    replace, turn = LocalTarget.replace, asyncio.Lock()

    async def slowly(self: LocalTarget, scenario: Scenario, by: str) -> None:
        async with turn:
            await replace(self, scenario, by)
            for _ in range(1000):
                await asyncio.sleep(0)

    monkeypatch.setattr(LocalTarget, "replace", slowly)

    async with desk() as it:
        rules = [f"{{name: r{n}, match: {{api: Fetch}}, do: {{delay: 1ms}}}}" for n in range(9)]
        asked = (it.ask("POST", "/scenario/rules", rule.encode()) for rule in rules)
        assert {answer.status for answer in await asyncio.gather(*asked)} == {200}
        assert len((await it.get("/scenario"))["rules"]) == len(rules)


async def test_a_rule_that_goes_while_it_is_told_is_not_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """If workers carry the connections, it takes a while until all of them have a command."""
    release = LocalTarget.release

    async def slowly(self: LocalTarget, rule: str) -> None:
        await release(self, rule)
        await self.replace(loads(scenario(HOLD)), "somebody else")

    monkeypatch.setattr(LocalTarget, "release", slowly)

    async with desk(scenario(SLOW)) as it:
        answer = await it.ask("POST", "/scenario/rules/slow/release")
        said = "no rule is called 'slow'; the rules are: 'held'"
        assert (answer.status, answer.error) == (404, said)


async def test_what_a_rule_holds_leaves_when_told() -> None:
    held = "{name: held, match: {api: Metadata, direction: request}, do: {hold: {control: true}}}"
    async with desk(scenario(held)) as it, it.client() as (reader, writer):
        writer.write(request("Metadata", 1))
        await it.it.until(lambda: it.it.proxy.rules.rules[0].fired)
        assert (await it.connection())["request"]["held"] == 1
        answer = await it.ask("POST", "/scenario/rules/held/release")
        assert (answer.status, answer.json["released"]) == (200, 1)
        assert (await asyncio.wait_for(read_frame(reader), SOON))[3] == 1
        assert (await it.connection())["request"]["held"] == 0
        again = await it.ask("POST", "/scenario/rules/held/release")
        assert again.json["released"] == 1, "nothing is held: fine"
