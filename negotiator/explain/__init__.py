"""Explains decisions: why a job gets no slot, and what the pool's other negotiator decided instead."""
