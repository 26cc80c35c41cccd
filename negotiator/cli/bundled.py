"""The commands of the plugins that come with the program: their names are known without loading the plugins."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from importlib import import_module
from typing import Any

import click

from negotiator.cli.lazy import LazyCommand

#: The plugins that come with the program: names and modules, as in their entry points.
PLUGINS = {
    "access": "negotiator_access",
    "condor": "negotiator_condor",
    "expressions": "negotiator_expressions",
    "fairshare": "negotiator_fairshare",
    "groups": "negotiator_groups",
    "limits": "negotiator_limits",
    "live": "negotiator_live",
    "maxima": "negotiator_maxima",
    "placement": "negotiator_placement",
    "queue_order": "negotiator_queue_order",
    "quotasets": "negotiator_quotasets",
}
#: The commands of each plugin, with their lines in the list of commands. Each is in the module of its name in ``commands``.
COMMANDS: Mapping[str, Mapping[str, str]] = {
    "fairshare": {
        "userprio": "Show and set priorities and usage, as condor_userprio does.",
    },
    "quotasets": {
        "qconf": "Show and change resource quota sets, as Grid Engine does.",
        "qquota": "Print the usage of the limits of resource quota sets.",
    },
}
_SUBMIT = "submit jobs with condor_submit; +Project, +ParallelEnvironment, +RequestNAME, RequestCpus say what -P, -pe, -l say"
_CHANGE = "change a job with condor_qedit, hold and release it with condor_hold and condor_release"
_RESERVE = "nothing is reserved in advance"
#: Programs of Grid Engine that are not commands here, and what to use instead: people type them next after qconf and qquota.
PROGRAMS: Mapping[str, str] = {
    "qstat": "negotiator why JOB prints why a job gets no slot (qstat -j), negotiator idle why all idle jobs get none, negotiator"
    " queues lists the queues (qstat -f, -g c); condor_q -allusers lists all jobs",
    "qhost": "condor_status lists the machines",
    "qselect": "negotiator queues lists the queues, condor_status -constraint selects slots",
    "qacct": "negotiator usage prints the usage of users, negotiator report a period; condor_history lists the jobs that ended",
    **dict.fromkeys(("qsub", "qrsh", "qlogin", "qsh", "qresub"), _SUBMIT),
    **dict.fromkeys(("qalter", "qhold", "qrls"), _CHANGE),
    "qdel": "remove a job with condor_rm",
    "qmod": "condor_suspend and condor_continue act on jobs; queues are changed in queues.yaml",
    "qping": "negotiator status prints whether the negotiator works",
    **dict.fromkeys(("qrsub", "qrstat", "qrdel"), _RESERVE),
    "qmon": "negotiator serve --pages serves pages of the pool",
    "qsched": "negotiator whatif prints what a cycle would decide",
}


class BundledCommand(LazyCommand):
    """A command of a plugin that comes with the program; it gets the program's context once its options are parsed."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Return the context of the command itself, with the program as its object unless the caller gave one."""
        context = super().make_context(info_name, args, parent, **extra)
        if context.obj is None and not context.resilient_parsing:
            from negotiator.app.context import ProgramContext  # noqa: PLC0415 - not for help and completion

            context.obj = ProgramContext()
        return context


def bundled_commands() -> dict[str, click.Command] | None:
    """Return the commands of the installed plugins; each is imported when it is run or completed.

    Return None if there are other plugins than those of the program, or if the entry points cannot be read.
    """
    from negotiator.hooks.entry_points import installed_plugins  # noqa: PLC0415 - the program's own commands need it not

    try:
        found = {(entry.name, entry.value) for entry in installed_plugins()}
    except Exception:  # noqa: BLE001 - any broken distribution; loading the plugins reports it
        return None
    if not found <= PLUGINS.items():
        return None
    return {
        name: BundledCommand(name, text, partial(_load, module, name))
        for plugin, module in sorted(found)
        for name, text in COMMANDS.get(plugin, {}).items()
    }


def _load(module: str, name: str) -> click.Command:
    command: click.Command = getattr(import_module(f"{module}.commands.{name}"), name)
    return command
