"""`barnabas open`, as a process."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import pytest

from tests.page.browser import barnabas
from tests.places import SAMPLES


def test_it_prints_one_address_and_ends_when_asked() -> None:
    command = [sys.executable, "-m", "barnabas", "open", "captures/samples/faults.pcapng"]
    with subprocess.Popen([*command, "--no-browser"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/#token=[\w-]{43}\n", line)
        process.send_signal(signal.SIGTERM)
        assert process.stdout.read() == ""
    assert process.returncode == 0


@pytest.mark.parametrize(
    ("sample", "size", "said"),
    [
        ("cut-short.pcap.zst", None, "13 segments cut short by the capture's snap length"),
        ("faults.pcapng", 17_613, "ends in the middle of a block"),
    ],
)
def test_it_says_what_of_a_capture_could_not_be_read(
    tmp_path: Path, sample: str, size: int | None, said: str
) -> None:
    path = tmp_path / sample
    path.write_bytes((SAMPLES / sample).read_bytes()[:size])
    os.utime(path, (0, 0))  # complete
    with barnabas("open", str(path), "--no-browser") as ready:
        address = urlsplit(ready["page"])
        token = address.fragment.removeprefix("token=")
        request = Request(
            f"http://{address.netloc}/v1/exchanges/follow",
            headers={"Authorization": f"Bearer {token}"},
        )
        with urlopen(request) as answer:
            last = json.loads(answer.readlines()[-1])
        assert last["over"]
        assert said in last["trouble"]
