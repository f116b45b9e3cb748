"""The same requests, to toxiproxy's own server and to barnabas: the same answers."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest

from tests.ports import free_port
from tests.proxy.toxiproxy.processes import ask, barnabas, placed, toxiproxy
from tests.proxy.toxiproxy.processes import unplaced as without_ports
from tests.proxy.toxiproxy.steps import PORTS, STEPS

Asked = list[tuple[object, int, dict[str, str], object]]


def answers(server: int) -> Asked:
    """Return a server's response to each step, with names in place of ports."""
    ports = {name: free_port() for name in PORTS}
    found: Asked = []
    for step in STEPS:
        method, path, *rest = step
        text, agent = (*rest, "test")[:2] if len(rest) == 2 else (rest[0] if rest else None, "test")
        body = placed(text.decode("latin-1"), ports).encode("latin-1") if text else text
        answer = ask(server, method, path, body, agent)
        shown = comparable(without_ports(answer.body, ports))
        found.append((step, answer.status, answer.headers, shown))
    return found


def comparable(body: str) -> object:
    """Return what a client sees of a body: its JSON, with 32-bit toxicities.

    The reason for which a body cannot be read is left out.
    """
    try:
        found = json.loads(body, parse_float=_of_32_bits)
    except ValueError:
        return body
    if isinstance(found, dict) and str(found.get("error")).startswith("bad request body: "):
        found["error"] = "bad request body"
    return found


def _of_32_bits(number: str) -> float:
    (found,) = struct.unpack("<f", struct.pack("<f", float(number)))
    return float(found)


@pytest.mark.alone
@pytest.mark.slow("builds toxiproxy's server with Go")
@pytest.mark.timeout(600)
def test_barnabas_answers_as_toxiproxy_does(tmp_path: Path) -> None:
    with toxiproxy(tmp_path) as theirs, barnabas("--log", "off") as ours:
        wanted, found = answers(theirs), answers(ours["port"])
    differ = [(one, two) for one, two in zip(wanted, found, strict=True) if one != two]
    assert not differ
    assert len(wanted) > 180
