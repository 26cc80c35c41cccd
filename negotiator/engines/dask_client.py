"""Connections to a Dask cluster, whose workers run on other machines, with TLS as Dask's configuration has it.

An error names what is missing or wrong there, or why a connection failed, and what to do about it.
"""

from __future__ import annotations

import logging
import re
import ssl
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from negotiator.errors import CommandError

if TYPE_CHECKING:
    from distributed import Client, Security

#: How long a scheduler may take to answer, in seconds.
TIMEOUT: Final = 10.0
_PAGE: Final = "docs/engines.md#tls"
#: What a client needs, by the names of ``Security.get_tls_config_for_role``.
_KEYS: Final = {
    "ca_file": "distributed.comm.tls.ca-file",
    "cert": "distributed.comm.tls.client.cert",
    "key": "distributed.comm.tls.client.key",
}
#: What OpenSSL reports if the other side has refused a certificate.
_REFUSED: Final = re.compile(
    r"ALERT_(?:UNKNOWN_CA|BAD_CERTIFICATE|CERTIFICATE_\w+|DECRYPT_ERROR|ACCESS_DENIED)|CERTIFICATE_REQUIRED"
)
#: What OpenSSL and tornado report if the other side does not use TLS.
_PLAIN: Final = re.compile(r"WRONG_VERSION_NUMBER|cannot convert to SSL|RECORD_LAYER_FAILURE")
_ENCRYPTED: Final = re.compile(rb"ENCRYPTED PRIVATE KEY|4,ENCRYPTED")


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


class DaskTlsError(Exception):
    """Dask's configuration has no usable certificates for an address; the text has what to do, and nothing of a key."""


def client_security(address: str) -> Security | None:
    """Return the certificates for a connection to a scheduler; None if a loader of the site provides them.

    :raises DaskTlsError: they are missing or cannot be used, or the configuration allows no connection without TLS.
    """
    import dask  # noqa: PLC0415 - optional, and slow to import
    from distributed import Security  # noqa: PLC0415 - optional, and slow to import
    from distributed.comm.addressing import parse_address  # noqa: PLC0415 - optional, and slow to import

    if dask.config.get("distributed.client.security-loader", None):
        return None
    security = Security()
    if parse_address(address)[0] == "tls":
        _check_files(security.get_tls_config_for_role("client"))
        try:
            security.get_connection_args("client")
        except (OSError, ValueError) as error:  # SSLError is an OSError
            raise DaskTlsError(
                f"{_KEYS['ca_file']}, {_KEYS['cert']} and {_KEYS['key']} cannot be used together ({_reason(error)}): they have to be a"
                f" CA certificate, a certificate, and the key of that certificate, each in PEM form ({_PAGE})"
            ) from None
    elif security.require_encryption:
        raise DaskTlsError(
            f"Dask's configuration has distributed.comm.require-encryption, and this address has no TLS: write tls:// ({_PAGE})"
        )
    return security


def connection_problem(address: str, error: BaseException) -> str:
    """Return why no connection was made, and what to do."""
    chain = [*_causes(error)]
    text = " ".join(map(str, chain))
    is_tls = address.startswith("tls://")
    refused = _REFUSED.search(text)
    unverified = next((each for each in chain if isinstance(each, ssl.SSLCertVerificationError)), None)
    if unverified is not None:
        return (
            f"the certificate of the Dask scheduler at {address} is not trusted ({unverified.verify_message}):"
            f" {_KEYS['ca_file']} has to be the CA that signed it ({_PAGE})"
        )
    if refused:
        return (
            f"the Dask scheduler at {address} refuses the certificate of this program ({refused[0].lower()}):"
            f" {_KEYS['cert']} has to be valid, and signed by the scheduler's CA ({_PAGE})"
        )
    if is_tls and _PLAIN.search(text):
        return f"the Dask scheduler at {address} does not use TLS: start it with tls:// and certificates ({_PAGE})"
    if is_tls and _is_closed(error):
        # With TLS 1.3 the reason comes after the handshake: it is lost if the scheduler is quicker to close than this program to read.
        return (
            f"the Dask scheduler at {address} closed the connection: {_KEYS['cert']} has to be valid, and signed by the scheduler's CA,"
            f" and the scheduler has to use TLS ({_PAGE})"
        )
    if _is_closed(error):
        return (
            f"the Dask scheduler at {address} closed the connection: if it uses TLS, the address of the engine has to begin"
            f" with tls:// ({_PAGE}); other versions of Dask close it too"
        )
    return (
        f"no Dask scheduler answers at {address} ({_reason(error)}): start one with 'dask scheduler', or correct the address of the"
        " engine"
    )


def _check_files(settings: Mapping[str, str | None]) -> None:
    """Check that each certificate and the key are there and can be read; without a key of its own the certificate's file has it.

    :raises DaskTlsError: see there.
    """
    missing = [_KEYS[name] for name in ("ca_file", "cert") if not settings.get(name)]
    if missing:
        raise DaskTlsError(
            f"a tls:// address needs certificates, and Dask's configuration has no {' and no '.join(missing)} ({_PAGE})"
        )
    for name, key in _KEYS.items():
        value = settings.get(name)
        if value is None:
            continue
        # A value of several lines is the text itself: it must not come into a message.
        content = value.encode() if "-----BEGIN" in value else _content(key, value)
        if name != "ca_file" and _ENCRYPTED.search(content):
            raise DaskTlsError(
                f"{key} has a passphrase, which nobody could enter: use a key without one, which only its owner may read ({_PAGE})"
            )


def _content(key: str, path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise DaskTlsError(
            f"the file of {key} in Dask's configuration cannot be read ({path[:200]}: {reason}): correct its path or its rights"
        ) from None


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _is_closed(error: BaseException) -> bool:
    from distributed.comm.core import CommClosedError  # noqa: PLC0415 - optional, and slow to import

    return isinstance(error, CommClosedError)


def _reason(error: BaseException) -> str:
    if isinstance(error, ssl.SSLError) and error.reason:
        return error.reason.lower().replace("_", " ")
    return str(error) or ("no answer in time" if isinstance(error, TimeoutError) else type(error).__name__)
