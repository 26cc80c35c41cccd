"""One worker of a Dask cluster, from its first cycle to its last."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Any, Self

import attrs

from negotiator.engines.dask_worker import DaskConditionWorker
from negotiator.engines.program_identity import difference, program_identity

if TYPE_CHECKING:
    from distributed import Client


@attrs.define(eq=False)
class DaskMember:
    """A worker of the cluster, and the actor that it runs for this negotiator.

    ``known`` is the version of the task that it has, 0 for none. ``problem`` is why it is not used, empty if it is.
    """

    client: Client
    address: str
    future: Any  # of the actor, which ends with it
    known: int = 0
    problem: str = ""
    is_refused: bool = False
    _actor: Any = None
    _identity: Any = None

    @classmethod
    def of(cls, client: Client, address: str) -> Self:
        """Start the actor in a worker; nothing is waited for."""
        future = client.submit(
            DaskConditionWorker, actor=True, workers=[address], allow_other_workers=False, pure=False
        )
        return cls(client, address, future)

    @property
    def actor(self) -> Any:
        """The actor of a member that is ready."""
        return self._actor

    def is_ready(self, seconds: float) -> bool:
        """True if the worker runs the actor, and the same program as this process; wait so long at most."""
        end = monotonic() + seconds
        try:
            if self._actor is None and (self.future.done() or seconds):
                # An actor belongs to the client that is current at its first call.
                with self.client.as_current():
                    self._actor = self.future.result(seconds or None)
                    self._identity = self._actor.identity()
            if self._identity is not None and (self._identity.done() or seconds):
                found = difference(
                    program_identity(), self._identity.result(max(0.0, end - monotonic()) or None)
                )
                self._identity = None
                if found:
                    self.is_refused, self.problem = True, f"refused, it runs {found}"
        except TimeoutError:
            return False
        except Exception as error:  # noqa: BLE001 - whatever a worker on another machine answers
            self.lose(error)
        return self._actor is not None and self._identity is None and not (self.problem or self.is_refused)

    def lose(self, error: BaseException) -> None:
        """Note that the worker failed; in the next cycle it gets a new actor if it is still there."""
        self.problem = f"lost ({type(error).__name__})"
