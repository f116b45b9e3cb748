"""The tables of a capture that is still being written, batch by batch.

`arrivals.py` notes which files are complete. Spark's file source watches the notes, and its checkpoint keeps
which were read. The driver reads them in order,
since a connection's bytes can only be read one after the other and what one connection says (topic names,
brokers) holds for the others; tasks decode the bodies, which is most of the work. The reader's state is
pure and written last, as values (`state.py`): that rename is the end of the batch, and before it doing the
batch again replaces all of it.
"""
