"""The contents page: every mutator, in the order in which a campaign lists them."""

from __future__ import annotations

from typing import Final

from fuzz.mutators.api_keys import API_KEYS
from fuzz.mutators.api_versions import API_VERSIONS
from fuzz.mutators.attributes import ATTRIBUTES
from fuzz.mutators.batch_fields import BATCH_FIELDS
from fuzz.mutators.batch_sets import BATCH_SETS
from fuzz.mutators.beyond import BEYOND
from fuzz.mutators.bit_flips import BIT_FLIPS
from fuzz.mutators.bombs import BOMBS
from fuzz.mutators.bursts import BURSTS
from fuzz.mutators.bytewise import BYTEWISE
from fuzz.mutators.checksums import CHECKSUMS
from fuzz.mutators.correlation_ids import CORRELATION_IDS
from fuzz.mutators.counts import COUNTS
from fuzz.mutators.deltas import DELTAS
from fuzz.mutators.disorder import DISORDER
from fuzz.mutators.elements_dropped import ELEMENTS_DROPPED
from fuzz.mutators.elements_repeated import ELEMENTS_REPEATED
from fuzz.mutators.emptiness import EMPTINESS
from fuzz.mutators.enums import ENUMS
from fuzz.mutators.fields_doubled import FIELDS_DOUBLED
from fuzz.mutators.fields_dropped import FIELDS_DROPPED
from fuzz.mutators.frame_size import FRAME_SIZE
from fuzz.mutators.half_open import HALF_OPEN
from fuzz.mutators.hugeness import HUGENESS
from fuzz.mutators.invalid_utf8 import INVALID_UTF8
from fuzz.mutators.lengths import LENGTHS
from fuzz.mutators.limits import LIMITS
from fuzz.mutators.magics import MAGICS
from fuzz.mutators.mutator import Mutator
from fuzz.mutators.nesting import NESTING
from fuzz.mutators.noise import NOISE
from fuzz.mutators.nulls import NULLS
from fuzz.mutators.odd_text import ODD_TEXT
from fuzz.mutators.repetition import REPETITION
from fuzz.mutators.splices import SPLICES
from fuzz.mutators.tag_duplicate import TAG_DUPLICATE
from fuzz.mutators.tag_flood import TAG_FLOOD
from fuzz.mutators.tag_order import TAG_ORDER
from fuzz.mutators.tag_size import TAG_SIZE
from fuzz.mutators.tag_unknown import TAG_UNKNOWN
from fuzz.mutators.trailing import TRAILING
from fuzz.mutators.truncation import TRUNCATION
from fuzz.mutators.uuids import UUIDS
from fuzz.mutators.varints import VARINT_FORMS

MUTATORS: Final[tuple[Mutator, ...]] = (
    # numbers that say how long or how many
    COUNTS,
    LENGTHS,
    BEYOND,
    NULLS,
    VARINT_FORMS,
    FRAME_SIZE,
    # fields
    LIMITS,
    ENUMS,
    INVALID_UTF8,
    EMPTINESS,
    HUGENESS,
    ODD_TEXT,
    UUIDS,
    # the header
    API_KEYS,
    API_VERSIONS,
    CORRELATION_IDS,
    # tagged sections
    TAG_UNKNOWN,
    TAG_DUPLICATE,
    TAG_ORDER,
    TAG_SIZE,
    TAG_FLOOD,
    # records
    CHECKSUMS,
    BATCH_FIELDS,
    BATCH_SETS,
    DELTAS,
    MAGICS,
    ATTRIBUTES,
    BOMBS,
    NESTING,
    # structure
    ELEMENTS_REPEATED,
    ELEMENTS_DROPPED,
    FIELDS_DROPPED,
    FIELDS_DOUBLED,
    TRAILING,
    TRUNCATION,
    SPLICES,
    NOISE,
    BIT_FLIPS,
    # delivery and order
    REPETITION,
    DISORDER,
    BURSTS,
    BYTEWISE,
    HALF_OPEN,
)
