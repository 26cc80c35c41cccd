"""Engines: they evaluate the conditions of requests ahead of their turns, in other processes.

Workers compute only what depends on ads alone. The cycle itself takes slots, charges quotas and decides, so a worker that is slow
or dies costs time, never a match: what it did not answer the cycle evaluates itself.
"""
