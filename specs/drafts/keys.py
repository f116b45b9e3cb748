"""The keys that the drafts' APIs have here: numbers of their own, which no header can hold.

On the wire the drafts number their APIs as Kafka does, and mean others. So that whatever goes by an
API's key (rules, pairing, logs, checks) never takes one for the other, `barnabas.specs.registry.api` has them
under these numbers as well.
"""

from __future__ import annotations

from typing import Final

from barnabas.specs.drafts.idiom import Draft, DraftApi
from barnabas.specs.drafts.registry import DRAFTS
from barnabas.specs.error_codes import error_name
from barnabas.specs.keys import FETCH, LIST_OFFSETS, METADATA, PRODUCE
from barnabas.specs.registry import NAMES, key_of

STEP: Final = 1 << 16
"""Beyond all keys of a header, which are int16; each draft has as many to itself."""


BESIDE: Final = frozenset((PRODUCE, FETCH, LIST_OFFSETS, METADATA))
"""Kafka's APIs for records, of 0.8: they stand beside a draft's, which have other numbers."""


def own_key(draft: Draft, api: DraftApi) -> int:
    """The key of a draft's API.

    >>> from barnabas.specs.drafts import draft
    >>> central = draft("central-coordination")
    >>> divmod(own_key(central, central.api("Ping")), STEP)
    (1, 7)
    """
    return STEP * (1 + DRAFTS.index(draft)) + api.key


def key_in(draft: Draft, which: int | str) -> int:
    """The key of an API that is spoken where a draft is: its own, or Kafka's beside it.

    Raises LookupError with the nearest name.

    >>> from barnabas.specs.drafts import draft
    >>> rewrite = draft("rewrite-0.8.2")
    >>> key_in(rewrite, "Metadata"), key_in(rewrite, "JoinGroup") % STEP
    (3, 11)
    """
    try:
        return own_key(draft, draft.api(which))
    except LookupError:
        known = {NAMES[key].lower() for key in BESIDE} | {str(key) for key in BESIDE}
        if draft.has_kafkas or str(which).lower() in known:
            return key_of(which)
        raise


def error_in(key: int, code: int) -> str:
    """The name of an error in a response of such an API: its draft's, or Kafka's.

    >>> error_in(5 * STEP + 12, 25), error_in(12, 25), error_in(5 * STEP + 12, 3)
    ('UnknownConsumerId', 'UNKNOWN_MEMBER_ID', 'UNKNOWN_TOPIC_OR_PARTITION')
    """
    if key > STEP:
        names = {error.code: error.name for error in of_key(key)[0].errors}
        if code in names:
            return names[code]
    return error_name(code)


def error_in_header(key: int) -> bool:
    """Whether what answers such an API has its error in the header, as in 0.7's format.

    >>> error_in_header(STEP + 7), error_in_header(5 * STEP + 12), error_in_header(12)
    (True, False, False)
    """
    return key > STEP and not of_key(key)[0].has_kafkas


def of_key(key: int) -> tuple[Draft, DraftApi]:
    """The draft and its API of such a key. Raises LookupError.

    >>> of_key(STEP + 7)[1].name
    'Ping'
    """
    place, wire = divmod(key, STEP)
    if not 1 <= place <= len(DRAFTS):
        raise LookupError(f"no API has key {key}")
    return DRAFTS[place - 1], DRAFTS[place - 1].api(wire)
