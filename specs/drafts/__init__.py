"""Designs of consumer coordination that never shipped, in the idiom of `specs.declaration`.

Each has one module. What no document gives is a reconstruction and marked as one, field by field.
"""

from specs.drafts.contents import DRAFTS, draft
from specs.drafts.frames import DraftFrame, decode_frame, encode_frame
from specs.drafts.idiom import Draft, DraftApi, DraftError, Role

__all__ = [
    "DRAFTS",
    "Draft",
    "DraftApi",
    "DraftError",
    "DraftFrame",
    "Role",
    "decode_frame",
    "draft",
    "encode_frame",
]
