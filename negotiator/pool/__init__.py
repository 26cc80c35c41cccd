"""The pool: reading what its daemons print about it, in any format, into tables of ads."""

from negotiator.pool.input_files import PoolError as PoolError
from negotiator.pool.reading import AdFile as AdFile
from negotiator.pool.reading import read_ads as read_ads
from negotiator.pool.reading import read_pool as read_pool
from negotiator.pool.reading import read_table as read_table
from negotiator.pool.snapshot import Snapshot as Snapshot
