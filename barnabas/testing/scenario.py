"""The rules of a running proxy, which a test may replace, and their counters."""

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
"""The folder of ready scenarios (`barnabas scenario list`)."""

EMPTY: Final = "version: 1\nrules: []\n"

Ask = Callable[[str, str, bytes | None], Any]
"""Sends (method, path, body) to the control port and returns the JSON of the response."""


class WrongScenario(ValueError):
    """An invalid scenario or rule; the message has each problem with its line."""


def written(source: Source, folder: Path) -> Path | str:
    """Return a scenario's file, or its text. Raises WrongScenario.

    folder: The folder of relative paths. If the file does not exist, the source may be the name of a ready
    scenario.
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
    # only for the error message: a test that passes imports nothing of the proxy
    from barnabas.experiments.library import find

    try:
        return find(Path(text), folder)
    except LookupError as problem:
        raise WrongScenario(problem.args[0]) from None


def is_yaml(text: str) -> bool:
    """Check that a text is a scenario in YAML, and not a file or a name.

    >>> is_yaml("commit-after-join"), is_yaml("{version: 1, rules: []}")
    (False, True)
    """
    return "\n" in text or text.lstrip().startswith("{")


class Scenario:
    """The rules of a proxy. folder: The folder of relative paths."""

    def __init__(self, ask: Ask, folder: Path) -> None:
        self._ask = ask
        self._folder = folder

    def load(self, source: Source) -> None:
        """Replace all rules; unchanged rules keep their counters. Raises WrongScenario."""
        scenario = written(source, self._folder)
        if isinstance(scenario, str):
            self._edit("PUT", "/scenario", scenario)
        else:
            self._edit("PUT", "/scenario", scenario.read_text("utf-8-sig"), str(scenario))

    def clear(self) -> None:
        """Remove all rules; the messages that they held leave in order."""
        self.load(EMPTY)

    def add(self, rule: str | Mapping[str, Any]) -> Rule:
        """Add a rule after all others. Raises WrongScenario.

        rule: YAML, or a mapping.
        """
        text = rule if isinstance(rule, str) else json.dumps(rule, indent=1)
        response = self._edit("POST", "/scenario/rules", text)
        return self.rule(response["rules"][-1]["name"])

    def rule(self, name: str) -> Rule:
        """Return a rule by its name. Raises LookupError with the existing names."""
        rule = Rule(name, self._ask)
        _ = rule.fired
        return rule

    @property
    def rules(self) -> list[Rule]:
        """Return all rules."""
        return [
            Rule(row["name"], self._ask) for row in self._ask("GET", "/scenario", None)["rules"]
        ]

    def _edit(self, method: str, path: str, text: str, name: str = "") -> Any:
        try:
            return self._ask(method, path, text.encode())
        except Refused as problem:
            raise WrongScenario(f"{name}: {problem}" if name else str(problem)) from None


class Rule:
    """A rule of a running proxy, whose counters are read from the proxy at each access.

    The counters include all messages whose responses clients have received.
    """

    def __init__(self, name: str, ask: Ask) -> None:
        self.name = name
        self._ask = ask
        self._last: Mapping[str, Any] = {}

    @property
    def matched(self) -> int:
        """Return the number of messages that the rule matched."""
        return int(self._now()["matched"])

    @property
    def fired(self) -> int:
        """Return the number of messages on which the rule fired."""
        return int(self._now()["fired"])

    def fire(self) -> None:
        """Let the rule fire on its next match, whatever its `when` says."""
        self._ask("POST", f"/scenario/rules/{quote(self.name, safe='')}/fire", None)

    def remove(self) -> None:
        """Remove the rule; the messages that it held leave in order."""
        self._ask("DELETE", f"/scenario/rules/{quote(self.name, safe='')}", None)

    def _now(self) -> Mapping[str, Any]:
        rows = self._ask("GET", "/scenario", None)["rules"]
        for row in rows:
            if row["name"] == self.name:
                self._last = row
                return self._last
        names = ", ".join(repr(row["name"]) for row in rows) or "none"
        raise LookupError(f"no rule is called {self.name!r}; there are: {names}")

    def __repr__(self) -> str:
        """Return the rule with the counters of the last access."""
        return f"<rule {rule_line(self._last)}>" if self._last else f"<rule {self.name}>"


def rule_line(row: Mapping[str, Any]) -> str:
    """Return a rule's counters as a line.

    >>> rule_line({"name": "slow", "matched": 3, "fired": 1, "what": "delay"})
    'slow: 3 matched, 1 fired, delay'
    """
    return f"{row['name']}: {row['matched']} matched, {row['fired']} fired, {row['what']}"
