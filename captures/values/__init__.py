"""What applications see: the keys and values of records, decoded. No input, no output.

- `wire_format.py` finds the id of a schema, as serializers with a schema registry write it.
- `avro.py`, `protobuf.py`, `json_value.py` read a value by its schema, in bounded time and memory.
- `value.py` reads whatever a value is: JSON, text, by a schema that somebody looks up, or bytes and why.
- `record.py` is a record with its parts decoded, the one form that log, page and conditions have.
- `record_sets.py` has those of a message's body.
"""
