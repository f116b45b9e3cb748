"""The folder in which the commands of the tables run: files that are wrong, each in one way."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import trustme

from tests.barnabas.cli.captures.written import write

RULE: Final = "version: 1\nrules:\n- {{name: r, do: {}}}\n"

CAMPAIGN: Final = "version: 1\ntarget: decoder:specs\napis: [Metadata]\nbudget: {cases: 10}\n"

CHECKS: Final = """
from barnabas.captures.checks.finding import Check, Finding, NoSettings

def check(name, see):
    return Check(name, NoSettings(), lambda settings: see, "nothing", "all APIs")

ORDER = (check("order", None),)
TWICE = (check("sizes", None),) * 2
NONE = ("sizes",)
RAISES = (
    check("attribute", lambda exchange, context: exchange.nonsense),
    check("nothing", lambda exchange, context: None),
    check("unproved", lambda exchange, context: [Finding("note", "what", "advice", ())]),
    Check("begins", NoSettings(), lambda settings: settings.none, "nothing", "all APIs"),
)
"""

FAULTS: Final = """
from pydantic import BaseModel, model_validator
from barnabas.proxy.effects import Wait
from barnabas.proxy.faults import PerConnection
from barnabas.proxy.matching.settings import Settings

class Late(BaseModel):
    ns: int = 1

class Applies(Settings):
    def applies_to(self, key, direction, version):
        raise RuntimeError("two\\nlines")

class Across(Settings):
    @property
    def across(self):
        raise SystemExit("none")

class Checks(Settings):
    @model_validator(mode="after")
    def wrong(self):
        raise KeyError("a")

def late(config, message, roll):
    return (Wait(config.ns),)

def later(config, message, roll, seen):
    return (Wait(sum(seen)),)

LEFT_OUT = (("later", Late, later, list),)
WRONG = ("late",)
TAKEN = (("delay", Late, late),)
TWICE = (("late", Late, late),) * 2
LACKS = (("later", Late, later),)
BEYOND = (("late", Late, late, PerConnection(list)),)
ASKS = (("later", Late, later, PerConnection(lambda what: what)),)
NO_FUNCTION = (("later", Late, later, PerConnection("list")),)
RAISE = (("applies", Applies, late), ("across", Across, late), ("checks", Checks, late))
"""

FILES: Final[dict[str, str | bytes]] = {
    "symptom.yaml": "version: 1\nabout: {simulates: a, healthy: b, symptoms: [lag]}\nrules: []\n",
    "wrong.yaml": "version: 1\nrules:\n  - name: a\n    do: {delai: 200ms}\n    match: {api: Fetch}\n",
    "right.yaml": "version: 1\nrules:\n  - name: a\n    do: {delay: 200ms}\n    match: {api: Fetch}\n",
    "slow-broker.yaml": "version: 1\nrules: []\n",
    "where.yaml": "version: 1\nrules: [{name: a, when: {skip: 1}, do: close}]",
    "wander.yaml": RULE.format("{wander: 3}"),
    **{f"{name}.yaml": RULE.format(name) for name in ("applies", "across", "checks")},
    "odd.yaml": b"\xff",
    "c.yaml": CAMPAIGN,
    "captures.yaml": CAMPAIGN + "captures: [nope.pcapng]\n",
    "frames.yaml": CAMPAIGN + "frames: [nope.pcapng]\n",
    "own_checks.py": CHECKS,
    "own_faults.py": FAULTS,
    "text.pcapng": "this is no capture, but long enough to be one",
    "notes": "remember the milk\n",
    "empty": "",
    "photo": bytes.fromhex("ffd8ffe000104a46"),
    "log": '{"ts": 1}\n',
    "empty.json": "[{}]",
    "cut.json": "{",
    "no-port.json": '[{"name": "a", "upstream": "b:1", "listen": "x"}]',
}

FOLDERS: Final = (
    "folder",
    "several",
    "locked/_lock",
    "batches/exchanges/batch=1",
    "tables/exchanges/capture=1",
    "old/exchanges/capture=a/day=2026-01-01/api=Fetch",
    "old-batches/exchanges/batch=0/capture=a/day=2026-01-01/api=Fetch",
    *("lost/exchanges/batch=0", "lost/delta/exchanges"),
)


def make(folder: Path) -> None:
    """Write all files."""
    for name in FOLDERS:
        (folder / name).mkdir(parents=True)
    for name, content in FILES.items():
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    for path in (folder / "good.pcapng", folder / "several" / "one.pcapng"):
        write(path, 3, note=True)
    (folder / "link.yaml").symlink_to("right.yaml")
    os.mkfifo(folder / "pipe")
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(folder / "ca.pem"))
    for name in ("one", "two"):
        leaf = authority.issue_cert("localhost")
        leaf.cert_chain_pems[0].write_to_path(str(folder / f"{name}.pem"))
        leaf.private_key_pem.write_to_path(str(folder / f"{name}.key"))
    leaf.private_key_and_cert_chain_pem.write_to_path(str(folder / "both.pem"))
