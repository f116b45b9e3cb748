"""What a campaign's mutations start from: its corpora, of the versions that its target takes.

A corpus is a function of the campaign and of `Basis`, which is kept beside it: what the target said of
itself when the campaign began. So it is the same everywhere, and when a campaign goes on.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from barnabas.captures.files.pcapng import CaptureError
from barnabas.fuzz.campaigns.campaign import Campaign, chosen
from barnabas.fuzz.cases.case import Role, Seed
from barnabas.fuzz.corpus.corpus import captured, generated, listed
from barnabas.fuzz.errors import CannotRun
from barnabas.fuzz.targets.registry import login_of
from barnabas.fuzz.targets.target import Target
from barnabas.peers.replay.plan import NEVER
from barnabas.specs.frames import Direction
from barnabas.specs.keys import WRITE_TXN_MARKERS
from barnabas.specs.registry import REGISTRY, api, key_of

AMONG_BROKERS: Final = NEVER - {WRITE_TXN_MARKERS}
"""What no client sends: a broker gets these only if a campaign names them. An administrator who aborts a
transaction sends WriteTxnMarkers (KIP-664)."""


class Basis(NamedTuple):
    """Who gets the cases, and the versions of each API that it takes."""

    role: Role
    versions: tuple[tuple[int, tuple[int, ...]], ...]

    @property
    def directions(self) -> tuple[Direction, ...]:
        """What such a target reads."""
        return _DIRECTIONS[self.role]

    def json(self) -> dict[str, Any]:
        """As a database keeps it."""
        return {
            "role": self.role,
            "versions": {str(key): list(all_) for key, all_ in self.versions},
        }


def kept_basis(said: Mapping[str, Any]) -> Basis:
    """That of its JSON.

    >>> kept_basis(Basis("client", ((3, (1, 2)),)).json())
    Basis(role='client', versions=((3, (1, 2)),))
    """
    versions = ((int(key), tuple(all_)) for key, all_ in said["versions"].items())
    return Basis(said["role"], tuple(versions))


_DIRECTIONS: Final[Mapping[Role, tuple[Direction, ...]]] = {
    "broker": ("request",),
    "client": ("response",),
    "decoder": ("request", "response"),
}

EVERYTHING: Final = tuple(
    (key, tuple(range(api(key).versions[0], api(key).versions[1] + 1))) for key, _, _ in REGISTRY
)
"""All versions that are declared."""


def basis(target: Target) -> Basis:
    """What a target that runs says of itself: `takes`, API key -> versions (none: it does not say), or
    `survey`, the (API key, version) that it asks for, if it has such."""
    takes: Callable[[], Mapping[int, Iterable[int]]] | None = getattr(target, "takes", None)
    survey: Callable[[], Iterable[tuple[int, int]]] | None = getattr(target, "survey", None)
    said: dict[int, frozenset[int]] = {}
    if takes is not None:
        said = {key: frozenset(versions) for key, versions in takes().items()}
    elif survey is not None:
        asked = frozenset(survey())
        said = {key: frozenset(v for k, v in asked if k == key) for key, _ in asked}
    found = tuple(
        (key, tuple(version for version in versions if not said or version in said.get(key, ())))
        for key, versions in EVERYTHING
    )
    return Basis(target.role, tuple(one for one in found if one[1]))


class Corpus(NamedTuple):
    """A source of messages: what it is, and its seeds of a campaign."""

    name: str
    about: str
    seeds: Callable[[Campaign, Basis], Iterable[Seed]]


def _generated(campaign: Campaign, basis: Basis) -> Iterator[Seed]:
    if basis.role == "client":  # it wants what fits its own requests
        return
    for direction in basis.directions:
        for key, versions in basis.versions:
            for version in versions:
                offered = {key: (version, version)}
                yield from generated(str(campaign.seed), offered, direction)


def _answers(campaign: Campaign, basis: Basis) -> Iterator[Seed]:
    from barnabas.fuzz.answering.seeds import seeds

    if basis.role == "client":
        yield from seeds((key, version) for key, all_ in basis.versions for version in all_)


def _sessions(campaign: Campaign, basis: Basis) -> Iterator[Seed]:
    from barnabas.fuzz.sessions.registry import SESSIONS, seeds

    if basis.role != "broker" or campaign.sessions == ("none",):
        return
    offered = {key: (versions[0], versions[-1]) for key, versions in basis.versions}
    # on a listener without SASL nothing is before a login, unless somebody wants to see that
    logs_in = login_of(campaign.target) is not None
    usual = SESSIONS if logs_in else [s for s in SESSIONS if not s.before_login]
    yield from seeds(offered, chosen(campaign.sessions, SESSIONS) if campaign.sessions else usual)


# fmt: off
CORPORA: Final[tuple[Corpus, ...]] = (
    Corpus("generated", "messages generated from the schemas, four of each version (not for "
                        "clients)", _generated),
    Corpus("sessions", "valid messages in a deep state, after the steps that lead there (for "
                       "brokers)",
           _sessions),
    Corpus("answers", "valid responses of a broker (for clients)", _answers),
)
# fmt: on


def corpus(campaign: Campaign, basis: Basis, folder: Path) -> tuple[Seed, ...]:
    """All seeds of a campaign, of the APIs and versions that it wants. folder: where its captures are.

    Raises CannotRun if there is none, or a capture can't be read.
    """
    named = frozenset(map(key_of, campaign.apis))
    left_out = AMONG_BROKERS - named if basis.role == "broker" else frozenset()
    takes = {
        (key, version)
        for key, versions in basis.versions
        for version in versions
        if key not in left_out
    }
    wanted = frozenset(campaign.corpora)
    found = [
        seed
        for one in CORPORA
        if not wanted or one.name in wanted
        for seed in one.seeds(campaign, basis)
    ]
    readers = ((campaign.captures, captured), (campaign.frames, listed))
    for names, read in readers:
        for name, direction in itertools.product(names, basis.directions):
            try:
                found += read(folder / name, direction)
            except (OSError, EOFError, ValueError, CaptureError) as problem:
                why = (isinstance(problem, OSError) and problem.strerror) or problem
                raise CannotRun(f"{folder / name}: {why}") from None
    kept = tuple(one for one in found if (one.key, one.version) in takes and campaign.wants(one))
    if not kept:
        raise CannotRun("the target accepts no message of these APIs and versions")
    return kept
