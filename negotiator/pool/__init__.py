"""The pool: reads the ads that its daemons print, in any format, into tables."""

from typing import TYPE_CHECKING

from negotiator.errors import PoolError as PoolError
from negotiator.lazy_names import lazy_names

if TYPE_CHECKING:
    from negotiator.pool.pool_ads import ClaimedJob as ClaimedJob
    from negotiator.pool.pool_ads import PoolAds as PoolAds
    from negotiator.pool.pool_ads import PoolReading as PoolReading
    from negotiator.pool.pool_ads import SlotChanges as SlotChanges
    from negotiator.pool.pool_reader import PoolReader as PoolReader
    from negotiator.pool.reading import AdFile as AdFile
    from negotiator.pool.reading import read_ads as read_ads
    from negotiator.pool.reading import read_pool as read_pool
    from negotiator.pool.reading import read_pool_with_claims as read_pool_with_claims
    from negotiator.pool.snapshot import Snapshot as Snapshot
    from negotiator.pool.vault import ClaimVault as ClaimVault
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "negotiator.pool.pool_ads": "PoolAds PoolReading ClaimedJob SlotChanges",
            "negotiator.pool.pool_reader": "PoolReader",
            "negotiator.pool.reading": "AdFile read_ads read_pool read_pool_with_claims",
            "negotiator.pool.snapshot": "Snapshot",
            "negotiator.pool.vault": "ClaimVault",
        },
    )
