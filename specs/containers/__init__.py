"""The containers of compressed records (gzip, snappy, LZ4, zstd), in plain construct.

There is one file for each format. The declarations show each field, for building invalid containers. To
decompress records, use barnabas.specs.records, which trusts no size in the data. Compressed bytes stay opaque
except snappy's elements, whose lengths are separate bytes.
"""
