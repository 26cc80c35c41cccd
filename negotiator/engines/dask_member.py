"""One worker of a Dask cluster, from its first cycle to its last."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Any, Final, Self

import attrs

from negotiator.engines.program_identity import difference, program_identity

if TYPE_CHECKING:
    from distributed import Client

#: What a worker runs. It has built-in types only: a worker that unpickles a class that it has not got breaks its connection,
#: and the scheduler, which unpickles it too, need not have the program.
_IDENTITY: Final = (
    "__import__('importlib').import_module('negotiator.engines.program_identity').program_identity()"
)
_ACTOR: Final = (
    "__import__('importlib').import_module('negotiator.engines.dask_worker').DaskConditionWorker()"
)


@attrs.define(eq=False)
class DaskMember:
    """A worker of the cluster, and the actor that it runs for this negotiator.

    ``known`` is the version of the task that it has, 0 for none. ``problem`` is why it is not used, empty if it is;
    ``is_refused``: its program is another one.
    """

    client: Client
    address: str
    known: int = 0
    problem: str = ""
    is_refused: bool = False
    _identity: Any = None  # futures, until they are done
    _started: Any = None  # the actor ends with this future
    _actor: Any = None

    @classmethod
    def of(cls, client: Client, address: str) -> Self:
        """Ask a worker what it runs; nothing is waited for."""
        member = cls(client, address)
        member._identity = member._submitted(eval, _IDENTITY)
        return member

    def call(self, method: str, *args: Any) -> Any:
        """Call a method of the actor of a member that is ready, and return the future; None if the worker is lost."""
        try:
            return getattr(self._actor, method)(*args)
        except Exception as error:  # noqa: BLE001 - Dask raises at once if it knows that the worker has ended
            self.lose(error)
            return None

    def is_ready(self, seconds: float) -> bool:
        """True if the worker runs the actor, and the same program as this process; wait so long at most."""
        if self.problem or self.is_refused or self._actor is not None:
            return not (self.problem or self.is_refused)
        end = monotonic() + seconds
        try:
            if self._started is None:
                if not self._is_same_program(seconds):
                    return False
                self._started = self._submitted(eval, _ACTOR, actor=True)
            # An actor belongs to the client that is current when it arrives.
            with self.client.as_current():
                self._actor = self._result(self._started, end - monotonic())
        except TimeoutError:
            return False
        except Exception as error:  # noqa: BLE001 - whatever a worker on another machine answers
            self.lose(error)
        return self._actor is not None

    def lose(self, error: BaseException) -> None:
        """Note that the worker failed; in the next cycle it gets a new actor if it is still there."""
        self.problem = f"lost ({type(error).__name__})"

    def _is_same_program(self, seconds: float) -> bool:
        try:
            found = difference(program_identity(), self._result(self._identity, seconds))
        except (ImportError, AttributeError) as error:
            found = f"no program of this version ({error})"
        if found:
            self.is_refused, self.problem = True, f"refused, it runs {found}"
        return not found

    def _submitted(self, function: Any, *args: Any, **more: Any) -> Any:
        return self.client.submit(
            function, *args, workers=[self.address], allow_other_workers=False, pure=False, **more
        )

    @staticmethod
    def _result(future: Any, seconds: float) -> Any:
        """Return the result of a future.

        :raises TimeoutError: it is not done in this time.
        """
        if seconds <= 0 and not future.done():
            raise TimeoutError
        return future.result(max(seconds, 1.0))
