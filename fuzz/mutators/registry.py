"""The registry: every mutator, in the order in which a campaign lists them."""

from __future__ import annotations

from typing import Final

from barnabas.fuzz.mutating.mutator import Mutator
from barnabas.fuzz.mutators.api_keys import API_KEYS
from barnabas.fuzz.mutators.api_versions import API_VERSIONS
from barnabas.fuzz.mutators.attributes import ATTRIBUTES
from barnabas.fuzz.mutators.batch_fields import BATCH_FIELDS
from barnabas.fuzz.mutators.batch_sets import BATCH_SETS
from barnabas.fuzz.mutators.beyond import BEYOND
from barnabas.fuzz.mutators.bit_flips import BIT_FLIPS
from barnabas.fuzz.mutators.bombs import BOMBS
from barnabas.fuzz.mutators.bursts import BURSTS
from barnabas.fuzz.mutators.bytewise import BYTEWISE
from barnabas.fuzz.mutators.checksums import CHECKSUMS
from barnabas.fuzz.mutators.correlation_ids import CORRELATION_IDS
from barnabas.fuzz.mutators.counts import COUNTS
from barnabas.fuzz.mutators.deltas import DELTAS
from barnabas.fuzz.mutators.disorder import DISORDER
from barnabas.fuzz.mutators.elements_dropped import ELEMENTS_DROPPED
from barnabas.fuzz.mutators.elements_repeated import ELEMENTS_REPEATED
from barnabas.fuzz.mutators.emptiness import EMPTINESS
from barnabas.fuzz.mutators.enums import ENUMS
from barnabas.fuzz.mutators.fields_doubled import FIELDS_DOUBLED
from barnabas.fuzz.mutators.fields_dropped import FIELDS_DROPPED
from barnabas.fuzz.mutators.frame_size import FRAME_SIZE
from barnabas.fuzz.mutators.half_open import HALF_OPEN
from barnabas.fuzz.mutators.hugeness import HUGENESS
from barnabas.fuzz.mutators.invalid_utf8 import INVALID_UTF8
from barnabas.fuzz.mutators.lengths import LENGTHS
from barnabas.fuzz.mutators.limits import LIMITS
from barnabas.fuzz.mutators.magics import MAGICS
from barnabas.fuzz.mutators.nesting import NESTING
from barnabas.fuzz.mutators.noise import NOISE
from barnabas.fuzz.mutators.nulls import NULLS
from barnabas.fuzz.mutators.odd_text import ODD_TEXT
from barnabas.fuzz.mutators.repetition import REPETITION
from barnabas.fuzz.mutators.splices import SPLICES
from barnabas.fuzz.mutators.tag_duplicate import TAG_DUPLICATE
from barnabas.fuzz.mutators.tag_flood import TAG_FLOOD
from barnabas.fuzz.mutators.tag_order import TAG_ORDER
from barnabas.fuzz.mutators.tag_size import TAG_SIZE
from barnabas.fuzz.mutators.tag_unknown import TAG_UNKNOWN
from barnabas.fuzz.mutators.trailing import TRAILING
from barnabas.fuzz.mutators.truncation import TRUNCATION
from barnabas.fuzz.mutators.uuids import UUIDS
from barnabas.fuzz.mutators.varints import VARINT_FORMS

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
