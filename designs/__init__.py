"""The designs of the founding documents, as running systems; the core of barnabas does not know them.

Each document has a folder with its schemas, peers, checks, experiments and a README. They register with the
core as any other package would: by entry points (see `[project.entry-points]` in pyproject.toml).
"""
