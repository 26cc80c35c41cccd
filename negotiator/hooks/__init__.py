"""The plugin contract: hooks, the records that plugins return, and the manager that calls them.

Plugins import ``negotiator.plugin``.
"""
