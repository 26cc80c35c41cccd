"""Accounting groups: the tree, quotas, demand, surplus, order, and the rounds in which groups negotiate."""
