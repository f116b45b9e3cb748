"""`barnabas summary` on the capture of a run that the test makes."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from barnabas.cli.app import app
from barnabas.cli.captures.summary import summary as command
from barnabas.cli.console.output import Output
from barnabas.cli.console.terminal import Terminal
from barnabas.loop import run
from barnabas.trouble import Trouble
from tests.captures.test_samples import FOLDER
from tests.places import SAMPLES
from tests.proxy.test_rehearsal import SCENARIO, live

TEXT = SCENARIO.format(
    api="Heartbeat", seed=7, direction="", when="{probability: 0.4}", do="{delay: 1ms}"
)


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("summary") / "live.pcapng"
    run(live(TEXT, path))
    return path


def summary(*arguments: str | Path) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, ["summary", *map(str, arguments)])
    if isinstance(result.exception, Trouble):
        return result.exception.code, result.stdout, str(result.exception)
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result.exit_code, result.stdout, result.stderr


def decoded(capture: Path) -> list[dict[str, object]]:
    result = CliRunner().invoke(app, ["decode", str(capture), "--json"])
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_its_counts_are_those_of_decode(capture: Path) -> None:
    code, out, err = summary(capture, "--json")
    found = json.loads(out)
    rows = decoded(capture)
    assert (code, err) == (0, "")
    assert found["exchanges"] == len(rows) > 0
    for by, column in (("api", "api"), ("client", "client_id")):
        values = [row[column] or "-" for row in rows]
        counts = {label: row["count"] for label, row in found[by].items()}
        assert counts == {value: values.count(value) for value in values}


def test_a_table_for_each_that_is_asked_for(capture: Path) -> None:
    code, out, _ = summary(capture, "--by", "client", "--by", "api", "--most", "1")
    assert code == 0
    assert "\nclient " in out
    assert "\napi " in out
    assert "\nbroker " not in out
    assert "more: --most" in out


def test_a_pipe_gets_every_name_whole_in_a_line_a_row() -> None:
    _, out, _ = summary(FOLDER / "rebalance.pcap.gz", "--by", "api", "--by", "client")
    tables = [table.splitlines()[1:] for table in out.split("\n\n")[1:]]
    document = json.loads(summary(FOLDER / "rebalance.pcap.gz", "--json")[1])
    for by, lines in zip(("api", "client"), tables, strict=True):
        rows = document[by]
        assert len(lines) == len(rows)
        for line, (label, row) in zip(lines, rows.items(), strict=True):
            assert line.startswith(f"{label}  ")
            assert all(f"{count} {name}" in line for name, count in row["errors"].items())


@pytest.mark.parametrize("width", [80, 100, 160])
def test_a_terminal_gets_every_name_within_its_width(width: int) -> None:
    out = Terminal(file=io.StringIO(), force_terminal=True, color_system=None, width=width)
    command([FOLDER / "rebalance.pcap.gz"], ("api", "client"), output=Output(out, out))
    assert isinstance(out.file, io.StringIO)
    text = out.file.getvalue()
    assert max(map(len, text.splitlines())) <= width
    for name in ("FindCoordinator", "UNKNOWN_TOPIC_OR_PARTITION", "COORDINATOR_NOT_AVAILABLE"):
        assert name in text


def test_only_what_passes_the_filter_counts(capture: Path) -> None:
    _, out, _ = summary(capture, "--filter", "api == 'Heartbeat'", "--json")
    assert list(json.loads(out)["api"]) == ["Heartbeat"]


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (
            ("--by", "colour"),
            2,
            "--by colour: that is unknown; choose one of: api, client, connection, broker, topic",
        ),
        (("--filter", "apy == 'x'"), 2, "did you mean 'api'?"),
    ],
)
def test_wrong_options(capture: Path, arguments: tuple[str, ...], code: int, said: str) -> None:
    found = summary(capture, *arguments)
    assert found[0] == code
    assert said in found[2]


def test_what_is_no_capture(tmp_path: Path) -> None:
    assert summary(tmp_path / "none.pcapng")[0] == 2
    (tmp_path / "text").write_text("hello")
    assert summary(tmp_path / "text")[0] == 2


FLAPPING = SAMPLES / "flapping.pcapng"


def test_by_group_has_a_row_a_generation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    code, out, _ = summary(FLAPPING, "--by", "group", "--most", "4")
    assert code == 0
    rows = [line.split() for line in out.splitlines() if line.startswith("workers")]
    assert [row[1] for row in rows] == ["1", "2", "3", "4"]
    assert " ".join(rows[2][7:]) == "slow left: consumer poll timeout has expired."
    assert rows[3][-3:] == ["slow", "came", "back"]
    assert "healthy, notified after 386 ms" in out
    assert "... and 6 more: --most 10" in out
    assert "\napi " not in out


def test_by_group_as_json() -> None:
    found = json.loads(summary(FLAPPING, "--by", "group", "--json")[1])
    assert [row["generation"] for row in found["group"]] == [*range(1, 11)]
    whys = [row["why"] for row in found["group"]]
    assert whys.count("slow left: consumer poll timeout has expired.") == 4
    assert whys.count("slow came back") == 3
    assert whys[-1] == "healthy left: the consumer is being closed"
    assert "group" not in json.loads(summary(FLAPPING, "--by", "api", "--json")[1])


def test_a_narrow_terminal_gets_generations_in_lines() -> None:
    out = Terminal(file=io.StringIO(), force_terminal=True, color_system=None, width=80)
    command([FLAPPING], ("group",), output=Output(out, out))
    assert isinstance(out.file, io.StringIO)
    lines = out.file.getvalue().splitlines()
    assert max(map(len, lines)) <= 80
    at = next(at for at, line in enumerate(lines) if line.startswith("workers generation 8 "))
    assert lines[at + 1 : at + 4] == [
        "    leader: healthy",
        "    waited for: healthy, notified after 410 ms",
        "    because: slow came back",
    ]


def test_transactions_only_if_they_are_asked_for() -> None:
    sample = FOLDER / "transactions.pcapng"
    assert "transaction" not in json.loads(summary(sample, "--json")[1])
    code, out, _ = summary(sample, "--by", "transaction", "--json")
    rows = json.loads(out)["transaction"]
    assert (code, [row["outcome"] for row in rows]) == (0, ["abort", "commit"])
    code, out, _ = summary(sample, "--by", "transaction", "--most", "1")
    assert (code, "abort" in out, "commit" in out) == (0, True, False)
    assert "... and 1 more: --most 2" in out
