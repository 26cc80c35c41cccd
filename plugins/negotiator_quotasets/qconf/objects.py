"""The switches that delete objects that rules refer to: projects, user sets, host groups and parallel environments.

Source: qconf(1), ``-dprj``, ``-dul``, ``-dhgrp`` and ``-dp``. An object that another object refers to is not deleted. Rule sets
may still name a deleted object, which then matches no user or host.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator

import attrs

from negotiator_quotasets.qconf.arguments import QconfArguments, split_lists
from negotiator_quotasets.qconf.context import QconfContext
from negotiator_quotasets.qconf.errors import MissingArgumentError, QconfRefusedError
from negotiator_quotasets.qconf.gridengine_file import EMPTY, FILE, GridEngineFile
from negotiator_quotasets.qconf.sets import quoted
from negotiator_quotasets.settings import GridEngine


@attrs.frozen
class ObjectKind:
    """A kind of objects: its switch, its key in the file, its name in messages.

    ``references`` yields a message if other objects refer to one that is to be deleted.
    """

    switch: str
    key: str
    name: str
    references: Callable[[GridEngine, str, Container[str]], Iterator[str]] = lambda *_: iter(())

    def __call__(self, context: QconfContext, arguments: QconfArguments) -> None:
        """Delete objects of this kind, either all that are named or none."""
        names = split_lists([arguments.value()])
        if not names:
            raise MissingArgumentError(self.switch)
        context.require_manager(FILE, EMPTY)
        with context.locked_settings() as settings:
            self._require_deletable(settings.gridengine, names)
            file = GridEngineFile(context, settings)
            file.remove(self.key, names)
            context.change(file.to_write(), f"{self.switch}: removed {quoted(names)}")
        for name in names:
            context.print_error(f'{context.caller} removed "{name}" from {self.name} list')

    def _require_deletable(self, engine: GridEngine, names: tuple[str, ...]) -> None:
        declared: Container[str] = getattr(engine, self.key)
        missing = [f'denied: {self.name} "{name}" does not exist' for name in names if name not in declared]
        # References from objects that are deleted together do not count.
        referenced = [line for name in names for line in self.references(engine, name, names)]
        if missing or referenced:
            raise QconfRefusedError(*missing, *referenced)


def _hostgroups(engine: GridEngine, group: str, deleted: Container[str]) -> Iterator[str]:
    names = [name for name, members in engine.hostgroups.items() if group in members and name not in deleted]
    if names:
        yield f'denied: these hostgroups still reference "{group}": {", ".join(names)}'


def _queues(engine: GridEngine, pe: str, _deleted: Container[str]) -> Iterator[str]:
    queue = next((name for name, queue in engine.queues.items() if pe in queue.pe_list), None)
    if queue is not None:
        yield f'denied: Parallel environment "{pe}" is still referenced in queue "{queue}".'


delete_projects = ObjectKind("-dprj", "projects", "project")
delete_usersets = ObjectKind("-dul", "usersets", "userset")
delete_hostgroups = ObjectKind("-dhgrp", "hostgroups", "host group", _hostgroups)
delete_pes = ObjectKind("-dp", "pes", "parallel environment", _queues)
