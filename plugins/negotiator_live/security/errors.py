"""Why a session with a daemon is refused, by either side."""

from __future__ import annotations

from negotiator_live.wire.errors import DaemonError


class AuthenticationError(DaemonError):
    """No authentication method led to success."""


class AuthorizationError(DaemonError):
    """The daemon knows who this is, and denies the command."""


class SecurityPolicyError(DaemonError):
    """What the daemon offers is less than the configuration requires, or not supported."""


class UnknownSessionError(DaemonError):
    """The daemon does not know the session that was to be resumed."""
