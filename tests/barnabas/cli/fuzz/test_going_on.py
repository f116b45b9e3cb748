"""Campaigns that go on, shrink, end in time, and look behind what was found."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from barnabas.cli.fuzz import run as running
from barnabas.cli.fuzz import shrinking
from barnabas.cli.fuzz.progress import CampaignProgress
from barnabas.fuzz.cases.case import Recipe
from barnabas.fuzz.engine.rounds import Batch, run_range
from barnabas.fuzz.shrinking.search import Shrunk
from barnabas.fuzz.targets.decoder import DecoderTarget
from barnabas.trouble import INTERRUPTED
from tests.barnabas.cli.command import Ran
from tests.barnabas.cli.fuzz.buggy import CAMPAIGN, finding_of, fuzz, make, over
from tests.proxy.servers import SOON


def test_a_new_campaign_is_announced_and_the_newest_is_reported_first(campaign: Path) -> None:
    first = fuzz("run", campaign, "--cases", 10, "--shrink", 0)
    again = fuzz("run", campaign, "--cases", 20, "--shrink", 0)
    other = fuzz("run", campaign, "--cases", 15, "--shrink", 0, "--seed", 4)
    assert "a new campaign" not in first.stderr + again.stderr
    assert "other seed than the run before: a new campaign" in other.stderr
    assert "; 20 cases in all: 1 API, " in again.stderr
    reported = fuzz("report", "--db", "c.fuzz.db", "--json").rows
    assert reported == fuzz("report", "c.fuzz.db", "--json").rows
    assert [one["cases"] for one in reported] == [15, 20]


class Surveyed(DecoderTarget):
    """A client that asks for another version in each run."""

    role = "client"
    runs = 0

    def survey(self) -> list[tuple[int, int]]:
        Surveyed.runs += 1
        return [(3, version) for version in range(4 + Surveyed.runs)]


def test_what_a_client_asks_for_this_time_makes_no_new_campaign(
    campaign: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.barnabas.cli.fuzz.buggy.Counted", Surveyed)
    campaign.write_text(CAMPAIGN.replace("corpora: [generated]", "corpora: [answers]"))
    run = ("run", campaign, "--target", "buggy:counted", "--shrink", 0, "--cases")
    fuzz(*run, 10)
    again = fuzz(*run, 20)
    assert Surveyed.runs == 2
    assert "continuing at case 10" in again.stderr


def test_what_is_not_made_smaller_yet_is_said(campaign: Path) -> None:
    said = "not made smaller yet"
    ran = fuzz("run", campaign, "--shrink", 0, "--json")
    assert f"1 finding {said}: repeat" in ran.stderr
    assert ran.rows[-1]["not_shrunk"] == 1
    name = finding_of(ran)
    assert f"  {said}: repeat" in fuzz("show", name).stdout
    assert f"- {said}: 1 finding (repeat" in fuzz("report").stdout
    assert said not in fuzz("run", campaign).stderr
    assert said not in fuzz("show", name).stdout
    assert said not in fuzz("report").stdout


def test_ctrl_c_keeps_what_is_done(campaign: Path) -> None:
    stopped = fuzz("run", campaign, "--target", "buggy:interrupted", "--json", "--shrink", 0)
    assert over(stopped)["done"] == 50
    assert "interrupted: run the same command to continue" in stopped.stderr
    assert fuzz("report").stdout.count("- cases: 50 ") == 1
    before = fuzz("run", campaign, "--target", "buggy:early")
    assert (before.returncode, before.stderr.splitlines()[-1]) == (INTERRUPTED, "interrupted")


@pytest.mark.parametrize("json_lines", [(), ("--json",)])
def test_what_still_goes_on_when_the_time_is_up_is_said(
    campaign: Path, monkeypatch: pytest.MonkeyPatch, json_lines: tuple[str, ...]
) -> None:
    said = threading.Event()
    note = CampaignProgress.note

    def noted(self: CampaignProgress, text: str) -> None:
        note(self, text)
        if text.startswith("time is up"):
            said.set()

    def until_then(*arguments: Any, **more: Any) -> Iterator[Batch]:
        for batch in run_range(*arguments, **more):
            assert said.wait(SOON), "the time is up, and nobody says so"
            yield batch

    monkeypatch.setattr(CampaignProgress, "note", noted)
    monkeypatch.setattr(running, "run_range", until_then)
    ran = fuzz("run", campaign, "--seconds", 1, *json_lines)
    assert ran.returncode == 1
    ends = [line for line in ran.stderr.splitlines() if line.startswith(("time is", "shrinking"))]
    assert ends[0] == "time is up: finishing the cases under way"
    seconds = float(ends[1].removeprefix("shrinking 1 finding: at most ").removesuffix(" s in all"))
    assert 0 < seconds <= 0.2, "a fifth of what the preparation left"
    assert "prepared in " in ran.stderr
    assert "time is up" not in ran.stdout


def test_what_hides_behind_a_finding_is_seen_without_what_makes_it_fire(campaign: Path) -> None:
    campaign.write_text(f"{CAMPAIGN}mutators: [counts, nulls]\nversions: {{Metadata: 4-6}}\n")
    known: dict[str, str] = {}

    def ran(*without: str) -> Ran:
        options = [word for name in without for word in ("--without", name)]
        fragile = ("--target", "buggy:fragile", "--json", "--cases", 100, "--shrink", 0)
        result = fuzz("run", campaign, *fragile, *options)
        found = [one for one in result.rows if one["event"] == "finding"]
        known.update({one["behaviour"][0]: one["name"] for one in found})
        return result

    ran()
    assert list(known) == ["ZeroDivisionError"]
    first = known["ZeroDivisionError"]
    places: list[int] = []
    while "ArithmeticError" not in known and len(places) < 50:
        said = ran(first).stderr
        places.append(int(said.partition(", without ")[2].partition(" place")[0]))
    assert "ArithmeticError" in known
    assert places
    assert places == sorted(places), "each leaves out what those before have met, too"
    assert fuzz("replay", first, "--target", "buggy:fragile").returncode == 1, "it is still there"


@pytest.mark.parametrize(
    ("shrink", "to_shrink", "to_confirm", "early_end"),
    [
        (100, True, False, True),
        (100, False, False, False),
        (0, True, False, False),
        (0, True, True, True),
    ],
)
def test_cases_end_early_for_findings_to_shrink_and_hangs_to_confirm(
    shrink: int, to_shrink: bool, to_confirm: bool, early_end: bool
) -> None:
    over, said = threading.Event(), list[str]()
    progress = SimpleNamespace(note=said.append, to_shrink=to_shrink, to_confirm=to_confirm)
    busy = make("", False)
    busy.doing = "looking"  # type: ignore[attr-defined]
    last, early = running._timers(100.0, shrink, over, progress, busy)  # type: ignore[arg-type]
    assert (early.interval, last.interval) == (80.0, 100.0)
    early.function(*early.args)
    assert (over.is_set(), len(said)) == (early_end, early_end)
    last.function(*last.args)
    assert over.is_set()
    assert said == ["time is up: finishing the cases under way (looking)"]
    assert (shrinking.share(10.0), shrinking.share(3600.0)) == (2.0, shrinking.SHRINKING_S)


def test_what_is_as_small_as_it_was_is_not_shrunk_whenever_the_campaign_goes_on(
    campaign: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[Recipe] = []

    def in_vain(recipe: Recipe, *arguments: Any, **more: Any) -> Shrunk:
        tried.append(recipe)
        return Shrunk(recipe, 0)

    monkeypatch.setattr(shrinking, "shrink", in_vain)
    first = fuzz("run", campaign, "--json")
    assert len(tried) == 1
    name = finding_of(first)
    assert [one for one in first.rows if one["event"] == "shrinking"] == [
        {"event": "shrinking", "name": name, "number": 1, "count": 1}
    ]
    again = fuzz("run", campaign)
    assert len(tried) == 1, "nothing new is known of it"
    assert "nothing left to run of 300 cases" in again.stderr
    assert "shrunk:" not in fuzz("show", name).stdout
    assert fuzz("show", name, "--json").document["smaller"] is None
