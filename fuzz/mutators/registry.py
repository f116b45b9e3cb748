"""The registry of all mutators, in the order in which a campaign lists them."""

from __future__ import annotations

from typing import Final

from barnabas.fuzz.frame_map.numbers import VARINTS
from barnabas.fuzz.mutators import (
    batches,
    delivery,
    fields,
    header,
    lengths,
    record_fields,
    structure,
    tagged_fields,
)
from barnabas.fuzz.mutators.mutator import Mutator, filled, named, of_kinds, where, whole

_SETS: Final = of_kinds("records")
_BYTES: Final = where(lambda part: part.end > part.start)
_ENDS: Final = of_kinds("frame", "records", "batch", "record", "tag", "container")

# fmt: off
MUTATORS: Final[tuple[Mutator, ...]] = (
    # lengths and counts
    Mutator("counts", "a count that differs from the number of elements",
            of_kinds("count"), lengths.wrong_number, turns=4),
    Mutator("lengths", "a length that differs from the number of bytes",
            of_kinds("length"), lengths.wrong_number, turns=4),
    Mutator("beyond", "a length that extends beyond its record or batch",
            lengths.in_batches, lengths.beyond, turns=2),
    Mutator("nulls", "null instead of a value", lengths.not_null, lengths.null),
    Mutator("varints", "a varint that is overlong, unterminated, or of up to 64 bits",
            where(lambda part: part.coding in VARINTS), lengths.odd_varint, turns=4),
    Mutator("frame_size", "a wrong frame size", whole, lengths.frame_size, turns=6),
    # fields
    Mutator("limits", "a number at a limit of its type",
            of_kinds(*fields.NUMBERS), fields.limit, turns=3),
    Mutator("enums", "an unknown code, or another one", fields.codes, fields.other_code, turns=2),
    Mutator("invalid_utf8", "text that is not UTF-8", of_kinds("string"), fields.invalid_utf8),
    Mutator("emptiness", "an empty value", fields.contents, fields.empty),
    Mutator("hugeness", "long text and bytes", of_kinds("string", "bytes"), fields.huge),
    Mutator("odd_text", "valid but unusual text", of_kinds("string"), fields.odd_text),
    Mutator("uuids", "an unknown UUID, or that of something else", of_kinds("uuid"), fields.uuid),
    # the header
    Mutator("api_keys", "an unknown API key, or that of another API",
            named("header.request_api_key"), header.api_key, turns=2),
    Mutator("api_versions", "an unsupported version, or another one",
            named("header.request_api_version"), header.api_version, turns=3),
    Mutator("correlation_ids", "a correlation id of no request",
            named("header.correlation_id"), header.correlation_id),
    # tagged fields
    Mutator("tag_unknown", "an unknown tag", tagged_fields.sections, tagged_fields.unknown),
    Mutator("tag_duplicate", "the same tag more than once",
            tagged_fields.sections, tagged_fields.duplicate),
    Mutator("tag_order", "tags in descending order",
            tagged_fields.sections, tagged_fields.descending),
    Mutator("tag_size", "a tag whose size differs from its data",
            tagged_fields.sections, tagged_fields.wrong_size, turns=3),
    Mutator("tag_flood", "thousands of tags", tagged_fields.sections, tagged_fields.flood),
    # records
    Mutator("checksums", "a wrong checksum", of_kinds("crc"), record_fields.checksum),
    Mutator("batch_fields", "a batch header that contradicts its batch",
            where(record_fields.of_batch_header), record_fields.batch_header, turns=2),
    Mutator("batch_sets", "batches that are repeated, empty, cut off or of another kind",
            _SETS, batches.other_batches, turns=8),
    Mutator("deltas", "a negative or too large delta",
            named("_delta"), record_fields.delta, turns=2),
    Mutator("magics", "a magic that differs from the layout of the bytes",
            named("].magic"), record_fields.magic, turns=2),
    Mutator("attributes", "another compression codec, or contradictory flags",
            named("].attributes"), record_fields.attributes, turns=3),
    Mutator("bombs", "few bytes that decompress to many", _SETS, batches.bomb, turns=2),
    Mutator("nesting", "compressed wrapper messages inside wrapper messages",
            _SETS, batches.nested, turns=2),
    # structure
    Mutator("elements_repeated", "an element repeated",
            structure.elements, structure.repeat_element),
    Mutator("elements_dropped", "an element missing", structure.elements, structure.drop_element),
    Mutator("fields_dropped", "a field whose bytes are missing",
            filled, structure.drop_bytes, turns=2, per="kind"),
    Mutator("fields_doubled", "the bytes of a field repeated",
            filled, structure.repeat_bytes, per="kind"),
    Mutator("trailing", "bytes after the end", _ENDS, structure.trailing),
    Mutator("truncation", "a frame that ends too early",
            filled, structure.truncate, turns=2, per="kind"),
    Mutator("splices", "the beginning of one message, the end of another",
            structure.outermost, structure.join, turns=3, per="kind"),
    Mutator("noise", "random bytes instead of a body", structure.body, structure.noise),
    Mutator("bit_flips", "some bits of a field flipped",
            _BYTES, structure.flip_bits, turns=3, per="kind"),
    # delivery and order
    Mutator("repetition", "the same message several times", whole, delivery.repeat),
    Mutator("disorder", "another message before or after it", whole, delivery.disorder, turns=2),
    Mutator("bursts", "many messages sent before the first response", whole, delivery.burst),
    Mutator("bytewise", "one byte per write", whole, delivery.bytewise),
    Mutator(delivery.UNCHANGED, "a valid message, in a session whose records are known",
            delivery.judged, delivery.unchanged, turns=9),
    Mutator("half_open", "the connection half-closed, within the message or after it",
            whole, delivery.half_open),
)
# fmt: on

MUTATORS_BY_NAME: Final = {mutator.name: mutator for mutator in MUTATORS}
