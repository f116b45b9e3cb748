"""`barnabas fuzz` from campaign to report, on our own decoder with one bug more than it has."""

from __future__ import annotations

from pathlib import Path

from rich.progress import Progress

from barnabas.cli.fuzz.progress import ActivityColumn
from barnabas.fuzz.database.findings import Findings
from barnabas.fuzz.engine.stats import Detection, Stats
from barnabas.fuzz.oracles.oracle import Verdict
from tests.barnabas.cli.fuzz.buggy import CAMPAIGN, finding_of, fuzz, make, over


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
    assert (
        "not reproduced on buggy otherwise in 3 attempts, but something else is wrong:"
        in worse.stdout
    )
    assert "undocumented: it raised ArithmeticError" in worse.stdout
    otherwise = fuzz("replay", name, "--target", "buggy:otherwise", "--json").document
    assert (otherwise["fired"], otherwise["outcome"]) == (False, "another")
    nobody = fuzz("replay", "nobody")
    assert (nobody.returncode, name in nobody.stderr) == (2, True)

    (tmp_path / "x.pcapng").touch(0o644)
    shown = fuzz("show", name, "--json", "--capture", tmp_path / "x.pcapng").document
    assert (shown["oracle"], shown["behaviour"][0]) == ("undocumented", "ZeroDivisionError")
    raises = "buggy.py:buggy raises ZeroDivisionError"
    assert shown["title"].startswith(f"{raises} on ")
    assert shown["cause"]["frame"] == "buggy.py:buggy"
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
    assert ">Parsers never reached<" in (tmp_path / "r.html").read_text()
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
    said = "no round has ended, and feedback begins after 200 cases"
    assert f"of its rounds {said}" in fuzz(*line, 150).stderr
    assert f"- rounds: 1: {said}" in fuzz("report").stdout
    assert said not in fuzz(*line, 210).stderr
    assert "- rounds: 2\n" in fuzz("report").stdout


def test_findings_of_one_cause_are_listed_together(campaign: Path) -> None:
    fuzz("run", campaign, "--shrink", 0)
    with Findings(Path("c.fuzz.db"), write=True) as findings:
        (one,) = findings.findings()
        seen = one.observation
        twice = Verdict("undocumented", "again", (*one.behaviour[:2], "caller.py:other"))
        (row,) = findings.campaigns()
        kept = findings.campaign(row.name, row.target, row.settings, 0.0)
        kept.keep(Stats(findings={("", ()): Detection(twice, seen)}), 300, 0)
        names = [each.name for each in findings.findings()]
    listed = fuzz("run", campaign, "--shrink", 0).stderr.splitlines()
    heads = [line for line in listed if "raises ZeroDivisionError (2 findings, " in line]
    (at,) = (listed.index(line) for line in heads)
    assert [line.split()[0] for line in listed[at + 1 : at + 3]] == names
    assert f"barnabas fuzz replay {names[0]} --db " in listed[at + 3]


def test_what_was_not_sent_is_counted_and_can_be_looked_at(campaign: Path) -> None:
    run = ("run", campaign, "--target", "buggy:weary", "--cases", 100)
    set_aside = over(fuzz(*run, "--json"))["set_aside"]
    rows = fuzz("aside", "--json").rows
    assert sum(row["cases"] for row in rows) == set_aside > 0
    assert {(row["api"], row["version"] >= 12) for row in rows} == {("Metadata", True)}
    assert all(bytes.fromhex(frame) for row in rows for frame in row["frames"])
    assert {row["reason"] for row in rows} == {"similar cases had ended it"}
    table = fuzz("aside", "c.fuzz.db")
    assert (table.returncode, "Metadata" in table.stdout) == (0, True)
    said = f"set aside: {set_aside} of 100 cases ({set_aside}%): similar cases had ended it"
    assert said in fuzz("report").stdout
    assert said in fuzz(*run).stderr


def test_nothing_found_is_0(campaign: Path) -> None:
    assert fuzz("run", campaign, "--target", "buggy:mended", "--cases", 100).returncode == 0
    assert fuzz("report", "c.fuzz.db").returncode == 0
    assert "no case was set aside" in fuzz("aside").stderr
    without = fuzz("run", campaign, "--target", "buggy:mended", "--without", "nobody")
    assert (without.returncode, "has no finding nobody" in without.stderr) == (2, True)
    missing = fuzz("run", campaign, "--target", "buggy:missing")
    assert (missing.returncode, "needs what is not here" in missing.stderr) == (3, True)


def test_list_names_all_that_a_campaign_may() -> None:
    rows = fuzz("list", "--json").rows
    whats = {row["what"] for row in rows}
    of_brokers = {"target", "mutator", "oracle", "session", "alphabet"}
    assert whats == of_brokers | {"campaign", "corpus", "alphabet of clients"}
    assert all(row["name"] and row["about"] for row in rows)
    assert fuzz("schema").document["title"] == "Campaign"


def test_the_bar_says_what_a_target_does_beside_its_cases() -> None:
    progress = Progress()
    busy = make("", own=False)
    progress.add_task("", target=busy)
    (task,) = progress.tasks
    assert ActivityColumn().render(task).plain == ""
    busy.doing = "looking"  # type: ignore[attr-defined]
    assert ActivityColumn().render(task).plain == "looking"
