"""The corpora of a campaign, limited to the versions that its target supports.

A corpus is a function of the campaign and its `Basis`: what the target reported when the campaign began. The
basis is stored, so the corpus is equal on every machine and when a campaign continues.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from barnabas.captures.files.pcapng import CaptureError
from barnabas.fuzz.campaigns.campaign import Campaign, chosen
from barnabas.fuzz.cases.case import Role, Seed
from barnabas.fuzz.corpus.sources import captured, generated, listed
from barnabas.fuzz.errors import CannotRun
from barnabas.fuzz.targets.registry import login_of
from barnabas.fuzz.targets.target import Target
from barnabas.peers.replay.plan import NEVER
from barnabas.specs.frames import Direction
from barnabas.specs.keys import WRITE_TXN_MARKERS
from barnabas.specs.registry import REGISTRY, api, key_of

AMONG_BROKERS: Final = NEVER - {WRITE_TXN_MARKERS}
"""APIs that no client sends: a broker gets them only if a campaign names them. WriteTxnMarkers is no such
API, since administrators send it to abort a transaction (KIP-664)."""


class Basis(NamedTuple):
    """The role of a target, and the versions of each API that it supports."""

    role: Role
    versions: tuple[tuple[int, tuple[int, ...]], ...]

    @property
    def directions(self) -> tuple[Direction, ...]:
        """Return the directions of messages that such a target reads."""
        return _DIRECTIONS[self.role]

    def json(self) -> dict[str, Any]:
        """Return the basis for a database."""
        return {
            "role": self.role,
            "versions": {str(key): list(all_) for key, all_ in self.versions},
        }


def kept_basis(stored: Mapping[str, Any]) -> Basis:
    """Return the basis of its JSON.

    >>> kept_basis(Basis("client", ((3, (1, 2)),)).json())
    Basis(role='client', versions=((3, (1, 2)),))
    """
    versions = ((int(key), tuple(all_)) for key, all_ in stored["versions"].items())
    return Basis(stored["role"], tuple(versions))


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
    """Return the basis of a running target.

    A broker or decoder has `supported_versions`, by API key (empty: unknown). A client has `survey`, the
    (API key, version) that it requests.
    """
    supported: Callable[[], Mapping[int, Iterable[int]]] | None = getattr(
        target, "supported_versions", None
    )
    survey: Callable[[], Iterable[tuple[int, int]]] | None = getattr(target, "survey", None)
    reported: dict[int, frozenset[int]] = {}
    if supported is not None:
        reported = {key: frozenset(versions) for key, versions in supported().items()}
    elif survey is not None:
        requested = frozenset(survey())
        reported = {key: frozenset(v for k, v in requested if k == key) for key, _ in requested}
    basis_versions = []
    for key, declared in EVERYTHING:
        versions = tuple(v for v in declared if not reported or v in reported.get(key, ()))
        if versions:
            basis_versions.append((key, versions))
    return Basis(target.role, tuple(basis_versions))


class Corpus(NamedTuple):
    """A source of messages: its name, a description, and its seeds for a campaign."""

    name: str
    description: str
    seeds: Callable[[Campaign, Basis], Iterable[Seed]]


def _generated(campaign: Campaign, basis: Basis) -> Iterator[Seed]:
    if basis.role == "client":  # a client gets responses to its own requests
        return
    for direction in basis.directions:
        for key, versions in basis.versions:
            for version in versions:
                offered = {key: (version, version)}
                yield from generated(str(campaign.seed), offered, direction)


def _answers(campaign: Campaign, basis: Basis) -> Iterator[Seed]:
    from barnabas.fuzz.bench_broker.seeds import seeds

    if basis.role == "client":
        yield from seeds((key, version) for key, all_ in basis.versions for version in all_)


def _sessions(campaign: Campaign, basis: Basis) -> Iterator[Seed]:
    from barnabas.fuzz.sessions.registry import SESSIONS, seeds

    if basis.role != "broker" or campaign.sessions == ("none",):
        return
    offered = {key: (versions[0], versions[-1]) for key, versions in basis.versions}
    # sessions before a login need a listener with SASL, unless the campaign names them
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
    """Return all seeds of a campaign, of the APIs and versions that it names.

    folder: the folder of its captures. Raises CannotRun if there are no seeds, or a capture can't be read.
    """
    named = frozenset(map(key_of, campaign.apis))
    left_out = AMONG_BROKERS - named if basis.role == "broker" else frozenset()
    takes = {
        (key, version)
        for key, versions in basis.versions
        for version in versions
        if key not in left_out
    }
    requested = frozenset(campaign.corpora)
    seeds = [
        seed
        for source in CORPORA
        if not requested or source.name in requested
        for seed in source.seeds(campaign, basis)
    ]
    readers = ((campaign.captures, captured), (campaign.frames, listed))
    for names, read in readers:
        for name, direction in itertools.product(names, basis.directions):
            try:
                seeds += read(folder / name, direction)
            except (OSError, EOFError, ValueError, CaptureError) as problem:
                reason = (isinstance(problem, OSError) and problem.strerror) or problem
                raise CannotRun(f"{folder / name}: {reason}") from None
    usable = tuple(
        source
        for source in seeds
        if (source.key, source.version) in takes and campaign.wants(source)
    )
    if not usable:
        raise CannotRun("the target accepts no message of these APIs and versions")
    return usable
