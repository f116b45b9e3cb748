"""Campaign files: read with all that is wrong at once, by path or by the name of a ready one."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from pydantic import ValidationError

from barnabas import fuzz
from barnabas.cli.fuzz.targets import KINDS
from barnabas.fuzz.campaigns.campaign import Campaign, KnownNames
from barnabas.fuzz.corpus.corpora import CORPORA
from barnabas.fuzz.errors import Misuse
from barnabas.fuzz.mutators.registry import MUTATORS
from barnabas.fuzz.oracles.registry import ORACLES
from barnabas.fuzz.sessions.registry import SESSIONS
from barnabas.fuzz.targets.registry import with_settings
from barnabas.nearest import did_you_mean
from barnabas.proxy.scenario.errors import ScenarioError, explain
from barnabas.proxy.scenario.file import text_of
from barnabas.proxy.scenario.yaml_lines import read
from barnabas.trouble import Trouble

READY: Final = Path(fuzz.__file__).parent / "campaigns"
"""Where the ready ones are."""

SUFFIX: Final = ".fuzz.db"
"""Of a database that nobody named."""

COMMANDS: Final = ("states",)
"""What campaigns are taken for that are commands of their own."""

KNOWN: Final = KnownNames(
    mutators=tuple(one.name for one in MUTATORS),
    oracles=tuple(one.name for one in ORACLES),
    sessions=tuple(one.name for one in SESSIONS),
    corpora=tuple(one.name for one in CORPORA),
    targets=tuple(one.name for one in KINDS),
)


class Read(NamedTuple):
    """A campaign, what it is called, and where its captures and its database are unless somebody says
    otherwise: beside it, or here if it is a ready one."""

    campaign: Campaign
    name: str
    folder: Path

    @property
    def database(self) -> Path:
        """Its database."""
        return self.folder / f"{self.name}{SUFFIX}"


def ready() -> list[str]:
    """The names of the ready ones, sorted."""
    return sorted(path.stem for path in READY.glob("*.yaml"))


def read_campaign(
    given: Path, changes: dict[str, Any] | None = None, broker: Mapping[str, Any] | None = None
) -> Read:
    """Read a campaign by its path, or else by its name among the ready ones.

    Args:
        given: The path or the name.
        changes: Settings that the command line has in place of the file's.
        broker: Settings of its brokers of Apache Kafka (ApacheSettings).

    Raises:
        Trouble: It says every problem of the file.
    """
    path, folder = _located(given)
    try:
        text = text_of(path)
    except OSError as problem:
        raise Trouble(f"can't read the campaign {given}: {problem.strerror}") from None
    except ScenarioError as problem:
        raise Trouble(str(problem)) from None
    campaign = campaign_of(text, path.name)
    if changes:
        campaign = _changed(campaign, changes)
    if broker:
        try:
            campaign = _changed(campaign, {"target": with_settings(campaign.target, broker)})
        except Misuse as problem:
            raise Trouble(str(problem)) from None
    for name in (*campaign.captures, *campaign.frames):
        if not os.path.exists(folder / name):  # noqa: PTH110
            raise Trouble(f"{given}: there is no {folder / name}")
    return Read(campaign, path.stem, folder)


def _located(given: Path) -> tuple[Path, Path]:
    """Return a campaign's file, and the folder for its captures and its database. Raises Trouble."""
    if os.path.exists(given):  # noqa: PTH110 - False, too, for what can't be a file's name
        return given, given.parent
    if given.parent == Path() and str(given) in ready():
        return READY / f"{given}.yaml", Path()
    if str(given) in COMMANDS:
        raise Trouble(f"{given} is no campaign: `barnabas fuzz {given} TARGET` is a command")
    hint = did_you_mean(given.stem, ready()) or "; see `barnabas fuzz list`"
    raise Trouble(f"no campaign and no file {str(given)!r}{hint}")


def campaign_of(text: str, name: str) -> Campaign:
    """The campaign of a file's text. Raises Trouble."""
    document = read(text)
    problems = list(document.problems)
    campaign = None
    if not document.broken:
        try:
            campaign = Campaign.model_validate(document.value, context=KNOWN)
        except ValidationError as error:
            problems += explain(error, document, Campaign, whole="the campaign")
    if problems or campaign is None:
        lines = sorted(dict.fromkeys(problems), key=lambda problem: problem[0])
        raise Trouble("\n".join(f"{name}:{line}: {said}" for line, said in lines))
    return campaign


def _changed(campaign: Campaign, changes: dict[str, Any]) -> Campaign:
    try:
        return Campaign.model_validate({**campaign.model_dump(), **changes}, context=KNOWN)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        said = first.get("ctx", {}).get("error", first["msg"])
        raise Trouble(f"--{first['loc'][0]}: {said}") from None
