"""Statements of the guide: what is written of what brokers did, and the short form."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from barnabas.cli.experiments.run import run
from barnabas.designs.protocol_guide import experiment as protocol_guide
from barnabas.designs.protocol_guide import probes as guide_probes
from barnabas.designs.protocol_guide.client_0_8 import Client
from barnabas.designs.protocol_guide.experiment import STATEMENTS, Statement
from barnabas.designs.protocol_guide.probes import CLOSES, Peer
from barnabas.specs.records import read
from tests.places import ROOT

RESULTS = ROOT / "designs/protocol_guide/docs/results"


class Probe:
    """Answers what it is told to, by version."""

    def __init__(self, answers: dict[int, str | OSError]) -> None:
        self.answers = answers
        self.asked: list[int] = []

    def __call__(self, _: Peer, version: int) -> str:
        self.asked.append(version)
        found = self.answers[version]
        if isinstance(found, OSError):
            raise found
        return found


GONE = ConnectionResetError("the broker closed the connection")


@pytest.mark.parametrize(
    ("answers", "saw"),
    [
        ({0: "code 7"}, [(0, "code 7")]),
        ({0: GONE, 3: "code 2"}, [(0, CLOSES), (3, "code 2")]),
        ({0: GONE, 3: GONE}, [(0, CLOSES), (3, CLOSES)]),
        ({0: TimeoutError("timed out")}, [(0, "no answer for 10 s")]),
    ],
)
def test_a_newer_version_is_tried_where_the_connection_is_closed(
    answers: dict[int, str | OSError], saw: list[tuple[int, str]]
) -> None:
    probe = Probe(answers)
    statement = Statement("so", None, probe, (0, 3))
    with Client([]) as client:
        assert protocol_guide.observed(statement, Peer(client)) == saw
    assert probe.asked == [version for version, _ in saw]


def test_a_broker_that_is_not_there_is_no_answer() -> None:
    probe = Probe({0: ConnectionRefusedError(111, "Connection refused")})
    with Client([]) as client, pytest.raises(ConnectionRefusedError):
        protocol_guide.observed(Statement("so", None, probe), Peer(client))


@pytest.mark.parametrize("version", [0, 3])
def test_a_set_has_the_magic_of_its_version(version: int) -> None:
    (batch,) = read(guide_probes.messages(version, 3, compression="gzip"))
    assert (batch.magic, len(batch.records())) == (2 if version else 0, 3)


@pytest.mark.needs_apache("0.8.2.2")
@pytest.mark.timeout(180)
def test_the_short_form_sees_what_the_committed_result_saw(tmp_path: Path) -> None:
    run("protocol-guide", tmp_path, short=True)
    committed = json.loads((RESULTS / "protocol-guide.json").read_text())["measured"]["runs"]
    runs = json.loads((tmp_path / "protocol-guide.json").read_text())["measured"]["runs"]
    assert runs == [one for one in committed if one["version"] == "0.8.2.2"]
    assert [one["statement"] for one in runs] == list(STATEMENTS)
    assert "A short run" in (tmp_path / "protocol-guide.md").read_text()
