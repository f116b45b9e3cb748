"""Where schemas come from: `folder.py`, or `registry.py`, a schema registry; `source.py` chooses.

`compiling.py` makes readers of their texts, `protoc.py` descriptors of Protobuf; `cutting.py` bounds the
time of a request.
"""
