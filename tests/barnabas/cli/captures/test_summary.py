"""`barnabas summary` on samples."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from barnabas.cli.captures.options import SummaryOptions
from barnabas.cli.captures.summary import summary as command
from barnabas.cli.console.output import Output
from barnabas.cli.console.terminal import Terminal
from tests.barnabas.cli.command import Ran, run
from tests.places import SAMPLES

CAPTURE = SAMPLES / "faults.pcapng"


def summary(*arguments: str | Path) -> Ran:
    return run("summary", *arguments)


def test_its_counts_are_those_of_decode() -> None:
    summed = summary(CAPTURE, "--json")
    found, rows = summed.document, run("decode", CAPTURE, "--json").rows
    assert (summed.returncode, summed.stderr) == (0, "")
    assert found["exchanges"] == len(rows) > 0
    for by, column in (("api", "api"), ("client", "client_id")):
        values = [row[column] or "-" for row in rows]
        counts = {label: row["count"] for label, row in found[by].items()}
        assert counts == {value: values.count(value) for value in values}


def test_a_pipe_gets_every_name_whole_in_a_line_a_row() -> None:
    _, out, _ = summary(SAMPLES / "rebalance.pcap.gz", "--by", "api", "--by", "client")
    tables = [table.splitlines()[1:] for table in out.split("\n\n")[1:]]
    document = summary(SAMPLES / "rebalance.pcap.gz", "--json").document
    for by, lines in zip(("api", "client"), tables, strict=True):
        rows = document[by]
        assert len(lines) == len(rows)
        for line, (label, row) in zip(lines, rows.items(), strict=True):
            assert line.startswith(f"{label}  ")
            assert all(f"{count} {name}" in line for name, count in row["errors"].items())


def on_a_terminal(capture: Path, by: tuple[str, ...], width: int) -> str:
    """What a terminal shows; no line is wider than it."""
    file = io.StringIO()
    out = Terminal(file=file, force_terminal=True, color_system=None, width=width)
    command(SummaryOptions(files=[capture], by=[*by]), Output(out, out))
    assert max(map(len, file.getvalue().splitlines())) <= width
    return file.getvalue()


@pytest.mark.parametrize("width", [80, 100, 160])
def test_a_terminal_gets_every_name_within_its_width(width: int) -> None:
    text = on_a_terminal(SAMPLES / "rebalance.pcap.gz", ("api", "client"), width)
    for name in ("FindCoordinator", "UNKNOWN_TOPIC_OR_PARTITION", "COORDINATOR_NOT_AVAILABLE"):
        assert name in text


def test_only_what_passes_the_filter_counts() -> None:
    found = summary(CAPTURE, "--filter", "api == 'Heartbeat'", "--json").document
    assert list(found["api"]) == ["Heartbeat"]


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


def test_a_narrow_terminal_gets_generations_in_lines() -> None:
    lines = on_a_terminal(FLAPPING, ("group",), 80).splitlines()
    at = next(at for at, line in enumerate(lines) if line.startswith("workers generation 8 "))
    assert lines[at + 1 : at + 4] == [
        "    leader: healthy",
        "    waited for: healthy, notified after 410 ms",
        "    because: slow came back",
    ]


def test_transactions_only_if_they_are_asked_for() -> None:
    sample = SAMPLES / "transactions.pcapng"
    assert "transaction" not in summary(sample, "--json").document
    rows = summary(sample, "--by", "transaction", "--json").document["transaction"]
    assert [row["outcome"] for row in rows] == ["abort", "commit"]
    code, out, _ = summary(sample, "--by", "transaction", "--most", "1")
    assert (code, "abort" in out, "commit" in out) == (0, True, False)
    assert "... and 1 more: --most 2" in out
