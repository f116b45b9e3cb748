"""The registry of the drafts: a literal tuple, oldest design first."""

from __future__ import annotations

from typing import Final

from barnabas.specs.drafts.central_coordination import CENTRAL_COORDINATION
from barnabas.specs.drafts.idiom import Draft, nearest
from barnabas.specs.drafts.rewrite_0_8_2 import REWRITE_0_8_2
from barnabas.specs.drafts.rewrite_a import REWRITE_A
from barnabas.specs.drafts.rewrite_b import REWRITE_B
from barnabas.specs.drafts.rewrite_c import REWRITE_C

DRAFTS: Final = (CENTRAL_COORDINATION, REWRITE_A, REWRITE_B, REWRITE_C, REWRITE_0_8_2)


def draft(name: str) -> Draft:
    """A draft by its name in any case. Raises LookupError, with the nearest name.

    >>> draft("rewrite-a").api("JoinGroup").key
    11
    """
    names = {item.name.lower(): item for item in DRAFTS}
    return names[nearest(name, names, "no draft is called")]
