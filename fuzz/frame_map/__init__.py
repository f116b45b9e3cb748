"""Where everything stands in an encoded frame: fields, records, lengths, checksums."""
