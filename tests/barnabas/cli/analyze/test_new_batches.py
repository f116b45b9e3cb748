"""`barnabas analyze --from-batch`: what it says before Spark starts, and what comes of it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from barnabas.cli.analyze.new_batches import analyze_added
from barnabas.cli.analyze.options import AnalyzeOptions
from barnabas.pipeline.tables.decoded_bodies import Bodies
from barnabas.pipeline.tables.delta import commit_batch
from barnabas.pipeline.tables.tables import TableOptions, write
from barnabas.trouble import FINE, MISUSE, Trouble
from tests.places import SAMPLES


@pytest.fixture(scope="module")
def followed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two batches, as Delta tables."""
    tables, out = tmp_path_factory.mktemp("tables"), tmp_path_factory.mktemp("followed")
    (out / "exchanges" / "batch=1").mkdir(parents=True)
    for number, name in enumerate(("midway.pcap", "rebalance.pcap.gz")):
        write(None, [SAMPLES / name], tables / name, TableOptions(bodies=Bodies(json=True)))
        commit_batch(tables / name, out, number)
    return out


@pytest.mark.parametrize("as_json", [False, True])
def test_behind_the_last_batch_it_only_says_which_is_next(
    followed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], *, as_json: bool
) -> None:
    out = tmp_path / "added"
    wanted = AnalyzeOptions(captures=[str(followed)], out=str(out), as_json=as_json)
    assert analyze_added(wanted, 2) == FINE
    said = capsys.readouterr().out
    if as_json:
        assert json.loads(said) == {"next_batch": 2}
    else:
        assert said == "nothing was added\nnext: --from-batch 2\n"
    assert not out.exists()
    for first, other, said in (
        (3, wanted, "--from-batch 3: batch 2 is the next one"),
        (0, replace(wanted, captures=[str(tmp_path)]), f"{tmp_path} has no Delta tables"),
        (0, replace(wanted, master="nowhere"), "--master: "),
    ):
        with pytest.raises(Trouble, match=said) as raised:
            analyze_added(other, first)
        assert raised.value.code == MISUSE
    assert not out.exists()


@pytest.mark.usefixtures("spark_of_commands")
def test_it_analyzes_what_was_added_into_a_new_folder(
    followed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "added")
    wanted = AnalyzeOptions(captures=[str(followed)], out=out, as_json=True)
    assert analyze_added(wanted, 1) == FINE
    said = capsys.readouterr()
    assert said.err == ""
    document = json.loads(said.out)
    assert document["captures"] == ["rebalance.pcap.gz"]
    assert document["exchanges"] == 84
    assert document["next_batch"] == 2
    assert (tmp_path / "added" / "report.html").exists()
    with pytest.raises(Trouble, match="is not empty: --from-batch needs a new folder"):
        analyze_added(wanted, 1)
