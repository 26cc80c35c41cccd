"""The Python interface, ``import negotiator as n``: pools, policies, cycles and the ledger for scripts and notebooks.

``negotiator`` exports its names, each imported when it is used first. docs/python.md documents them.
"""
