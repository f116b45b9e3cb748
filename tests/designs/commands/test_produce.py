"""`peers produce`: what it says of lines that are not sent, and of how many it knows."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from barnabas.captures.host_port import endpoint_text
from barnabas.designs.brokers.listener import Address
from barnabas.designs.brokers.logs.log import MESSAGE_LIMIT
from barnabas.designs.commands.consume import consume
from barnabas.designs.commands.produce import LINE_LIMIT, produce
from barnabas.designs.protocol_guide.client_0_8 import Client
from barnabas.trouble import COULD_NOT_RUN, FINE, MISUSE, Trouble
from tests.designs.brokers.logs.broker import with_broker
from tests.waiting import SOON


def sent(folder: Path, lines: bytes) -> tuple[int, str, list[list[bytes | None]]]:
    """Exit code, what is said, and what both partitions of t have then."""

    def talk(address: Address) -> Any:
        done = subprocess.run(
            [
                *(sys.executable, "-m", "barnabas", "peers", "produce"),
                *("-b", endpoint_text(address), "--topic", "t"),
            ],
            input=lines,
            capture_output=True,
            timeout=SOON,
            check=False,
        )
        with Client([address]) as client:
            found = client.fetch({("t", 0): 0, ("t", 1): 0}, min_bytes=0)
        values = [[one.value for _, one in found["t", at].messages] for at in (0, 1)]
        return done.returncode, done.stderr.decode(), values

    result: tuple[int, str, list[list[bytes | None]]] = with_broker("rewrite", folder, talk)
    return result


def test_lines_are_records_and_the_last_one_needs_no_end(tmp_path: Path) -> None:
    assert sent(tmp_path, b"a\n\nb") == (FINE, "3 records sent\n", [[b"a", b"b"], [b""]])


def test_what_the_other_partitions_took_counts_where_one_takes_no_records(tmp_path: Path) -> None:
    code, said, values = sent(tmp_path, b"a\n" + bytes(MESSAGE_LIMIT) + b"\nb\n")
    assert (code, values[1]) == (COULD_NOT_RUN, [])
    count = len(values[0])
    assert said == (
        f"barnabas: t[1] takes no records: MESSAGE_TOO_LARGE; {count} record{'s' * (count != 1)} sent\n"
    )


def test_a_line_without_end_is_not_waited_for(tmp_path: Path) -> None:
    code, said, values = sent(tmp_path, b"a\n" + bytes(LINE_LIMIT + 1))
    assert (code, values) == (COULD_NOT_RUN, [[b"a"], []])
    assert said == f"barnabas: a line of stdin has more than {LINE_LIMIT} bytes; 1 record sent\n"


@pytest.mark.parametrize(
    ("name", "said"), [("a\udcff", "is not valid UTF-8"), ("x" * 40_000, "a name of 40000 bytes")]
)
def test_names_that_no_request_can_have_are_misuse(name: str, said: str) -> None:
    calls: tuple[Callable[[], int], ...] = (
        lambda: produce("a:1", name),
        lambda: consume("rewrite", "a:1", "g", name),
        lambda: consume("central", "a:1", name, "t"),
    )
    for call in calls:
        with pytest.raises(Trouble, match=said) as caught:
            call()
        assert caught.value.code == MISUSE
