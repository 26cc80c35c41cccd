"""A real HTCondor pool on loopback, in a private copy of a root folder with Debian's package ``condor``.

It needs root, Linux namespaces and, once, a minute and the Debian archive.
"""

from condor_pool.errors import PoolUnavailableError as PoolUnavailableError
from condor_pool.pool import CondorPool as CondorPool
from condor_pool.pool import condor_pool as condor_pool
from condor_pool.root_folder import root_folder as root_folder
from condor_pool.settings import PoolSettings as PoolSettings
