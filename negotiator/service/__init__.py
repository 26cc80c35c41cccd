"""The HTTP interface: reads of a pool in the shapes of YuniKorn's REST interface, for its web UI and other clients.

Everything that it shows comes from the use cases of ``negotiator.app``, as what the commands print.
"""
