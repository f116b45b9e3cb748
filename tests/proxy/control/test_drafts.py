"""Help for who writes a scenario: it is checked, tried and drafted, and never applied."""

from __future__ import annotations

import json
from typing import Any

from tests.answer import Answer
from tests.proxy.control.desk import Desk, desk
from tests.proxy.servers import Running

DELAY = "version: 1\nrules:\n- name: slow\n  match: {api: Metadata}\n  do: {delay: 1h}\n"


def of(rule: str) -> bytes:
    return f"version: 1\nrules:\n- name: r\n  {rule}\n".encode()


def unchanged(it: Running) -> bool:
    return it.proxy.rules.scenario is None


async def draft(it: Desk, **wanted: Any) -> Answer:
    return await it.ask("POST", "/scenario/draft", json.dumps(wanted).encode())


async def test_problems_have_their_lines_and_what_is_right_is_not_applied() -> None:
    async with desk() as it:
        wrong = DELAY.replace("delay", "delai").replace("Metadata", "Metadta").encode()
        found = (await it.ask("POST", "/scenario/check", wrong)).json
        assert [(each["line"], each["text"].partition(";")[0]) for each in found["problems"]] == [
            (4, "api: no API is called 'Metadta'"),
            (5, "unknown key 'delai' in do"),
        ]  # fmt: skip
        assert found["remarks"] == []
        found = (await it.ask("POST", "/scenario/check", DELAY.encode())).json
        assert found == {"problems": [], "remarks": found["remarks"]}
        never = of("match: {api: Metadata, direction: request}\n  do: {respond: {body: {}}}")
        assert (await it.ask("POST", "/scenario/check", never)).json["problems"] == []
        never = of("match: {api: Metadata, direction: request, error: 3}\n  do: close")
        (said,) = (await it.ask("POST", "/scenario/check", never)).json["remarks"]
        assert said.startswith("warning: rule 'r' never fires")
        assert unchanged(it.it)


async def test_what_a_scenario_would_have_done_to_the_last_exchanges() -> None:
    async with desk(observed=True) as it:
        for number in range(3):
            await it.exchange(number)
        await it.exchange(3, "ApiVersions")
        found = (await it.ask("POST", "/scenario/try", DELAY.encode())).json
        assert found["exchanges"] == 4
        assert found["limits"]
        (rule,) = found["rules"]
        assert (rule["name"], rule["matched"], rule["fired"]) == ("slow", 6, 6)
        assert rule["fires"] == [0, 1, 2]
        last = (await it.ask("POST", "/scenario/try?last=2", DELAY.encode())).json
        assert (last["exchanges"], last["rules"][0]["fires"]) == (2, [2])
        assert unchanged(it.it)


async def test_a_drafted_rule_is_added_as_it_is() -> None:
    async with desk(observed=True) as it:
        await it.exchange(1, client="app")
        found = (await draft(it, exchange=0, do="respond", fields=["api", "client_id"])).json
        assert [part["name"] for part in found["parts"] if part["kept"]] == ["api", "client_id"]
        tried = await it.ask("POST", "/scenario/try", found["scenario"].encode())
        assert tried.json["rules"][0]["fires"] == [0]
        assert (await it.ask("POST", "/scenario/rules", found["rule"].encode())).status == 200
        again = (await draft(it, exchange=0, do="respond", settings="{error: 3}")).json
        assert again["name"] == f"{found['name']} 2"
        assert again["settings"] == "{error: 3}"
        assert (await draft(it, exchange=0, do="drop")).json["settings"] == ""
