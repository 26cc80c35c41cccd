"""The pool: reads the ads that its daemons print, in any format, into tables."""

from negotiator.errors import PoolError as PoolError
from negotiator.pool.reading import AdFile as AdFile
from negotiator.pool.reading import read_ads as read_ads
from negotiator.pool.reading import read_pool as read_pool
from negotiator.pool.reading import read_pool_with_claims as read_pool_with_claims
from negotiator.pool.snapshot import Snapshot as Snapshot
from negotiator.pool.vault import ClaimVault as ClaimVault
