"""Plugins in worker processes of their own, so that one that hangs or crashes fails like one that raises.

``plugin`` makes the object that is registered in place of the plugin, ``process`` starts and ends the worker, ``worker`` is
the program that it runs, and ``wire`` is what crosses the boundary: arguments as pickles of the program's own types, which
the worker may trust; answers as JSON, which the program checks like any input. The names
are imported when a bundle isolates a plugin.
"""

from typing import TYPE_CHECKING

from negotiator.lazy_names import lazy_names

if TYPE_CHECKING:
    from negotiator.hooks.isolation.plugin import MAX_SECONDS as MAX_SECONDS
    from negotiator.hooks.isolation.plugin import WorkerError as WorkerError
    from negotiator.hooks.isolation.plugin import WorkerProcess as WorkerProcess
    from negotiator.hooks.isolation.plugin import isolated_plugin as isolated_plugin
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "negotiator.hooks.isolation.plugin": "MAX_SECONDS WorkerError WorkerProcess isolated_plugin",
        },
    )
