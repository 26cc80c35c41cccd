"""Plugins in worker processes of their own, so that one that hangs or crashes fails like one that raises.

``plugin`` makes the object that is registered in place of the plugin, ``process`` starts and ends the worker, ``worker`` is
the program that it runs, and ``wire`` is what crosses the boundary: arguments as pickles of the program's own types, which
the worker may trust; answers as JSON, which the program checks like any input.
"""
