"""A mutator that leaves places out: what is known to fire there hides what stands behind it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from barnabas.fuzz.frame_map.fields import FieldMap, field_of
from barnabas.fuzz.frame_map.parts import Part
from barnabas.fuzz.mutating.mutator import Mutator

Places = Mapping[tuple[int, str], Sequence[range]]
"""An API's key and a field -> the versions in which it is left out."""


def leaving_out(mutator: Mutator, left: Places) -> Mutator:
    """The mutator, for all places but these."""

    def places(chart: FieldMap) -> Sequence[Part]:
        seed = chart.seed
        return [
            part
            for part in mutator.places(chart)
            if not any(
                seed.version in versions
                for versions in left.get((seed.key, field_of(part.path)), ())
            )
        ]

    return mutator._replace(places=places)
