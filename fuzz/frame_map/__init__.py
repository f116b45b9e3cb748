"""Maps of encoded frames: the bytes of every field, record, length and checksum."""
