"""Explains decisions: what the pool's other negotiator decided instead."""
