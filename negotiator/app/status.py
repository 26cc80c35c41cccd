"""The exit code and the HTTP status of each exception: the one table of them."""

from __future__ import annotations

from http import HTTPStatus

import attrs

from negotiator.audit.bundles import AlteredBundleError, NoBundleError
from negotiator.audit.errors import AuditError
from negotiator.classad import ClassAdError
from negotiator.cycle.cycle_state import CycleStateError
from negotiator.errors import (
    BundleError,
    CommandError,
    InvalidCallError,
    NegotiatorError,
    NotFoundError,
    PluginFailureError,
    PoolError,
    StateError,
)
from negotiator.exit_codes import ExitCode
from negotiator.files import UntrustedError
from negotiator.ledger import LedgerError
from negotiator.queues.acl import AclError
from negotiator.queues.quantities import QuantityError
from negotiator.queues.tree import QueueError
from negotiator.runtime.run import OutcomeLostError, ReleaseError


@attrs.frozen
class ErrorStatus:
    """How an exception of a class, or of one derived from it, is reported."""

    error: type[NegotiatorError]
    exit_code: ExitCode
    http: HTTPStatus


#: The first entry whose class fits applies, so derived classes come before their bases.
STATUSES = (
    ErrorStatus(OutcomeLostError, ExitCode.OUTCOME, HTTPStatus.INTERNAL_SERVER_ERROR),
    ErrorStatus(ReleaseError, ExitCode.OUTCOME, HTTPStatus.INTERNAL_SERVER_ERROR),
    ErrorStatus(AlteredBundleError, ExitCode.NOT_DONE, HTTPStatus.CONFLICT),
    ErrorStatus(NoBundleError, ExitCode.AUDIT, HTTPStatus.NOT_FOUND),
    ErrorStatus(AuditError, ExitCode.AUDIT, HTTPStatus.SERVICE_UNAVAILABLE),
    ErrorStatus(PoolError, ExitCode.POOL, HTTPStatus.SERVICE_UNAVAILABLE),
    ErrorStatus(StateError, ExitCode.STATE, HTTPStatus.SERVICE_UNAVAILABLE),
    ErrorStatus(PluginFailureError, ExitCode.PLUGIN, HTTPStatus.BAD_GATEWAY),
    ErrorStatus(InvalidCallError, ExitCode.INVALID_CALL, HTTPStatus.BAD_REQUEST),
    ErrorStatus(NotFoundError, ExitCode.NOT_DONE, HTTPStatus.NOT_FOUND),
    ErrorStatus(CommandError, ExitCode.NOT_DONE, HTTPStatus.CONFLICT),
    ErrorStatus(BundleError, ExitCode.NOT_DONE, HTTPStatus.UNPROCESSABLE_ENTITY),
    ErrorStatus(UntrustedError, ExitCode.NOT_DONE, HTTPStatus.FORBIDDEN),
    ErrorStatus(ClassAdError, ExitCode.NOT_DONE, HTTPStatus.UNPROCESSABLE_ENTITY),
    ErrorStatus(CycleStateError, ExitCode.STATE, HTTPStatus.SERVICE_UNAVAILABLE),
    ErrorStatus(AclError, ExitCode.NOT_DONE, HTTPStatus.UNPROCESSABLE_ENTITY),
    ErrorStatus(QuantityError, ExitCode.NOT_DONE, HTTPStatus.UNPROCESSABLE_ENTITY),
    ErrorStatus(QueueError, ExitCode.NOT_DONE, HTTPStatus.CONFLICT),
    ErrorStatus(LedgerError, ExitCode.NOT_DONE, HTTPStatus.INTERNAL_SERVER_ERROR),
)

#: For classes of plugins, which the table cannot name.
_OTHERWISE = ErrorStatus(NegotiatorError, ExitCode.NOT_DONE, HTTPStatus.INTERNAL_SERVER_ERROR)


def status_of(error: NegotiatorError) -> ErrorStatus:
    """Return the exit code and the HTTP status of an exception."""
    return next((status for status in STATUSES if isinstance(error, status.error)), _OTHERWISE)
