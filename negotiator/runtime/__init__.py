"""A cycle with its I/O: the pool is read, the pure cycle decides, decisions are recorded, and only then handed out."""
