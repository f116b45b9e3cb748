"""`barnabas rehearse` on the capture of a run that the test makes."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from barnabas.captures.writing.writer import CaptureWriter
from barnabas.loop import run as run_loop
from barnabas.proxy.network.clock import clock
from barnabas.proxy.network.options import Options
from barnabas.proxy.network.server import Proxy
from barnabas.proxy.network.surroundings import Outputs
from barnabas.proxy.rules.rules import Rules
from barnabas.proxy.scenario.file import loads
from tests.barnabas.cli.command import Ran, run
from tests.proxy.frames import heartbeat_request
from tests.proxy.servers import SOON, read_frame
from tests.proxy.test_rehearsal import answering, live
from tests.proxy.test_rehearsal import scenario as text_of

TEXT = text_of("Heartbeat", "request", "{delay: 1ms}", 0.4)


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("rehearse") / "live.pcapng"
    run_loop(live(TEXT, path))
    return path


def rehearse(*arguments: str | Path) -> Ran:
    return run("rehearse", *arguments)


def test_it_prints_what_rules_do_and_the_same_each_time(capture: Path, tmp_path: Path) -> None:
    scenario = tmp_path / "s.yaml"
    scenario.write_text(TEXT)
    code, out, err = rehearse(scenario, capture)
    assert code == 0
    assert out
    assert all("first: " in line or "second: " in line for line in out.splitlines())
    assert "first: " in err
    assert " matched, " in err
    assert rehearse(scenario, capture)[1] == out
    assert rehearse(capture)[1] == out


def test_what_a_person_told_the_rules_is_rehearsed(tmp_path: Path) -> None:
    """A request that leaves because somebody says so, and a rule that fires for the same reason."""
    path = tmp_path / "told.pcapng"
    held = (
        "{name: held, match: {direction: request}, when: {times: 1}, do: {hold: {control: true}}}"
    )
    late = "{name: late, match: {direction: response}, when: {probability: 0}, do: {delay: 1ms}}"

    async def main() -> None:
        server = await asyncio.start_server(answering, "127.0.0.1", 0)
        rules = Rules(loads(f"version: 1\nrules: [{held}, {late}]"))
        rules.began = clock()
        proxy = Proxy(
            Options([server.sockets[0].getsockname()[:2]], drain=0.1),
            rules,
            Outputs(capture=CaptureWriter(path, limit=None, meta=rules.meta())),
        )
        await proxy.start()
        proxy.fire("late")
        reader, writer = await asyncio.open_connection(*proxy.address)
        writer.write(heartbeat_request(1) + heartbeat_request(2))
        while not rules.rule("held").fired:
            await asyncio.sleep(0.001)
        proxy.release("held")
        for _ in range(2):
            await asyncio.wait_for(read_frame(reader), SOON)
        writer.close()
        await proxy.stop()
        server.close()

    run_loop(main())
    code, out, err = rehearse(path, "--check")
    assert (code, out) == (0, "")
    assert "held: 2 matched, 1 fired, hold, 1 released" in err
    assert "late: 2 matched, 1 fired, delay" in err
    assert len(rehearse(path)[1].splitlines()) == 2


def test_a_proxy_that_was_told_of_rules_only_later_is_rehearsed(tmp_path: Path) -> None:
    path = tmp_path / "later.pcapng"
    late = "version: 1\nrules: [{name: late, match: {direction: request}, do: {delay: 1ms}}]"

    async def main(told: bool) -> None:
        server = await asyncio.start_server(answering, "127.0.0.1", 0)
        capture = CaptureWriter(path, limit=None, meta={})
        proxy = Proxy(
            Options([server.sockets[0].getsockname()[:2]]), outputs=Outputs(capture=capture)
        )
        await proxy.start()
        reader, writer = await asyncio.open_connection(*proxy.address)
        for number in range(2):
            writer.write(heartbeat_request(number))
            await asyncio.wait_for(read_frame(reader), SOON)
            if told:
                proxy.replace(loads(late), "the control port")
        writer.close()
        await proxy.stop()
        server.close()

    run_loop(main(told=True))
    assert rehearse(path, "--check")[:2] == (0, "")
    assert "late: 1 matched, 1 fired, delay" in rehearse(path)[2]
    run_loop(main(told=False))
    assert rehearse(path)[0] == 2
    assert "records no scenario" in rehearse(path)[2]


def test_a_difference_that_may_be_is_told_from_one_that_may_not(
    capture: Path, tmp_path: Path
) -> None:
    scenario = tmp_path / "s.yaml"
    counted = TEXT.replace("skip: 1}", "skip: 1, scope: rule}")
    scenario.write_text(counted)
    code, out, err = rehearse(scenario, capture, "--check")
    lines = out.splitlines()
    may = [line for line in lines if line.endswith("  (may differ: first)")]
    assert may
    assert f"{len(lines)} of " in err
    assert f", {len(may)} of them by rules that depend on other connections" in err
    assert code == (0 if may == lines else 1)
    assert len(may) < len(lines)  # where the rule fired live and does not here, nothing is said
    rows = rehearse(scenario, capture, "--json").rows
    assert {tuple(row["depends"]) for row in rows if "first" in row["rules"]} == {("first",)}
    assert {tuple(row["depends"]) for row in rows if "first" not in row["rules"]} == {()}


OWN = """
from pydantic import BaseModel
from barnabas.proxy.effects import Wait
from barnabas.proxy.faults import PerConnection
class Late(BaseModel):
    ns: int = 1
def late(config, message, roll):
    return (Wait(config.ns),)
FAULTS = (("late", Late, late),)
def later(config, message, roll, seen):
    seen.append(config.ns)
    return (Wait(sum(seen)),)
KEEPS = (("later", Late, later, PerConnection(list)),)
"""


def test_faults_of_ones_own(capture: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own_for_test.py").write_text(OWN)
    scenario = tmp_path / "s.yaml"
    scenario.write_text("version: 1\nrules: [{name: mine, do: {late: {ns: 5}}}]\n")
    monkeypatch.chdir(tmp_path)
    assert rehearse(scenario, capture)[0] == 2
    code, out, _ = rehearse(scenario, capture, "--faults", "own_for_test:FAULTS")
    assert code == 0
    assert "mine: delay 5 ns" in out
    scenario.write_text("version: 1\nrules: [{name: mine, do: {later: {ns: 5}}}]\n")
    code, out, _ = rehearse(scenario, capture, "--faults", "own_for_test:KEEPS")
    assert code == 0
    assert "mine: delay 5 ns" in out
    assert "mine: delay 10 ns" in out
