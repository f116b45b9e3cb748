"""The CA of the proxy's own: its owner's alone, and one for all who ask at the same time."""

from __future__ import annotations

import contextlib
import ssl
import threading
from pathlib import Path

import pytest
import trustme

from barnabas.proxy.network.certificate_authority import CERTIFICATE, KEY, authority, minted


def test_a_key_that_others_could_read_is_not_written_into(tmp_path: Path) -> None:
    """The CA's certificate was removed, so that a new CA would be made."""
    (tmp_path / KEY).write_text("the key before")
    (tmp_path / KEY).chmod(0o644)
    with (tmp_path / KEY).open() as before:
        authority(tmp_path)
        assert (tmp_path / KEY).stat().st_mode & 0o777 == 0o600
        assert before.read() == "the key before"  # not a byte of the new one
    assert sorted(path.name for path in tmp_path.iterdir()) == [KEY, CERTIFICATE]


@pytest.mark.parametrize("lost", [KEY, CERTIFICATE])
def test_key_and_certificate_belong_together(tmp_path: Path, lost: str) -> None:
    authority(tmp_path)
    (tmp_path / lost).unlink()
    authority(tmp_path)
    context = ssl.create_default_context()
    context.load_cert_chain(tmp_path / CERTIFICATE, tmp_path / KEY)  # raises if they do not


def test_all_who_ask_at_once_get_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = trustme.CA
    both = threading.Barrier(2)

    def slow(organization_name: str, organization_unit_name: str) -> trustme.CA:
        with contextlib.suppress(threading.BrokenBarrierError):
            both.wait(timeout=0.5)  # if two are here at once, they go on together
        return made(organization_name=organization_name)

    slow.from_pem = made.from_pem  # type: ignore[attr-defined]
    monkeypatch.setattr("barnabas.proxy.network.certificate_authority.trustme.CA", slow)
    found: list[bytes] = []
    threads = [
        threading.Thread(target=lambda: found.append(authority(tmp_path).cert_pem.bytes()))
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert len(found) == 2
    assert found[0] == found[1] == (tmp_path / CERTIFICATE).read_bytes()


def test_names_that_no_certificate_can_have_are_left_out() -> None:
    """The names of brokers come from a response, which may contain anything."""
    names = ("kafka_1", "a..b", "x" * 255, "", "h\ufffdst", "fe80::1%eth0", "127.0.0.1")
    assert minted(trustme.CA())(names) is not None


def test_certificates_are_kept_up_to_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("barnabas.proxy.network.certificate_authority.KEPT", 2)
    mint = minted(trustme.CA())
    first = mint(("a",))
    mint(("b",))
    assert mint(("a",)) is first
    mint(("c",))
    mint(("d",))
    assert mint(("a",)) is not first


def test_a_making_that_is_cut_short_is_done_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority(tmp_path)
    (tmp_path / KEY).unlink()
    full = OSError("the disk is full")

    def refused(path: Path, data: bytes) -> None:
        raise full

    with monkeypatch.context() as patched:
        patched.setattr("barnabas.captures.files.private.replace", refused)
        with pytest.raises(OSError, match="full"):
            authority(tmp_path)
    authority(tmp_path)
    ssl.create_default_context().load_cert_chain(tmp_path / CERTIFICATE, tmp_path / KEY)
