"""The switches that delete what rules refer to: projects, user sets, host groups and parallel environments.

Rule sets may go on naming what is not there any more: it matches nobody then. Source: qconf(1), ``-dprj``, ``-dul``,
``-dhgrp`` and ``-dp``; what is still referred to by another object is not deleted.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator

import attrs

from negotiator_quotasets.qconf.arguments import QconfArguments, listed
from negotiator_quotasets.qconf.context import QconfContext
from negotiator_quotasets.qconf.documents import EMPTY, FILE, Document
from negotiator_quotasets.qconf.refusal import MissingArgumentError, QconfRefusedError
from negotiator_quotasets.qconf.sets import quoted
from negotiator_quotasets.settings import GridEngine


@attrs.frozen
class ObjectKind:
    """A kind of objects: the key of its list, what it is called, and who still refers to one of them."""

    switch: str
    key: str
    name: str
    referring: Callable[[GridEngine, str, Container[str]], Iterator[str]] = lambda *_: iter(())

    def __call__(self, desk: QconfContext, words: QconfArguments) -> None:
        """Delete objects of this kind, all that are named or none."""
        names = listed([words.value()])
        if not names:
            raise MissingArgumentError(self.switch)
        desk.require_manager(FILE, EMPTY)
        with desk.changing() as settings:
            self._require(settings.gridengine, names)
            document = Document(desk, settings)
            document.remove(self.key, names)
            desk.change(document.written(), f"{self.switch}: removed {quoted(names)}")
        for name in names:
            desk.complain(f'{desk.who} removed "{name}" from {self.name} list')

    def _require(self, engine: GridEngine, names: tuple[str, ...]) -> None:
        there: Container[str] = getattr(engine, self.key)
        missing = [f'denied: {self.name} "{name}" does not exist' for name in names if name not in there]
        # What goes at the same time refers to nothing.
        needed = [line for name in names for line in self.referring(engine, name, names)]
        if missing or needed:
            raise QconfRefusedError(*missing, *needed)


def _hostgroups(engine: GridEngine, group: str, going: Container[str]) -> Iterator[str]:
    found = [name for name, members in engine.hostgroups.items() if group in members and name not in going]
    if found:
        yield f'denied: these hostgroups still reference "{group}": {", ".join(found)}'


def _queues(engine: GridEngine, pe: str, _going: Container[str]) -> Iterator[str]:
    found = next((name for name, queue in engine.queues.items() if pe in queue.pe_list), None)
    if found is not None:
        yield f'denied: Parallel environment "{pe}" is still referenced in queue "{found}".'


delete_projects = ObjectKind("-dprj", "projects", "project")
delete_usersets = ObjectKind("-dul", "usersets", "userset")
delete_hostgroups = ObjectKind("-dhgrp", "hostgroups", "host group", _hostgroups)
delete_pes = ObjectKind("-dp", "pes", "parallel environment", _queues)
