"""The rules of a proxy that runs: replaced in mid-test, and what each has done."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from barnabas.control_client import Refused
from barnabas.location import PACKAGE

Source = str | os.PathLike[str] | Mapping[str, Any]
"""A scenario: a file, YAML in a string (with line breaks, or beginning with a brace), or a mapping."""

LIBRARY: Final = PACKAGE / "experiments" / "scenarios"
"""The scenarios that have a name (`barnabas scenario list`)."""

EMPTY: Final = "version: 1\nrules: []\n"

Ask = Callable[[str, str, bytes | None], Any]
"""(method, path, body) -> what the control port answers."""


class WrongScenario(ValueError):
    """A scenario or a rule that can't be, and why: each problem with its line."""


def written(source: Source, folder: Path) -> Path | str:
    """The scenario's file, or its text. A relative path begins at `folder`.

    Where there is no such file it may be the name of one of ours. Raises WrongScenario.
    """
    if isinstance(source, Mapping):
        return json.dumps(source, indent=1)
    if not isinstance(source, str | os.PathLike):
        raise WrongScenario(f"a scenario is a file, a name, YAML or a dict, not {source!r}")
    text = os.fspath(source)
    if isinstance(source, str) and is_yaml(text):
        return text
    for path in (folder / text, LIBRARY / f"{text}.yaml"):
        if os.path.isfile(path):  # noqa: PTH113 - also where a name is too long
            return path
    # for its words only: else a test that passes has nothing of the proxy in its own process
    from barnabas.experiments.library import find

    try:
        return find(Path(text), folder)
    except LookupError as problem:
        raise WrongScenario(problem.args[0]) from None


def is_yaml(text: str) -> bool:
    """Whether it is a scenario itself; else a file or a name.

    >>> is_yaml("commit-after-join"), is_yaml("{version: 1, rules: []}")
    (False, True)
    """
    return "\n" in text or text.lstrip().startswith("{")


class Scenario:
    """The rules of a proxy. `folder` is where relative paths begin."""

    def __init__(self, ask: Ask, folder: Path) -> None:
        self._ask = ask
        self._folder = folder

    def load(self, source: Source) -> None:
        """Replace all rules; those that stay the same go on counting. Raises WrongScenario."""
        found = written(source, self._folder)
        if isinstance(found, str):
            self._edit("PUT", "/scenario", found)
        else:
            self._edit("PUT", "/scenario", found.read_text("utf-8-sig"), str(found))

    def clear(self) -> None:
        """No rules; what they held back leaves in order."""
        self.load(EMPTY)

    def add(self, rule: str | Mapping[str, Any]) -> Rule:
        """One more rule (YAML, or a mapping), asked last. Raises WrongScenario."""
        text = rule if isinstance(rule, str) else json.dumps(rule, indent=1)
        found = self._edit("POST", "/scenario/rules", text)
        return self.rule(found["rules"][-1]["name"])

    def rule(self, name: str) -> Rule:
        """A rule by its name. Raises LookupError, with the names there are."""
        rule = Rule(name, self._ask)
        _ = rule.fired
        return rule

    @property
    def rules(self) -> list[Rule]:
        """All of them."""
        return [
            Rule(row["name"], self._ask) for row in self._ask("GET", "/scenario", None)["rules"]
        ]

    def _edit(self, method: str, path: str, text: str, name: str = "") -> Any:
        try:
            return self._ask(method, path, text.encode())
        except Refused as problem:
            raise WrongScenario(f"{name}: {problem}" if name else str(problem)) from None


class Rule:
    """A rule that is at work; its numbers are those of the moment at which they are read.

    They have what it did to every message that a client has got an answer to.
    """

    def __init__(self, name: str, ask: Ask) -> None:
        self.name = name
        self._ask = ask
        self._last: Mapping[str, Any] = {}

    @property
    def matched(self) -> int:
        """The messages it was about."""
        return int(self._now()["matched"])

    @property
    def fired(self) -> int:
        """The messages that it did something to."""
        return int(self._now()["fired"])

    def fire(self) -> None:
        """Let it fire on its next match, whatever its `when` says."""
        self._ask("POST", f"/scenario/rules/{quote(self.name, safe='')}/fire", None)

    def remove(self) -> None:
        """Take it out; what it held back leaves in order."""
        self._ask("DELETE", f"/scenario/rules/{quote(self.name, safe='')}", None)

    def _now(self) -> Mapping[str, Any]:
        found = self._ask("GET", "/scenario", None)["rules"]
        for row in found:
            if row["name"] == self.name:
                self._last = row
                return self._last
        names = ", ".join(repr(row["name"]) for row in found) or "none"
        raise LookupError(f"no rule is called {self.name!r}; there are: {names}")

    def __repr__(self) -> str:
        """As it was when it was last asked."""
        return f"<rule {rule_line(self._last)}>" if self._last else f"<rule {self.name}>"


def rule_line(row: Mapping[str, Any]) -> str:
    """What a rule has done, in a line.

    >>> rule_line({"name": "slow", "matched": 3, "fired": 1, "what": "delay"})
    'slow: 3 matched, 1 fired, delay'
    """
    return f"{row['name']}: {row['matched']} matched, {row['fired']} fired, {row['what']}"
