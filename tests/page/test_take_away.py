"""Exchanges are taken away as files: what is in them, what is said of them, what is refused."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import pytest
from typer.testing import CliRunner

from barnabas.captures.capture import Unreadable, open_capture
from barnabas.captures.files.pcapng import CaptureError
from barnabas.captures.reader import CaptureReader
from barnabas.cli.app import app as commands
from barnabas.page import forms, take_away
from barnabas.page.api import PageContent, application, is_file
from barnabas.page.as_client_test import LANGUAGES, Language
from barnabas.page.forms import FORMS, ExchangeSelection, Form, Origin
from barnabas.page.take_away import REMARK_HEADER, USAGE
from barnabas.proxy.control.history import History
from barnabas.proxy.control.server import serve
from barnabas.proxy.scenario.file import loads
from tests.captures.traffic import kafka_seen
from tests.page.pages import Caller, called, shown
from tests.places import SAMPLES
from tests.proxy.servers import SOON

PRODUCE = "api == 'Produce'"


class File(NamedTuple):
    """What came back."""

    status: int
    name: str
    said: str
    body: bytes


class Take:
    """Takes exchanges away, in a form as it is asked for."""

    def __init__(self, call: Caller) -> None:
        self._call = call

    def __call__(self, body: str | None = None, **wanted: Any) -> File:
        result = self._call("/v1/take", json.dumps(wanted) if body is None else body)
        name, said = (
            result.headers.get(one.lower(), "") for one in ("Content-Disposition", REMARK_HEADER)
        )
        return File(result.status, name, said, result.body)


@contextlib.contextmanager
def taking(made: str | Callable[[], tuple[History, Any]] = "faults.pcapng") -> Iterator[Take]:
    """Of a sample, or of what is made."""
    make = made if callable(made) else lambda: shown(SAMPLES / made)
    with called(make) as call:
        yield Take(call)


def without_packets(origin: Origin) -> Callable[[], tuple[History, Any]]:
    """A live proxy's: nothing but exchanges."""

    def made() -> tuple[History, Any]:
        history, _ = shown(SAMPLES / "embedded.pcapng")
        source = {"kind": "live", "name": "here", "keeps": 9}
        return history, application(PageContent(history, source, origin=origin))

    return made


def decoded(path: Path, *options: str) -> str:
    return CliRunner().invoke(commands, ["decode", "--json", str(path), *options]).stdout


@pytest.mark.parametrize("name", ["embedded.pcapng", "transactions.pcapng", "kip-848.pcapng"])
def test_json_lines_are_those_of_decode_byte_for_byte(name: str) -> None:
    with taking(name) as take:
        for condition, options in (None, ()), (PRODUCE, ("--filter", PRODUCE)):
            result = take(form="jsonl", filter=condition)
            lines = decoded(SAMPLES / name, *options)
            assert result.body.decode() == lines
            assert result.said == f"{lines.count(chr(10))} exchanges"
            assert result.name == 'attachment; filename="exchanges.jsonl"'


@pytest.mark.needs_tshark
def test_packets_of_a_capture_are_those_that_it_has(tmp_path: Path) -> None:
    out = tmp_path / "out.pcapng"

    with taking() as take:
        out.write_bytes(take(form="pcapng", numbers=[5, 3, 999]).body)
        meta = CaptureReader(out).meta
        assert meta["slice"] == ["3 chosen exchanges"]
        assert "reconstructed" not in meta
        rows = decoded(SAMPLES / "faults.pcapng").splitlines()
        assert decoded(out).splitlines() == [rows[3], rows[5]]
        assert len(kafka_seen(out, (open_port(out),))) == 4
        result = take(form="pcapng", filter="rules")
        assert result.said == "5 exchanges"
        out.write_bytes(result.body)
        assert CaptureReader(out).meta["slice"] == ["--filter rules"]


def open_port(path: Path) -> int:
    capture = open_capture(path)
    return int(next(capture.exchanges()).server_address.rpartition(":")[2])


def gone() -> Any:
    raise Unreadable("it is gone")


def test_packets_that_end_on_the_way_are_not_in_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(reader: Any, survey: Any, events: Any, file: BinaryIO, why: str) -> None:
        file.write(bytes(1 << 20))
        raise CaptureError(9, "it ends")

    monkeypatch.setattr(forms, "repack", breaks)
    with taking() as take:
        result = take(form="pcapng", filter=PRODUCE)
    assert result.said.endswith("frames are reconstructed: the packets are no longer kept")
    (tmp_path / "out.pcapng").write_bytes(result.body)
    assert "reconstructed" in CaptureReader(tmp_path / "out.pcapng").meta


@pytest.mark.parametrize(
    "packets",
    [None, gone, lambda: open_capture(SAMPLES / "faults.pcapng")],
    ids=["none", "gone", "of others"],
)
def test_where_packets_are_gone_frames_are_written_anew(packets: Any, tmp_path: Path) -> None:
    out = tmp_path / "out.pcapng"

    with taking(without_packets(Origin("here", packets))) as take:
        result = take(form="pcapng", filter=PRODUCE)
        assert (
            result.said == "6 exchanges; frames are reconstructed: the packets are no longer kept"
        )
        out.write_bytes(result.body)
        assert "reconstructed" in CaptureReader(out).meta
        assert decoded(out).count("\n") == 6


def test_a_scenario_does_again_what_rules_did() -> None:
    with taking() as take:
        result = take(form="scenario", numbers=list(range(20)))
        assert result.name == 'attachment; filename="again.yaml"'
        rules = loads(result.body.decode()).rules
        assert [rule.name for rule in rules] == ["slow produce", "the leader is busy"]
        result = take(form="scenario", numbers=[0])
        assert result.said == "1 exchange; no rule fired on them"
        assert loads(result.body.decode()).rules == ()


def test_a_test_has_what_rules_did_too() -> None:
    with taking() as take:
        result = take(form="pytest", filter=PRODUCE)
        assert result.name == 'attachment; filename="test_seen.py"'
        compile(result.body, "test_seen.py", "exec")
        assert b"the leader is busy" in result.body
        assert b"samples/faults.pcapng.\n" in result.body
        result = take(form="pytest", filter="api == 'ApiVersions'")
        assert result.status == 422
        assert "no exchange can be compared" in json.loads(result.body)["error"]


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.name)
def test_a_test_of_a_client_is_of_one_exchange(language: Language) -> None:
    with taking() as take:
        result = take(form=language.name, numbers=[7])
        assert result.name == f'attachment; filename="{language.file}"'
        assert (
            b"{name: the leader is busy, match: {api: Produce, direction: request}" in result.body
        )
        result = take(form=language.name, numbers=[7, 8])
        assert result.status == 422
        assert "choose one" in json.loads(result.body)["error"]


def test_what_was_left_out_is_counted() -> None:
    def made() -> tuple[History, Any]:
        return shown(SAMPLES / "embedded.pcapng", lambda each: each.leave_out("response"))

    with taking(made) as take:
        output = take(form="jsonl", numbers=[0, 1]).said
        assert output == "2 exchanges; of 2 exchanges a body was not kept"
        assert take(form="pytest").status == 422


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        ("", 400, USAGE),
        ("[]", 400, USAGE),
        ('{"form": "exe"}', 400, USAGE),
        ('{"form": "jsonl", "numbers": [1], "filter": "rules"}', 400, USAGE),
        ('{"form": "jsonl", "other": 1}', 400, USAGE),
        ('{"form": "jsonl", "numbers": [true]}', 400, "numbers: give a list of numbers"),
        ('{"form": "jsonl", "numbers": {"a": 1}}', 400, "numbers: give a list of numbers"),
        ('{"form": "jsonl", "filter": 5}', 400, "filter: give text"),
        (
            '{"form": "jsonl", "filter": "nope == 1"}',
            400,
            "filter: exchanges have no column 'nope'",
        ),
        ('{"form": "jsonl", "numbers": [7777]}', 404, "no exchange that is held is among those"),
        ("[" * 100_000, 400, USAGE),
    ],
)
def test_what_can_not_be_meant_is_refused_in_a_line(body: str, status: int, said: str) -> None:
    with taking() as take:
        result = take(body)
        assert result.status == status
        assert json.loads(result.body)["error"].startswith(said)


@pytest.mark.parametrize("form", [form.name for form in FORMS])
def test_what_is_held_is_given_also_when_the_capture_is_gone(tmp_path: Path, form: str) -> None:
    path = tmp_path / "run.pcapng"
    path.write_bytes((SAMPLES / "faults.pcapng").read_bytes())

    def made() -> Any:
        result = shown(path)
        path.unlink()
        return result

    with taking(made) as take:
        result = take(form=form, numbers=[7])
        assert result.status == 200, result.body


async def test_what_nobody_waits_for_any_longer_is_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A stop would wait for it."""
    begun, over, left = threading.Event(), threading.Event(), list[int]()

    def slow(taken: ExchangeSelection, _: BinaryIO) -> str:
        begun.set()
        if taken.gone.wait(SOON):
            left.append(len(list(taken.exchanges())))
        over.set()
        return ""

    monkeypatch.setattr(take_away, "FORMS", (Form("jsonl", "file", "text/plain", slow),))

    serving = await serve(shown(SAMPLES / "faults.pcapng")[1], ("127.0.0.1", 0), "secret", is_file)
    host, port = serving.address
    connection = http.client.HTTPConnection(host, port)
    output = '{"form": "jsonl"}', {"Authorization": "Bearer secret"}
    await asyncio.to_thread(connection.request, "POST", "/v1/take", *output)
    await asyncio.to_thread(begun.wait, SOON)
    connection.close()
    await asyncio.to_thread(over.wait, SOON)
    await serving.stop()
    assert left == [0]
