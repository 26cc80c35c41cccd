"""Connections to a Dask cluster, whose workers run on other machines."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Final

from negotiator.engines.dask_tls import DaskTlsError, client_security, connection_problem
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
    :raises EngineUnavailableError: distributed is not installed, its TLS is not configured, or no scheduler answers.
    """
    try:
        from negotiator.engines.dask_connection import connection  # noqa: PLC0415 - optional, and slow to import
    except ImportError as error:
        raise EngineUnavailableError(
            f"engine dask needs the package distributed ({error}): pip install 'pool-negotiator[dask]'"
        ) from None
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)  # who calls reports what is lost
    with ExitStack() as stack:
        try:
            client = stack.enter_context(connection(address, client_security(address), seconds))
        except DaskTlsError as error:
            raise EngineUnavailableError(f"Dask scheduler {address}: {error}") from None
        except (OSError, ValueError, TypeError, ImportError) as error:
            raise EngineUnavailableError(connection_problem(address, error)) from None
        yield client
