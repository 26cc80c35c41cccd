"""Explains decisions: why a job gets no slot, whether a recorded cycle is decided the same again, and what the pool's other negotiator decided instead."""
