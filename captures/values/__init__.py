"""Decode the keys and values of records, as applications see them. No I/O.

- `wire_format.py` finds the schema id that serializers with a schema registry write.
- `avro.py`, `protobuf.py` and `json_value.py` decode a value by its schema, in bounded time and memory.
- `value.py` decodes any value: JSON, text, by a schema that a callback looks up, or bytes with the reason.
- `record.py` formats a record with decoded parts, for log, page and conditions.
- `record_sets.py` formats the records of a message's body.
"""
