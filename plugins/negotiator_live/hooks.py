"""The hooks of this plugin."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from negotiator.plugin import (
    PEER_GROUP,
    Access,
    AccessDecision,
    AccessKind,
    AccessQuestion,
    LivePool,
    ObservedPool,
    PoolControl,
    PoolSource,
    Section,
    hookimpl,
)
from negotiator_live import pool
from negotiator_live.master.configuration import pool_settings
from negotiator_live.security.server.peer import Level
from negotiator_live.settings import SECTION, LivePoolSettings, at_collector, bound_to

_RULE: Final = "administrators of htcondor:"


@hookimpl
def negotiator_section() -> Section:
    """Declare ``htcondor:`` in ``pool.yaml``."""
    return SECTION


@hookimpl
def negotiator_pool_sources() -> Iterator[PoolSource]:
    """Bring the source ``htcondor``."""
    yield PoolSource(
        name="htcondor",
        open=_open,
        observe=_observe,
        at=at_collector,
        bind=bound_to,
        configuration=pool_settings,
    )


@hookimpl
def negotiator_access(questions: Sequence[AccessQuestion], settings: LivePoolSettings) -> Iterator[Access]:
    """Let the administrators of ``htcondor:`` change what administrators of the scheduler do, such as accounts.

    Their names have a domain. The port has admitted a peer and its host before; of any other user, such as that of a token
    of the web service, nobody knows a host, so only one who is named is an administrator.
    """
    authorization = settings.pool.authorization
    for question in questions:
        is_one = (
            question.act is AccessKind.CONFIGURE
            and "@" in question.user
            and authorization.names_user(
                question.user, Level.ADMINISTRATOR, at_some_host=PEER_GROUP in question.groups
            )
        )
        decision = AccessDecision.GRANT if is_one else AccessDecision.ABSTAIN
        yield Access(decision, _RULE, f"{question.user} is {'' if is_one else 'not '}one of {_RULE}")


def _open(settings: LivePoolSettings, control: PoolControl) -> LivePool:
    informs = settings.NEGOTIATOR_INFORM_STARTD
    return pool.HTCondorPool(settings.pool, control, informs_startds=informs)


def _observe(settings: LivePoolSettings) -> ObservedPool:
    return pool.ObservedHTCondorPool(settings.pool)
