"""The one error for bytes that no layout reads."""


class Malformed(ValueError):
    """Bytes that no layout reads: dotted field path, byte offset in the body, what was expected."""

    def __init__(self, path: str, offset: int, reason: str) -> None:
        super().__init__(f"{path or 'body'} at byte {offset}: {reason}")
        self.path = path
        self.offset = offset
        self.reason = reason
