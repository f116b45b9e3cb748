"""`barnabas analyze`: what is said before Spark starts."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from barnabas.captures.kafka.notes import ONE_DIRECTION
from barnabas.cli.analyze.analyze import analyze, check_captures, printed, session_of, taken
from barnabas.cli.analyze.follow import follow
from barnabas.cli.analyze.options import AnalyzeOptions, EngineChoice
from barnabas.cli.analyze.progress import step_progress
from barnabas.cli.app import app
from barnabas.cli.captures.files import capture_files
from barnabas.cli.console.output import Output
from barnabas.pipeline.analyze import Outcome
from barnabas.pipeline.reading.paths import SKIPPED
from barnabas.pipeline.report.parts import Overview, Result
from barnabas.pipeline.report.sections.unread import MISSING
from barnabas.pipeline.spark import sail, session
from barnabas.pipeline.tables.limits import Limit
from barnabas.specs.frames import DIRECTIONS, Direction
from barnabas.specs.jsonform import BLOBS
from barnabas.trouble import COULD_NOT_RUN, FINDINGS, FINE, Trouble
from tests.places import ROOT, SAMPLES

CAPTURE = SAMPLES / "rebalance.pcap.gz"


@pytest.fixture(autouse=True)
def _no_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise AssertionError("Spark was started")

    monkeypatch.setattr(session, "working_folder", fail)


def asked(capture: Path, out: Path, **options: Any) -> AnalyzeOptions:
    """Options of a capture, or a folder of them."""
    return AnalyzeOptions(captures=[str(capture)], out=str(out), **options)


def trouble(wanted: AnalyzeOptions) -> Trouble:
    with pytest.raises(Trouble) as raised:
        analyze(wanted)
    assert "\n" not in str(raised.value)
    return raised.value


def told(
    tmp_path: Path,
    wanted: AnalyzeOptions,
    results: dict[str, Result] | None = None,
    only: Direction | None = None,
) -> int:
    """Print results; return the exit code."""
    nothing = {name: Result([], 0) for name in ("findings_by_check", "unread")}
    seen = Overview(["a"], None, None, 1, 1, 1, 1, 0, 1, 0, 0, only=only)
    quality = [{"capture": "a", "gaps": 3}]
    outcome = Outcome(seen, nothing | (results or {}), tmp_path / "report.html", quality)
    return printed(outcome, wanted, Output())


def test_a_file_that_was_left_out_is_a_finding(tmp_path: Path) -> None:
    row = {"kind": SKIPPED, "file": "b", "capture": "a", "reason": "not a capture", "count": 1}
    options = asked(CAPTURE, tmp_path)
    assert told(tmp_path, options, {"unread": Result([row], 1)}) == FINDINGS


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_one_direction_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], direction: Direction
) -> None:
    assert told(tmp_path, asked(CAPTURE, tmp_path), only=direction) == FINE
    counts, sentence, *_ = capsys.readouterr().out.splitlines()
    assert sentence == ONE_DIRECTION[direction]
    assert ("with an error" in counts) == (direction == "response")


@pytest.mark.parametrize(("most", "code"), [(3, FINE), (2, FINDINGS)])
@pytest.mark.parametrize("as_json", [False, True])
def test_a_limit_that_is_exceeded_is_a_finding(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], most: int, code: int, *, as_json: bool
) -> None:
    expected = asked(CAPTURE, tmp_path, as_json=as_json, limits=[Limit("gaps", most)])
    assert told(tmp_path, expected) == code
    output = capsys.readouterr().out
    above = ["quality.gaps is 3, more than 2"] if code else []
    if as_json:
        assert json.loads(output)["quality"] == [{"capture": "a", "gaps": 3}]
        assert json.loads(output)["exceeded"] == above
    else:
        lines = [line for line in output.splitlines() if "quality" in line]
        assert lines == [f"error: {one}" for one in above]


@pytest.mark.parametrize(
    ("skip", "code", "counts"),
    [((), FINDINGS, [5, 2]), (("joins",), FINE, [5]), (("backoff",), FINDINGS, [2])],
)
def test_findings_of_checks_that_were_not_chosen_do_not_count(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    skip: Sequence[str],
    code: int,
    counts: list[int],
) -> None:
    results = [
        {"severity": "note", "check": "backoff", "count": 5, "first": "one"},
        {"severity": "warning", "check": "joins", "count": 2, "first": "another"},
    ]
    expected = asked(CAPTURE, tmp_path, as_json=True, skip=skip)
    assert told(tmp_path, expected, {"findings_by_check": Result(results, 2)}) == code
    findings = json.loads(capsys.readouterr().out)["findings"]
    assert [one["count"] for one in findings] == counts


@pytest.mark.parametrize(
    "options",
    [{"master": "local[2]"}, {"follow": True}, {"from_batch": 1}, {"conf": [("a", "b")]}],
    ids=lambda options: next(iter(options)),
)
def test_sail_is_refused_for_what_only_spark_does(tmp_path: Path, options: dict[str, Any]) -> None:
    name = next(iter(options)).replace("_", "-")
    with pytest.raises(
        Trouble, match=f"--engine sail does not support --{name}: use --engine spark"
    ):
        asked(CAPTURE, tmp_path, engine=EngineChoice.SAIL, **options)
    assert asked(CAPTURE, tmp_path, **options).chosen_engine == "spark"


def test_sail_is_chosen_where_it_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for is_installed, engine in ((True, "sail"), (False, "spark")):
        monkeypatch.setattr(sail, "sail_installed", lambda is_installed=is_installed: is_installed)
        assert asked(CAPTURE, tmp_path).chosen_engine == engine
        wanted = asked(CAPTURE, tmp_path, engine=EngineChoice.SPARK)
        assert wanted.chosen_engine == "spark"


@pytest.mark.parametrize(
    ("version", "message"),
    [
        (None, "Sail needs the package pysail: install barnabas with the extra 'sail'"),
        ("4.3.0", "Sail needs pyspark before 4.3, not 4.3.0: pip install 'pyspark<4.3'"),
    ],
)
def test_why_sail_is_unavailable_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str | None, message: str
) -> None:
    def version_of(package: str) -> str:
        if version is None or package == "pyspark-client":
            raise PackageNotFoundError(package)
        return version

    monkeypatch.setattr(sail, "find_spec", lambda name: version and object())
    monkeypatch.setattr(sail, "package_version", version_of)
    problem = trouble(asked(CAPTURE, tmp_path, engine=EngineChoice.SAIL))
    assert (str(problem), problem.code) == (message, COULD_NOT_RUN)


def test_gaps_are_a_line_and_what_they_come_of_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = "segments before this one are missing: 6"
    of = {"capture": "a", "file": None}
    unread = [
        {
            **of,
            "kind": "missing",
            "file": "a-7.pcapng",
            "reason": missing,
            "count": 1,
            "bytes": None,
        },
        {**of, "kind": "gap", "reason": MISSING, "count": 28, "bytes": 5310},
        {**of, "kind": "undecoded", "reason": "odd", "count": 2, "bytes": None},
    ]
    told(tmp_path, asked(CAPTURE, tmp_path), {"unread": Result(unread, 3)})
    lines = [line for line in capsys.readouterr().out.splitlines() if "not read" in line]
    assert lines == [
        f"not read: a-7.pcapng: {missing}",
        "not read: 28 gaps in a, 5,310 bytes",
        "not read: undecoded in a, 2 times: odd",
    ]


@pytest.mark.parametrize("follows", [False, True])
def test_a_folder_that_another_run_writes_is_refused(tmp_path: Path, follows: bool) -> None:
    out, captures = tmp_path / "out", tmp_path / "captures"
    captures.mkdir()
    expected = asked(captures if follows else CAPTURE, out, follow=follows, once=follows)
    with taken(out, "capture"), pytest.raises(Trouble) as raised:
        (follow if follows else analyze)(expected)
    output = f"--out {out} is being written by another run: wait for it, or choose another folder"
    assert (str(raised.value), raised.value.code) == (output, COULD_NOT_RUN)
    with taken(out, "capture"):
        assert [path.name for path in out.iterdir()] == ["_lock"]


@pytest.mark.parametrize("master", [None, "local[1]", "spark://127.0.0.1:7077"])
def test_what_is_little_has_its_settings_wherever_it_is_ours_to_set_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, master: str | None
) -> None:
    given: list[dict[str, str]] = []

    @contextmanager
    def noted(_: Any, settings: dict[str, str]) -> Iterator[None]:
        given.append(settings)
        yield

    monkeypatch.setattr(session, "session", noted)
    expected = asked(CAPTURE, tmp_path, master=master, conf=[("spark.a", "b")])
    with step_progress(Output()) as progress, session_of(expected, progress, [CAPTURE]):
        pass
    ours = session.LIGHT if master != "spark://127.0.0.1:7077" else {}
    assert given == [{**ours, "spark.a": "b"}]


@pytest.mark.parametrize("word", BLOBS)
def test_how_large_bytes_are_written_is_an_option(
    monkeypatch: pytest.MonkeyPatch, word: str
) -> None:
    ran: list[AnalyzeOptions] = []
    monkeypatch.setattr("barnabas.cli.analyze.analyze.analyze", ran.append)
    CliRunner().invoke(app, ["analyze", str(CAPTURE), "--out", "out", "--bodies", word])
    assert [one.blob for one in ran] == [BLOBS[word]]


LOADED = """
import signal, sys
from barnabas.pipeline.spark.session import session


class Interrupts:
    def find_spec(self, name, *_):
        if name == sys.argv[1]:
            signal.raise_signal(signal.SIGINT)


sys.meta_path.insert(0, Interrupts())
try:
    with session():
        pass
except KeyboardInterrupt:
    print(sys.argv[1] in sys.modules)
"""


@pytest.mark.needs_spark
@pytest.mark.parametrize("module", ["barnabas.pipeline.spark.driver", "pyspark.testing"])
def test_what_is_loaded_beside_another_thread_is_not_interrupted(module: str) -> None:
    line = [sys.executable, "-c", LOADED, module]
    done = subprocess.run(line, capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout == "True\n"


def test_without_pyspark_what_to_install_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "INSTALLED", ("pyspark_that_nobody_has",))
    result = trouble(asked(CAPTURE, tmp_path, engine=EngineChoice.SPARK))
    assert str(result).endswith("install barnabas with the extra 'spark'")
    assert result.code == COULD_NOT_RUN


def test_what_of_a_folder_is_no_capture_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    captures = tmp_path / "captures"
    captures.mkdir()
    shutil.copy(CAPTURE, captures)
    (captures / "broken.pcap").write_bytes(b"broken")
    trouble(asked(captures, captures / "broken.pcap"))
    assert f"left out, not a capture: {captures / 'broken.pcap'}" in capsys.readouterr().err


@pytest.mark.parametrize("folder", [False, True])
def test_skip_bad_means_files_of_folders_too(tmp_path: Path, *, folder: bool) -> None:
    good, bad = tmp_path / "good.pcap.gz", tmp_path / "bad.pcap"
    shutil.copy(CAPTURE, good)
    bad.write_bytes(b"broken")
    given = [tmp_path] if folder else [good, bad]
    options = AnalyzeOptions(captures=[*map(str, given)], out="out", skip_bad=True)
    files, skipped = check_captures(options, capture_files(options.paths))
    assert files == [good]
    assert skipped[bad].startswith("not a capture: byte 0: neither pcap nor pcapng")
