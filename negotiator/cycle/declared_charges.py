"""The charges that plugins declare for requests."""

from __future__ import annotations

import attrs

from negotiator.bundle.model import Bundle
from negotiator.classad import Table
from negotiator.cycle.divisible_slots import Consumption
from negotiator.cycle.part_charges import charges_of_parts
from negotiator.hooks import specs
from negotiator.hooks.charges import Charge, KeyCharge
from negotiator.hooks.manager import Answers
from negotiator.hooks.records import Cycle, Request
from negotiator.queues import QueueTree


@attrs.define(eq=False)
class DeclaredCharges:
    """Calls the plugins for the charges of a request over the slots of a cycle.

    The answers for the latest request are kept: its order may have read them before the turn.
    """

    slots: Table
    queues: QueueTree
    bundle: Bundle
    #: Plugins may have named the hook as unused under the queues of the bundle, not under others.
    _follows: bool = attrs.field(init=False)
    _latest: tuple[Request, Answers[Charge | KeyCharge]] | None = None

    def __attrs_post_init__(self) -> None:
        self._follows = self.queues.follows(self.bundle.partition.root)

    def of(
        self, request: Request, cycle: Cycle, consumption: Consumption | None = None
    ) -> Answers[Charge | KeyCharge]:
        """Return the charges, and the failures of plugins.

        :param consumption: what the request takes of slots that several jobs share.
        """
        answers = self._of_slots(request, cycle)
        return answers if consumption is None else charges_of_parts(answers, consumption)

    def _of_slots(self, request: Request, cycle: Cycle) -> Answers[Charge | KeyCharge]:
        if self._latest is not None and self._latest[0] is request:
            return self._latest[1]
        hooks = self.bundle.hooks
        answers = (hooks.ask if self._follows else hooks.ask_all)(
            specs.negotiator_charges,
            request=request,
            slots=self.slots,
            queues=self.queues,
            cycle=cycle,
            order=self.bundle.ordering.name,
            settings=self.bundle.settings,
        )
        self._latest = request, answers
        return answers
