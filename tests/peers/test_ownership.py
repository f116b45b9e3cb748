from __future__ import annotations

import pytest

from barnabas.peers.ownership import is_loopback


@pytest.mark.parametrize(("host", "is_one"), [
    ("127.0.0.1", True),
    ("127.8.9.1", True),
    ("::1", True),
    ("localhost", True),
    ("0.0.0.0", False),
    ("::", False),
    ("192.168.1.1", False),
    ("localhost.evil.example", False),
    ("", False),
])  # fmt: skip
def test_loopback_is_what_only_this_machine_reaches(host: str, is_one: bool) -> None:
    assert is_loopback(host) == is_one
