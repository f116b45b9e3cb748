"""Campaign files, by path or by the name of a ready one; all errors of a file are reported at once."""

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
"""The folder of ready campaigns."""

SUFFIX: Final = ".fuzz.db"
"""The suffix of a database's default name."""

COMMANDS: Final = ("states",)
"""Commands that users mistake for campaigns."""

KNOWN: Final = KnownNames(
    mutators=tuple(each.name for each in MUTATORS),
    oracles=tuple(each.name for each in ORACLES),
    sessions=tuple(each.name for each in SESSIONS),
    corpora=tuple(each.name for each in CORPORA),
    targets=tuple(each.name for each in KINDS),
)


class CampaignFile(NamedTuple):
    """A campaign, its name, and the default folder of its captures and its database.

    The folder is the file's, or the current one for a ready campaign.
    """

    campaign: Campaign
    name: str
    folder: Path

    @property
    def database(self) -> Path:
        """Return the default path of the database."""
        return self.folder / f"{self.name}{SUFFIX}"


def ready() -> list[str]:
    """Return the names of ready campaigns, sorted."""
    return sorted(path.stem for path in READY.glob("*.yaml"))


def read_campaign(
    given: Path, changes: dict[str, Any] | None = None, broker: Mapping[str, Any] | None = None
) -> CampaignFile:
    """Read a campaign by its path, or else by its name among the ready ones.

    Args:
        given: The path or the name.
        changes: Settings of the command line that replace those of the file.
        broker: Settings of brokers of Apache Kafka (ApacheSettings).

    Raises:
        Trouble: The campaign is unknown or invalid; the message has all problems.
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
            raise Trouble(f"{given}: no such file: {folder / name}")
    return CampaignFile(campaign, path.stem, folder)


def _located(path: Path) -> tuple[Path, Path]:
    """Return a campaign's file, and the folder for its captures and its database. Raises Trouble."""
    if os.path.exists(path):  # noqa: PTH110 - False for invalid names of files, too
        return path, path.parent
    if path.parent == Path() and str(path) in ready():
        return READY / f"{path}.yaml", Path()
    if str(path) in COMMANDS:
        raise Trouble(f"{path} is not a campaign: `barnabas fuzz {path} TARGET` is a command")
    hint = did_you_mean(path.stem, ready()) or "; see `barnabas fuzz list`"
    raise Trouble(f"no campaign and no file {str(path)!r}{hint}")


def campaign_of(text: str, name: str) -> Campaign:
    """Parse the text of a campaign file. Raises Trouble."""
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
        raise Trouble("\n".join(f"{name}:{line}: {message}" for line, message in lines))
    return campaign


def _changed(campaign: Campaign, changes: dict[str, Any]) -> Campaign:
    try:
        return Campaign.model_validate({**campaign.model_dump(), **changes}, context=KNOWN)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        message = first.get("ctx", {}).get("error", first["msg"])
        raise Trouble(f"--{first['loc'][0]}: {message}") from None
