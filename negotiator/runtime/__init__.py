"""A cycle with its I/O: read the pool, run the pure cycle, record the decisions, hand them out."""
