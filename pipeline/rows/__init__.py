"""Makes rows of exchanges, frames and bytes fields: columns, bodies as VARIANT, typed columns.

- `exchanges.py` makes rows of exchanges, with `body_values.py`, `seen.py` and `body_columns/`.
- `columns.py` has the columns of the tables. `bodies.py` writes bodies as VARIANT.
- `frames.py` makes rows of frames. `inside.py` makes rows of the contents of bytes fields.
"""
