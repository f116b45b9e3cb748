"""What compressed records stand in: the framings of gzip, snappy, LZ4 and zstd, as plain construct.

A file has one format. They say where each field stands, for who builds odd ones; records are unpacked by
barnabas.specs.records, which trusts no size that stands in them. What is compressed stays closed, but for
snappy's elements: their lengths are bytes of their own.
"""
