"""What a user names as a target, and what is told when it can't be."""

from __future__ import annotations

import pytest

from barnabas.fuzz.errors import CannotRun, Misuse
from barnabas.fuzz.targets.clients.registry import client
from barnabas.peers.clients.golang import SOURCES
from barnabas.peers.clients.registry import LIBRARIES, WITHOUT_SESSIONS

IN_GO = {folder.name.replace("_", "-") for folder in SOURCES.glob("*") if folder.is_dir()}
RAISING = [name for name, _, _ in LIBRARIES if name not in {*IN_GO, *WITHOUT_SESSIONS}]


@pytest.mark.parametrize("name", WITHOUT_SESSIONS)
def test_a_library_without_sessions_is_no_target(name: str) -> None:
    with pytest.raises(Misuse, match=rf"^{name} has no sessions for the fuzzer"):
        client(f"{name}@1.2.3")


def test_a_command_says_where_the_broker_goes() -> None:
    assert client("command:kcat -b {bootstrap} -L").name == "command kcat"
    with pytest.raises(Misuse, match="bootstrap"):
        client("command:kcat -L")


def test_what_can_not_be_had_can_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(CannotRun, match=r"go\.dev"), client("sarama@1.46.2"):
        pass
