"""The exit code and the HTTP status of each exception: the one table of them.

Classes are named, not imported: the class of an exception that was raised is loaded, the rooms of the others need not be.
"""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus

import attrs

from negotiator.errors import NegotiatorError
from negotiator.exit_codes import ExitCode


@attrs.frozen
class ErrorStatus:
    """How an exception of a class, or of one derived from it, is reported."""

    exit_code: ExitCode
    http: HTTPStatus


#: By module and name of the class. A class that is missing has the entry of its nearest base.
STATUSES: Mapping[str, ErrorStatus] = {
    "negotiator.runtime.run.OutcomeLostError": ErrorStatus(
        ExitCode.OUTCOME, HTTPStatus.INTERNAL_SERVER_ERROR
    ),
    "negotiator.runtime.run.ReleaseError": ErrorStatus(ExitCode.OUTCOME, HTTPStatus.INTERNAL_SERVER_ERROR),
    "negotiator.audit.bundles.AlteredBundleError": ErrorStatus(ExitCode.NOT_DONE, HTTPStatus.CONFLICT),
    "negotiator.audit.bundles.NoBundleError": ErrorStatus(ExitCode.AUDIT, HTTPStatus.NOT_FOUND),
    "negotiator.audit.errors.AuditError": ErrorStatus(ExitCode.AUDIT, HTTPStatus.SERVICE_UNAVAILABLE),
    "negotiator.errors.PoolError": ErrorStatus(ExitCode.POOL, HTTPStatus.SERVICE_UNAVAILABLE),
    "negotiator.errors.StateError": ErrorStatus(ExitCode.STATE, HTTPStatus.SERVICE_UNAVAILABLE),
    "negotiator.errors.PluginFailureError": ErrorStatus(ExitCode.PLUGIN, HTTPStatus.BAD_GATEWAY),
    "negotiator.errors.InvalidCallError": ErrorStatus(ExitCode.INVALID_CALL, HTTPStatus.BAD_REQUEST),
    "negotiator.errors.NotFoundError": ErrorStatus(ExitCode.NOT_DONE, HTTPStatus.NOT_FOUND),
    "negotiator.errors.CommandError": ErrorStatus(ExitCode.NOT_DONE, HTTPStatus.CONFLICT),
    "negotiator.errors.BundleError": ErrorStatus(ExitCode.NOT_DONE, HTTPStatus.UNPROCESSABLE_ENTITY),
    "negotiator.errors.SettingsError": ErrorStatus(ExitCode.INVALID_CALL, HTTPStatus.INTERNAL_SERVER_ERROR),
    "negotiator.files.UntrustedError": ErrorStatus(ExitCode.NOT_DONE, HTTPStatus.FORBIDDEN),
    "negotiator.classad.syntax.errors.ClassAdError": ErrorStatus(
        ExitCode.NOT_DONE, HTTPStatus.UNPROCESSABLE_ENTITY
    ),
    "negotiator.cycle.cycle_state.CycleStateError": ErrorStatus(
        ExitCode.STATE, HTTPStatus.SERVICE_UNAVAILABLE
    ),
    "negotiator.queues.acl.AclError": ErrorStatus(ExitCode.NOT_DONE, HTTPStatus.UNPROCESSABLE_ENTITY),
    "negotiator.queues.quantities.QuantityError": ErrorStatus(
        ExitCode.NOT_DONE, HTTPStatus.UNPROCESSABLE_ENTITY
    ),
    "negotiator.queues.tree.QueueError": ErrorStatus(ExitCode.NOT_DONE, HTTPStatus.CONFLICT),
    "negotiator.ledger.errors.LedgerError": ErrorStatus(ExitCode.NOT_DONE, HTTPStatus.INTERNAL_SERVER_ERROR),
}

#: For classes of plugins, which the table cannot name.
_OTHERWISE = ErrorStatus(ExitCode.NOT_DONE, HTTPStatus.INTERNAL_SERVER_ERROR)


def status_of(error: NegotiatorError) -> ErrorStatus:
    """Return the exit code and the HTTP status of an exception."""
    names = (f"{each.__module__}.{each.__qualname__}" for each in type(error).__mro__)
    return next((STATUSES[name] for name in names if name in STATUSES), _OTHERWISE)
