"""`barnabas fuzz` from campaign to report, on our own decoder with one bug more than it has."""

from __future__ import annotations

import shlex
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.progress import Progress

from barnabas.cli.console.output import Output
from barnabas.cli.fuzz import campaigns, shrinking, targets
from barnabas.cli.fuzz import run as running
from barnabas.cli.fuzz.progress import Doing, Shown, shown
from barnabas.fuzz.answering.seeds import seeds
from barnabas.fuzz.cases.case import Case, Recipe
from barnabas.fuzz.cases.observation import Observation
from barnabas.fuzz.coverage.lines import Lines, Reach, Unit
from barnabas.fuzz.database.findings import Findings
from barnabas.fuzz.engine.making import cook
from barnabas.fuzz.engine.running import Batch, run_range
from barnabas.fuzz.engine.stats import Found, Judged, Stats
from barnabas.fuzz.errors import CannotRun
from barnabas.fuzz.oracles.oracle import Verdict
from barnabas.fuzz.shrinking.search import Shrunk
from barnabas.fuzz.targets.decoder import DecoderTarget
from barnabas.fuzz.targets.decoders import read_specs
from barnabas.fuzz.targets.registry import Kind
from barnabas.specs import Malformed
from tests.barnabas.cli.command import Ran, run
from tests.proxy.servers import SOON

CAMPAIGN = """\
version: 1
target: buggy
seed: 3
apis: [Metadata]
corpora: [generated]
budget: {cases: 300}
round: 100
"""


def buggy(case: Case) -> Mapping[str, Any]:
    """Raises where a Metadata request of v4 or newer has a count above a million."""
    try:
        return read_specs(case)
    except Malformed as problem:
        seed = case.recipe.seed
        if seed.direction == "request" and seed.version >= 4 and "topics" in str(problem):
            raise ZeroDivisionError("by a count") from None
        raise


def otherwise(case: Case) -> Mapping[str, Any]:
    """Raises something else."""
    try:
        return buggy(case)
    except ZeroDivisionError:
        raise ArithmeticError("otherwise") from None


def interrupted(case: Case) -> Mapping[str, Any]:
    """Somebody presses Ctrl-C."""
    if case.number == 50:
        raise KeyboardInterrupt
    return buggy(case)


def weary(case: Case) -> Mapping[str, Any]:
    """As a broker does that such cases have ended too often: they are not sent any more."""
    return {"set_aside": True} if case.recipe.seed.version >= 12 else {}


FILE, PARSER = Unit("p", "f", False), Unit("p", "f.read", True)


class Counted(DecoderTarget):
    """A line of it is reached by everything, another one by what is no valid message."""

    lines = 0
    meter = None

    def count(self, *, guiding: bool) -> None:
        self.lines = 1

    def run(self, cases: Sequence[Case]) -> Iterator[Observation]:
        for one in super().run(cases):
            self.lines |= 3 if one.raised else 1
            yield one

    def anew(self) -> None:
        pass

    def reached(self) -> Reach:
        return {FILE: Lines(self.lines, 7), PARSER: Lines(0, 3)}


def make(text: str, own: bool) -> DecoderTarget:
    if text == "missing":
        raise CannotRun("buggy:missing needs what is not here")
    kinds: dict[str, Callable[[Case], Mapping[str, Any]]] = {
        "mended": read_specs,
        "weary": weary,
        "otherwise": otherwise,
        "interrupted": interrupted,
        "fragile": Fragile(),
    }
    reads = kinds.get(text, buggy)
    kind = Counted if text == "counted" else DecoderTarget
    return kind(f"buggy {text}".strip(), reads, (Malformed, LookupError))


@pytest.fixture
def campaign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    kinds = (*targets.KINDS, Kind("buggy", "decoder", "a decoder with a bug", "buggy", make))
    monkeypatch.setattr(targets, "KINDS", kinds)
    known = campaigns.KNOWN._replace(targets=tuple(kind.name for kind in kinds))
    monkeypatch.setattr(campaigns, "KNOWN", known)
    path = tmp_path / "c.yaml"
    path.write_text(CAMPAIGN)
    monkeypatch.chdir(tmp_path)
    return path


def fuzz(*arguments: object) -> Ran:
    return run("fuzz", *arguments)


def finding_of(result: Ran) -> str:
    return next(str(one["name"]) for one in result.rows if one["event"] == "finding")


def over(result: Ran) -> dict[str, Any]:
    """The last event of a campaign."""
    (found,) = [one for one in result.rows if one["event"] == "over"]
    return found


def test_it_finds_shrinks_replays_shows_and_reports(campaign: Path, tmp_path: Path) -> None:
    ran = fuzz("run", campaign, "--json")
    name = finding_of(ran)
    assert (ran.returncode, over(ran)["done"]) == (1, 300)

    again = fuzz("replay", name[:5], "--json")
    assert again.returncode == 1, again
    outcome = ("fired", "attempt", "finding")
    assert [again.document[one] for one in outcome] == [True, 1, name]
    mended = fuzz("replay", name, "--target", "buggy:mended")
    assert mended.returncode == 0
    assert "not reproduced on buggy mended" in mended.stdout
    worse = fuzz("replay", name, "--target", "buggy:otherwise")
    assert worse.returncode == 1, "an error stands below"
    assert "not reproduced on buggy otherwise in 3, but something else is wrong:" in worse.stdout
    assert "undocumented: it raised ArithmeticError" in worse.stdout
    otherwise = fuzz("replay", name, "--target", "buggy:otherwise", "--json").document
    assert (otherwise["fired"], otherwise["outcome"]) == (False, "another")
    nobody = fuzz("replay", "nobody")
    assert (nobody.returncode, name in nobody.stderr) == (2, True)

    (tmp_path / "x.pcapng").touch(0o644)
    shown = fuzz("show", name, "--json", "--capture", tmp_path / "x.pcapng").document
    assert (shown["oracle"], shown["behaviour"][0]) == ("undocumented", "ZeroDivisionError")
    raises = "test_commands.py:buggy raises ZeroDivisionError"
    assert shown["title"].startswith(f"{raises} on ")
    assert shown["cause"]["frame"] == "test_commands.py:buggy"
    first, smaller = shown["recipe"]["seed"], shown["smaller"]["seed"]
    assert len(smaller["frame"]) < len(first["frame"])
    assert 4 <= smaller["version"] <= first["version"]
    assert (tmp_path / "x.pcapng").read_bytes().startswith(b"\x0a\x0d\x0d\x0a")
    assert name in fuzz("show", name).stdout

    report = fuzz("report")
    assert report.returncode == 1
    assert f"### {raises}" in report.stdout
    assert f"#### {name}" in report.stdout
    (cause,) = fuzz("report", "--json").document["causes"]
    assert (cause["title"], cause["error"]) == (raises, "ZeroDivisionError")
    assert [one["name"] for one in cause["findings"]] == [name]
    assert "choose one" in fuzz("report", "--json", "--html", tmp_path / "r.html").stderr
    assert fuzz("report", "c.fuzz.db", "--html", tmp_path / "r.html").returncode == 1
    assert name in (tmp_path / "r.html").read_text()
    made = [Path("c.fuzz.db"), tmp_path / "x.pcapng", tmp_path / "r.html"]
    assert [path.stat().st_mode & 0o777 for path in made] == [0o600] * 3  # frames of captures


def test_lines_are_counted_and_reported(campaign: Path, tmp_path: Path) -> None:
    ran = fuzz("run", campaign, "--target", "buggy:counted", "--coverage")
    assert "lines reached: 1 by valid messages, 2 by cases too, of 5; 0 of 1 parsers" in ran.stderr
    report = fuzz("report")
    assert "| p | 5 | 1 | 2 | 1 | 0 |" in report.stdout
    assert "| p | f.read |" in report.stdout
    said = fuzz("report", "--json").document
    assert said["lines"][1] == {
        "package": "p", "lines": 5, "by_valid_messages": 1, "by_cases_too": 2, "parsers": 1, "reached": 0,
    }  # fmt: skip
    assert [(one["package"], *one.values()) for one in said["never_reached"]] == [
        ("p", "p", "f.read")
    ]
    gaps = said["nothing_showed"]
    assert gaps
    assert {one["api"] for one in gaps} == {"Metadata"}
    fuzz("report", "--html", tmp_path / "r.html")
    assert "<h2>Parsers never reached</h2>" in (tmp_path / "r.html").read_text()
    # a campaign that goes on counts on, and one that counted nothing has none of it
    more = fuzz("run", campaign, "--target", "buggy:counted", "--coverage", "--cases", "310")
    assert "10 cases" in more.stderr
    assert "lines reached: 1 by valid messages, 2 by cases too" in more.stderr
    fuzz("run", campaign, "--target", "buggy:mended", "--db", "m.db")
    assert "Lines reached" not in fuzz("report", "m.db").stdout
    assert "lines" not in fuzz("report", "m.db", "--json").document


def test_feedback_that_has_not_begun_is_said(campaign: Path) -> None:
    campaign.write_text(CAMPAIGN.replace("round: 100", "round: 1000"))
    line = ("run", campaign, "--target", "buggy:counted", "--coverage-feedback", "--cases")
    said = "none has ended, and feedback begins behind 200 cases"
    assert f"of its rounds {said}" in fuzz(*line, 150).stderr
    assert f"- rounds: 1: {said}" in fuzz("report").stdout
    assert said not in fuzz(*line, 210).stderr
    assert "- rounds: 2\n" in fuzz("report").stdout


def test_what_is_not_made_smaller_yet_is_said(campaign: Path) -> None:
    said = "not made smaller yet"
    ran = fuzz("run", campaign, "--shrink", 0, "--json")
    assert f"1 finding {said}: the same" in ran.stderr
    assert ran.rows[-1]["not_shrunk"] == 1
    name = finding_of(ran)
    assert f"  {said}: the same" in fuzz("show", name).stdout
    assert f"- {said}: 1 finding (the same" in fuzz("report").stdout
    assert said not in fuzz("run", campaign).stderr
    assert said not in fuzz("show", name).stdout
    assert said not in fuzz("report").stdout


def test_findings_of_one_cause_are_listed_together(campaign: Path) -> None:
    fuzz("run", campaign, "--shrink", 0)
    with Findings(Path("c.fuzz.db"), write=True) as findings:
        (one,) = findings.findings()
        seen = one.observation
        twice = Verdict("undocumented", "again", (*one.behaviour[:2], "caller.py:other"))
        (row,) = findings.campaigns()
        kept = findings.campaign(row.name, row.target, row.settings, 0.0)
        kept.keep(Stats(findings={("", ()): Found(twice, seen)}), 300, 0)
        names = [each.name for each in findings.findings()]
    listed = fuzz("run", campaign, "--shrink", 0).stderr.splitlines()
    heads = [line for line in listed if "raises ZeroDivisionError (2 findings, " in line]
    (at,) = (listed.index(line) for line in heads)
    assert [line.split()[0] for line in listed[at + 1 : at + 3]] == names
    assert f"barnabas fuzz replay {names[0]} --db " in listed[at + 3]


def test_what_it_says_to_run_can_be_pasted(campaign: Path) -> None:
    ran = fuzz("run", campaign, "--db", "my 'finds'.db")
    (line,) = (line for line in ran.stderr.splitlines() if "fuzz replay" in line)
    assert shlex.split(line)[-1] == "my 'finds'.db"


def test_the_same_command_goes_on(campaign: Path) -> None:
    command = ("run", campaign, "--json", "--shrink", 0)
    runs = [fuzz(*command, *options) for options in (("--cases", 150), (), ())]
    assert [over(ran)["done"] for ran in runs] == [150, 300, 300]
    assert [over(ran)["ran"] for ran in runs] == [150, 150, 0]
    assert runs[2].returncode == 1


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
    monkeypatch.setattr(f"{__name__}.Counted", Surveyed)
    campaign.write_text(CAMPAIGN.replace("corpora: [generated]", "corpora: [answers]"))
    run = ("run", campaign, "--target", "buggy:counted", "--shrink", 0, "--cases")
    fuzz(*run, 10)
    again = fuzz(*run, 20)
    assert Surveyed.runs == 2
    assert "continuing at case 10" in again.stderr


def test_what_was_not_sent_is_counted_and_can_be_looked_at(campaign: Path) -> None:
    run = ("run", campaign, "--target", "buggy:weary", "--cases", 100)
    set_aside = over(fuzz(*run, "--json"))["set_aside"]
    rows = fuzz("aside", "--json").rows
    assert sum(row["cases"] for row in rows) == set_aside > 0
    assert {(row["api"], row["version"] >= 12) for row in rows} == {("Metadata", True)}
    assert all(bytes.fromhex(frame) for row in rows for frame in row["frames"])
    assert all("ended" in row["why"] or "did not ask" in row["why"] for row in rows)
    table = fuzz("aside", "c.fuzz.db")
    assert (table.returncode, "Metadata" in table.stdout) == (0, True)
    assert f"set aside: {set_aside} cases" in fuzz("report").stdout
    assert "100 cases set aside" not in fuzz(*run).stderr
    assert f"{set_aside} cases set aside" in fuzz(*run).stderr


def test_nothing_found_is_0(campaign: Path) -> None:
    assert fuzz("run", campaign, "--target", "buggy:mended", "--cases", 100).returncode == 0
    assert fuzz("report", "c.fuzz.db").returncode == 0
    assert "no case was set aside" in fuzz("aside").stderr
    without = fuzz("run", campaign, "--target", "buggy:mended", "--without", "nobody")
    assert (without.returncode, "has no finding nobody" in without.stderr) == (2, True)
    missing = fuzz("run", campaign, "--target", "buggy:missing")
    assert (missing.returncode, "needs what is not here" in missing.stderr) == (3, True)


def test_ctrl_c_keeps_what_is_done(campaign: Path) -> None:
    stopped = fuzz("run", campaign, "--target", "buggy:interrupted", "--json", "--shrink", 0)
    assert over(stopped)["done"] == 50
    assert "interrupted: run the same command to continue" in stopped.stderr
    assert fuzz("report").stdout.count("- cases: 50 ") == 1


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


def test_what_no_one_case_showed_is_told_again_where_one_does(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seen = Observation(cook(Recipe(seeds([(3, 0)])[0], ()), 63), facts=(("together", [62, 63]),))
    alone = Observation(seen.case._replace(number=85))
    verdict = Verdict("logged", "it says so", ("Error",))
    path = tmp_path / "t.fuzz.db"
    with Findings(path, write=True) as findings, shown(Output(), False, findings) as told:
        told.kept = kept = findings.campaign("t", "t", {"target": "t"}, 0.0)
        for one in (seen, alone, alone):
            stats = Stats()
            stats.add(Judged(one, frozenset(), (verdict,)))
            kept.keep(stats, one.case.number + 1, 0)
            told.batch(Batch(one.case.number + 1, stats))
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("  ")[1] for line in lines] == ["no one case, behind case 63", "case 85"]
    assert "first by case 85" in fuzz("show", lines[0].split()[0], "--db", path).stdout


def test_the_bar_says_what_a_target_does_beside_its_cases() -> None:
    progress = Progress()
    busy = make("", own=False)
    progress.add_task("", target=busy)
    (task,) = progress.tasks
    assert Doing().render(task).plain == ""
    busy.doing = "looking"  # type: ignore[attr-defined]
    assert Doing().render(task).plain == "looking"


@pytest.mark.parametrize("json_lines", [(), ("--json",)])
def test_what_still_goes_on_when_the_time_is_up_is_said(
    campaign: Path, monkeypatch: pytest.MonkeyPatch, json_lines: tuple[str, ...]
) -> None:
    said = threading.Event()
    note = Shown.note

    def noted(self: Shown, text: str) -> None:
        note(self, text)
        if text.startswith("time is up"):
            said.set()

    def until_then(*arguments: Any, **more: Any) -> Iterator[Batch]:
        for batch in run_range(*arguments, **more):
            assert said.wait(SOON), "the time is up, and nobody says so"
            yield batch

    monkeypatch.setattr(Shown, "note", noted)
    monkeypatch.setattr(running, "run_range", until_then)
    ran = fuzz("run", campaign, "--seconds", 1, *json_lines)
    assert ran.returncode == 1
    ends = [line for line in ran.stderr.splitlines() if line.startswith(("time is", "shrinking"))]
    assert ends == [
        "time is up: finishing the cases under way",
        "shrinking 1 finding: at most 0.2 s in all",
    ]
    assert "time is up" not in ran.stdout


@pytest.mark.parametrize("found", [True, False])
def test_cases_end_early_for_shrinking_where_something_was_found(found: bool) -> None:
    over, said = threading.Event(), list[str]()
    progress = SimpleNamespace(note=said.append, to_shrink=found)
    busy = make("", False)
    busy.doing = "looking"  # type: ignore[attr-defined]
    last, early = running._timers(100.0, shrinking.share(100.0), over, progress, busy)  # type: ignore[arg-type]
    assert (early.interval, last.interval) == (80.0, 100.0)
    early.function(*early.args)
    assert (over.is_set(), len(said)) == (found, found)
    last.function(*last.args)
    assert over.is_set()
    assert said == ["time is up: finishing the cases under way (looking)"]
    assert (shrinking.share(10.0), shrinking.share(3600.0)) == (2.0, shrinking.SHRINKING_S)


class Fragile:
    """As a broker that one bug ends: nothing is sent any more behind it, so nobody sees the other one."""

    def __init__(self) -> None:
        self.dead = False

    def __call__(self, case: Case) -> Mapping[str, Any]:
        if self.dead:
            return {"set_aside": True}
        seed, change = case.recipe.seed, case.recipe.changes[-1]
        if seed.direction == "request" and seed.version >= 4 and change.path == "topics.count":
            self.dead = True
            raise ZeroDivisionError("the first")
        if seed.direction == "response" and case.number >= 60:
            raise ArithmeticError("the hidden one")
        return {}


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


def test_list_names_all_that_a_campaign_may() -> None:
    rows = fuzz("list", "--json").rows
    whats = {row["what"] for row in rows}
    of_brokers = {"target", "mutator", "oracle", "session", "alphabet"}
    assert whats == of_brokers | {"campaign", "corpus", "alphabet of clients"}
    assert all(row["name"] and row["about"] for row in rows)
    assert fuzz("schema").document["title"] == "Campaign"
