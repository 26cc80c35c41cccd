"""Build the root folder of real pools, and print its path: ``python -m condor_pool``."""

from __future__ import annotations

import sys

from condor_pool.errors import PoolUnavailableError
from condor_pool.root_folder import root_folder

try:
    print(root_folder())  # noqa: T201 - what it is for
except PoolUnavailableError as error:
    sys.exit(f"error: {error}")
