"""Nothing that came off the wire, or stands in a capture, steers the terminal that shows it."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from rich.table import Table
from rich.text import Text

from barnabas.captures.writing.writer import CaptureWriter
from barnabas.cli.app import main
from barnabas.cli.console.output import Output
from barnabas.cli.console.show import log_line_of_row, show
from barnabas.cli.console.terminal import Terminal
from barnabas.cli.ctl.port import Port
from barnabas.proxy.control import lines
from barnabas.specs.frames import Direction, Frame, encode_frame
from barnabas.specs.headers import request_header_version, response_header_version
from barnabas.specs.registry import key_of
from barnabas.trouble import Trouble
from tests.barnabas.cli.command import Ran, run
from tests.captures.traffic import BROKER, CLIENT, NOW

HOSTILE = "a\x1b]0;b\x07\x1b[2Jc\r\nWARNING: d\x9b31m\x7f\u202e\u2028[red]e[/] :fire:"
"""Escapes, line breaks, C1, DEL, marks of direction; and what rich would take for its own."""

SCENARIO = f"""\
version: 1
rules:
- name: {json.dumps(HOSTILE)}
  match: {{api: Heartbeat}}
  do: {{delay: 1ms}}
"""


Body = dict[str, Any]


def steers(text: str) -> str:
    """What of a text that was printed is not for printing."""
    return "".join(c for line in text.split("\n") for c in line if not c.isprintable())


def test_a_stream_shows_text_as_it_is_and_nothing_of_it_steers() -> None:
    file = io.StringIO()
    stream = Terminal(file=file, width=200, soft_wrap=True)
    table = Table(box=None)
    table.add_column("what")
    table.add_row(HOSTILE)
    for shown in (HOSTILE, Text(HOSTILE), table):
        stream.print(shown)
    output = file.getvalue()
    assert steers(output) == ""
    assert output.count("[red]e[/] :fire:") == 3
    assert "\n\n" not in output


@pytest.mark.parametrize("write", ["note", "line"])
def test_a_line_for_the_person_stays_one(write: str, capsys: pytest.CaptureFixture[str]) -> None:
    getattr(Output(), write)(f"connection 1 ({HOSTILE}@10.0.0.1:5): this and that")
    output = "".join(capsys.readouterr())
    assert output.count("\n") == 1
    assert steers(output) == ""
    assert "[red]e[/] :fire:" in output


def test_trouble_is_no_way_around(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def troubled(**_: object) -> None:
        raise Trouble(f"a broker says {HOSTILE}")

    monkeypatch.setattr("barnabas.cli.app.app", troubled)
    with pytest.raises(SystemExit):
        main()
    errors = capsys.readouterr().err
    assert errors.startswith("barnabas: a broker says a\ufffd]0;b")
    assert steers(errors) == ""


def message(direction: Direction, number: int, name: str, version: int, body: Body) -> bytes:
    """A request of a client with such a name, or a response."""
    key = key_of(name)
    header: Body = {"correlation_id": number}
    tagged = response_header_version(key, version) >= 1
    if direction == "request":
        header |= {"request_api_key": key, "request_api_version": version, "client_id": HOSTILE}
        tagged = request_header_version(key, version) >= 2
    if tagged:
        header["_tags"] = {}
    return encode_frame(Frame(direction, key, version, header, body))


H = HOSTILE
MEMBER = ("group_id", "member_id", "group_instance_id", "protocol_type", "reason")
SAID: list[tuple[str, int, Body, Body]] = [
    ("ApiVersions", 3, {"client_software_name": H, "client_software_version": H}, {}),
    ("SaslHandshake", 1, {"mechanism": H}, {"error_code": 33, "mechanisms": [H]}),
    (
        "SaslAuthenticate",
        1,
        {"auth_bytes": b"\0" + H.encode() + b"\0x"},
        {"error_code": 58, "error_message": H},
    ),
    (
        "Metadata",
        9,
        {"topics": [{"name": H}]},
        {
            "brokers": [{"node_id": 1, "host": H, "port": 1, "rack": H}],
            "cluster_id": H,
            "topics": [{"error_code": 3, "name": H, "partitions": []}],
        },
    ),
    (
        "JoinGroup",
        8,
        {**dict.fromkeys(MEMBER, H), "protocols": [{"name": H, "metadata": b"x"}]},
        {"error_code": 79, "member_id": H, "protocol_name": H, "leader": H},
    ),
    ("Heartbeat", 3, {"group_id": H, "generation_id": 1, "member_id": H}, {"error_code": 27}),
    (
        "LeaveGroup",
        5,
        {"group_id": H, "members": [{"member_id": H, "group_instance_id": H, "reason": H}]},
        {"error_code": 0, "members": [{"member_id": H, "error_code": 25}]},
    ),
]


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A capture of ours in which all that can be text is hostile."""
    path = tmp_path_factory.mktemp("hostile") / "hostile.pcapng"
    meta = {"scenario": SCENARIO, "began": NOW, "masked": [HOSTILE], "remark": HOSTILE}
    with CaptureWriter(path, limit=None, meta=meta) as writer:
        flow = writer.open(1, CLIENT, BROKER, NOW, {"broker": 1})
        for number, (name, version, asked, answered) in enumerate(SAID):
            at = NOW + number * 1_000_000
            request = message("request", number, name, version, asked)
            fired = {"frame": number, "rules": [HOSTILE], "effects": [HOSTILE], "undecodable": H}
            flow.arrived("request", request, at, [(len(request), fired)])
            flow.arrived("response", message("response", number, name, version, answered), at)
        odd = message("request", 99, "Metadata", 9, {"topics": []})[:-1] + b"\x7f"
        flow.arrived("request", odd, NOW + 10**9)
        flow.close(NOW + 2 * 10**9)
    return path


COMMANDS = (
    *("decode FILE", "summary FILE", "grep WARNING FILE", "rehearse FILE", "decode FILE --frames"),
    *("diff FILE OTHER", "diff FILE OTHER --everything", "rehearse FILE --check"),
)


def ran(capture: Path, command: str, folder: Path) -> Ran:
    """A command on the capture (FILE), and on another one (OTHER)."""
    other = folder / "other.pcapng"
    with CaptureWriter(other, limit=None, meta={}) as writer:
        flow = writer.open(1, CLIENT, BROKER, NOW, {"broker": 1})
        for number, (name, version, asked, _) in enumerate(SAID[3:]):
            flow.arrived("request", message("request", number, name, version, asked), NOW)
            flow.arrived("response", message("response", number, name, version, {}), NOW)
        flow.close(NOW)
    places = {"FILE": capture, "OTHER": other, "OUT": folder / "out.pcapng"}
    return run(*(places.get(word, word) for word in command.split()))


@pytest.mark.parametrize("command", [*COMMANDS, "check FILE", "convert FILE OUT"])
def test_no_command_lets_a_capture_steer_the_terminal(
    capture: Path, command: str, tmp_path: Path
) -> None:
    result = ran(capture, command, tmp_path)
    output = result.stdout + result.stderr
    assert result.returncode in (0, 1), output
    assert output
    assert steers(output) == ""
    assert "\nWARNING: d" not in output


@pytest.mark.parametrize(
    "command", [*(f"{command} --json" for command in COMMANDS), "convert FILE - --to jsonl"]
)
def test_each_line_of_json_is_one_for_every_program(
    capture: Path, command: str, tmp_path: Path
) -> None:
    result = ran(capture, command, tmp_path)
    assert result.rows
    assert steers(result.stdout) == ""
    if command == "decode FILE --json":
        assert {row["client_id"] for row in result.rows} == {HOSTILE}, "exactly what was there"


@pytest.mark.parametrize("form", ["json", "sarif"])
def test_nothing_in_a_document_of_json_ends_a_line_or_steers(
    capture: Path, tmp_path: Path, form: str
) -> None:
    result = ran(capture, f"check FILE --format {form}", tmp_path)
    assert result.document
    assert steers(result.stdout) == ""


def test_a_control_port_is_no_way_around(capsys: pytest.CaptureFixture[str]) -> None:
    way = {"frames": 0, "queued": 0, "held": 0, "lost": False}
    results = {
        "connection": 1, "broker": None, "client_id": HOSTILE, "client_address": "10.0.0.1:5",
        "waiting_requests": 0, "paused": False, "api": HOSTILE, "version": 1,
        "key": 1, "ended": "2026-01-01T00:00:00Z", "details": HOSTILE, "note": HOSTILE,
        "error": HOSTILE, "latency_ms": None, "rules": [HOSTILE], "request": way, "response": way,
    }  # fmt: skip
    port = Port(None, None, None, as_json=False)
    port.show(results, [lines.connection(results)])
    port.print(results, lambda: show(Terminal(), log_line_of_row(results)))
    Port(None, None, None, as_json=True).show(results, [])
    output = capsys.readouterr().out
    assert len(output.splitlines()) == output.count("\n") == 3
    assert steers(output) == ""
