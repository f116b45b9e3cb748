"""The tables of a growing capture, batch by batch.

`arrivals.py` notes which files are complete; a note has the files of a batch. The driver reads the files in
order, since a connection's bytes must be read in sequence and names from one connection are valid for others.
Tasks decode the bodies, which is most of the work. The reader's state is pure and is written last, as values
(`state.py`): its rename ends the batch. Before that, a repeated batch replaces all of its rows.
"""
