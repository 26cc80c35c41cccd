"""Connections to a Dask cluster, whose workers run on other machines."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from negotiator.errors import CommandError

if TYPE_CHECKING:
    from distributed import Client

#: How long a scheduler may take to answer, in seconds.
TIMEOUT: Final = 10.0


class EngineUnavailableError(CommandError):
    """The workers of an engine cannot be reached, or what they need is not installed here."""


@contextmanager
def dask_client(address: str, seconds: float = TIMEOUT) -> Iterator[Client]:
    """Connect to the scheduler of a Dask cluster, such as ``tcp://host:8786``, for as long as the context lasts.

    :param seconds: how long the scheduler may take to answer.
    :raises EngineUnavailableError: distributed is not installed, or no scheduler answers.
    """
    try:
        from distributed import Client  # noqa: PLC0415 - optional, and slow to import
    except ImportError as error:
        raise EngineUnavailableError(
            f"engine dask needs the package distributed ({error}): pip install 'pool-negotiator[dask]'"
        ) from None
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)  # who calls reports what is lost
    try:
        client = Client(address, timeout=seconds, set_as_default=False, direct_to_workers=True)
    except (OSError, ValueError) as error:
        raise EngineUnavailableError(
            f"no Dask scheduler answers at {address} ({error}): start one with 'dask scheduler', or correct the address of the engine"
        ) from None
    with client:
        yield client
