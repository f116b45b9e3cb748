"""Sessions before and within a SASL login: the next message has a token of the mechanism.

PLAIN (RFC 4616) has one token. SCRAM (RFC 5802) has two. In the second one the nonce and the proof are live,
so that a mutation is the only thing wrong with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final

from barnabas.fuzz.sessions.bodies import body
from barnabas.fuzz.sessions.live_values import TOKENS, Values
from barnabas.fuzz.sessions.login import NAMED, authenticate, default_credentials, handshake, nonce
from barnabas.fuzz.sessions.session import Session, Stage, Steps
from barnabas.peers.replay.authentication import HASHES, AuthenticationError, tokens_of
from barnabas.specs import keys

_NONCE: Final = TOKENS[0][1].decode()
_PROOFS: Final = dict(zip(HASHES, (proof.decode() for _, proof in TOKENS[1:]), strict=True))
_EXTENSION: Final = ",x="
"""An unknown attribute, which the proof does not cover."""

Body = Mapping[str, Any] | None
Others = Iterable[tuple[str, Mapping[str, Any]]]


def _nothing(stage: Stage) -> Steps:
    """Send nothing: the case is the first message."""
    yield from ()
    return {}


def _mechanisms(key: int, version: int) -> Others:
    if key == keys.SASL_HANDSHAKE:
        for mechanism in (*HASHES, "GSSAPI", "OAUTHBEARER"):
            yield mechanism, {"mechanism": mechanism}


GREETING: Final = Session(
    "greeting",
    "first on a connection that has not logged in",
    (keys.SASL_HANDSHAKE,),
    frozenset((keys.API_VERSIONS, keys.SASL_HANDSHAKE, keys.SASL_AUTHENTICATE)),
    1,
    _nothing,
    body,
    _mechanisms,
    before_login=True,
)


def _handshaken(mechanism: str, version: int, stage: Stage) -> Steps:
    yield from handshake(mechanism, version)
    return {}


def _challenged(mechanism: str, stage: Stage) -> Steps:
    """Lead to the server's challenge, and return the live values of the answer to it.

    If the challenge can't be read, the stand-ins stay.
    """
    yield from handshake(mechanism)
    credentials = stage.credentials or default_credentials(mechanism)
    tokens = tokens_of(replace(credentials, mechanism=mechanism), nonce(stage.number))
    challenge = yield from authenticate(next(tokens))
    try:
        return _live(tokens.send(challenge).decode())
    except AuthenticationError:
        return {}


def _live(final: str) -> Values:
    """Return the nonce, lengthened, and the proof of a client's second token.

    >>> _live("c=biws,r=fuzz000007-and-the-server's,p=cHJvb2Y=")["scram_nonce"]
    "fuzz000007-and-the-server's,x=aaaaaaaaaa"
    """
    named, _, proof = final.partition(",p=")
    both = named.partition(",r=")[2]
    padding = "a" * (len(_NONCE) - len(both) - len(_EXTENSION))
    return {"scram_nonce": f"{both}{_EXTENSION}{padding}", "scram_proof": proof}


def _first(mechanism: str) -> str:
    return next(tokens_of(default_credentials(mechanism), nonce(0))).decode()


def _body(token: str, key: int, version: int) -> Body:
    return {"auth_bytes": token.encode()}


def _others(tokens: Mapping[str, str], key: int, version: int) -> Others:
    for variant, token in tokens.items():
        yield variant, {"auth_bytes": token.encode()}


def _variants(mechanism: str) -> dict[str, str]:
    """Return further first tokens that the grammar allows."""
    first = _first(mechanism)
    if mechanism == "PLAIN":
        return {"authorization identity": f"barnabas{first}"}
    return {
        "authorization identity": first.replace("n,,", "n,a=barnabas,"),
        "no channel binding": first.replace("n,,", "y,,"),
        "channel binding": first.replace("n,,", "p=tls-unique,,"),
        "delegation token": f"{first},tokenauth=true",  # KIP-48
        "mandatory extension": first.replace("n,,", "n,,m=ext,"),
    }


def _session(
    name: str,
    description: str,
    run: Any,
    token: str,
    others: Mapping[str, str],
    *,
    bare: bool = False,
) -> Session:
    key = keys.SASL_HANDSHAKE if bare else keys.SASL_AUTHENTICATE
    return Session(
        name,
        description,
        (keys.SASL_HANDSHAKE,),
        frozenset((key,)),
        1,
        run,
        partial(_body, token),
        partial(_others, others),
        before_login=True,
        bare=bare,
    )


def _with_first_token(mechanism: str) -> Session:
    return _session(
        mechanism.lower(),
        f"after a handshake for {mechanism}",
        partial(_handshaken, mechanism, NAMED),
        _first(mechanism),
        _variants(mechanism),
    )


def _with_proof(mechanism: str) -> Session:
    token = f"c=biws,r={_NONCE},p={_PROOFS[mechanism]}"
    return _session(
        f"{mechanism.lower()}-proof",
        f"challenged by {mechanism}",
        partial(_challenged, mechanism),
        token,
        {"server's error": f"e=other-error,{token}"},
    )


def _with_bare_token(mechanism: str) -> Session:
    return _session(
        f"{mechanism.lower()}-bare",
        f"after a handshake v0 for {mechanism}: tokens without headers",
        partial(_handshaken, mechanism, 0),
        _first(mechanism),
        _variants(mechanism),
        bare=True,
    )


AUTHENTICATING: Final[tuple[Session, ...]] = (
    GREETING,
    *map(_with_first_token, ("PLAIN", *HASHES)),
    *map(_with_proof, HASHES),
    *map(_with_bare_token, ("PLAIN", "SCRAM-SHA-256")),
)
