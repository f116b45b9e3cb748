"""Plug-ins are looked for only by commands that need them."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.places import SAMPLES

PROGRAM = """
import json, sys
from barnabas import plugins
asked, references = [], plugins.references
def note(group):
    asked.append(group)
    return references(group)
plugins.references = note
from barnabas.cli.app import main
try:
    main()
finally:
    designs = [name for name in sys.modules if name.startswith("barnabas.designs")]
    print(json.dumps([sorted(set(asked)), designs]), file=sys.stderr)
"""


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        (["--help"], []),
        (["decode", "--help"], []),
        (["proxy", "--help"], []),
        (["decode", str(SAMPLES / "sasl.pcapng")], []),
        (["summary", str(SAMPLES / "rebalance.pcap.gz")], []),
        (["check", str(SAMPLES / "sasl.pcapng")], []),
        (["spec", "list"], []),
        (["peers", "start", "--help"], []),
        (["peers", "start", "embedded:1"], ["brokers"]),
        (["peers", "--help"], ["peers"]),
        (["check", "--list"], ["dialects"]),
    ],
    ids=lambda each: " ".join(each[:2]) or "none",
)
def test_only_commands_that_need_plug_ins_look_for_them(words: list[str], asked: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *words], capture_output=True, text=True, check=False
    )
    groups, designs = json.loads(done.stderr.splitlines()[-1])
    assert groups == asked
    assert not designs or asked in (["dialects"], ["peers"])


def test_the_help_of_all_does_not_load_the_metadata_of_packages() -> None:
    text = "import sys; sys.argv[1:] = ['--help']\nfrom barnabas.cli.app import main\n"
    text += "try: main()\nexcept SystemExit: print('importlib.metadata' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "False"
