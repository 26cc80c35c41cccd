"""The pool as a source of ads: fetched from the collector and the schedds, and matches handed to the schedds.

Names are imported when a pool is served: commands that load a bundle need none of them.
"""

from typing import TYPE_CHECKING

from negotiator.plugin import lazy_names

if TYPE_CHECKING:
    from negotiator_live.pool.source import HTCondorPool as HTCondorPool
    from negotiator_live.pool.source import ObservedHTCondorPool as ObservedHTCondorPool
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "negotiator_live.pool.source": "HTCondorPool ObservedHTCondorPool",
        },
    )
