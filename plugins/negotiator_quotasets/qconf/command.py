"""The command: its switches, in the order of its help; those of the command line run one after the other.

Source: qconf(1).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import attrs
import click

from negotiator.plugin import CommandContext, CommandTargets, ExitCode
from negotiator_quotasets.qconf import objects, sets
from negotiator_quotasets.qconf.arguments import (
    USAGE,
    AbortedCommandLineError,
    InvalidCommandLineError,
    MissingArgumentError,
    QconfArguments,
    QconfRefusedError,
)
from negotiator_quotasets.qconf.attributes import AttributeSwitch, ChangeWay
from negotiator_quotasets.qconf.context import QconfContext

_VALUE, _FILE = "obj_nm attr_nm val obj_id_list", "obj_nm fname obj_id_list"
_HELP_TEXTS = {
    ChangeWay.ADD: "add to a list attribute of an object",
    ChangeWay.DELETE: "delete from a list attribute of an object",
    ChangeWay.MODIFY: "modify an attribute (or element in a sublist) of an object",
    ChangeWay.REPLACE: "replace a list attribute of an object",
}
_OBJECTS = "{} are listed and changed in gridengine.yaml, under {}"
_USERSETS, _HOSTGROUPS = (
    _OBJECTS.format("user sets", "usersets"),
    _OBJECTS.format("host groups", "hostgroups"),
)
_PROJECTS, _PES = _OBJECTS.format("projects", "projects"), _OBJECTS.format("parallel environments", "pes")
_HOSTS = "hosts are the machines of the pool; their values are declared under hosts in gridengine.yaml"
_QUEUES = "queues are declared in queues.yaml, and shown by negotiator queues"
_COMPLEXES = "write the table that -sc prints to a file, change it, and read it with -Mc"
_CONFIGURATION = "settings are in pool.yaml; negotiator check prints what is invalid in them"
_SHARES = "fair shares are settings of pool.yaml, and usage is shown by negotiator usage"
_MANAGERS = "managers are the scheduleracl in pool.yaml; negotiator access prints who may do what"
_DAEMONS = "HTCondor's own settings say which hosts may submit and administer (ALLOW_*)"
_NONE = "there are no calendars and no checkpointing environments here"
_POINTERS: Mapping[str, str] = {
    _USERSETS: "-au -Au -mu -Mu -du -su -sul",
    _HOSTGROUPS: "-ahgrp -Ahgrp -mhgrp -Mhgrp -shgrp -shgrpl -shgrp_tree -shgrp_resolved",
    _PROJECTS: "-aprj -Aprj -mprj -Mprj -sprj -sprjl",
    _PES: "-ap -Ap -mp -Mp -sp -spl",
    _HOSTS: "-ae -Ae -me -Me -de -se -sel",
    _QUEUES: "-aq -Aq -mq -Mq -dq -sq -sql -cq",
    _COMPLEXES: "-mc -Ac -ac -dc -ace -Ace -mce -Mce -dce -sce -scel",
    _CONFIGURATION: "-aconf -Aconf -mconf -Mconf -dconf -sconf -sconfl -msconf -Msconf -ssconf -sds",
    _SHARES: "-auser -Auser -muser -Muser -duser -suser -suserl -astree -Astree -mstree -Mstree -dstree -sstree"
    " -astnode -mstnode -dstnode -sstnode -rsstnode -sst -bonsai -clearusage",
    _MANAGERS: "-am -dm -sm -ao -do -so",
    _DAEMONS: "-ah -dh -sh -as -ds -ss",
    _NONE: "-acal -Acal -mcal -Mcal -dcal -scal -scall -ackpt -Ackpt -mckpt -Mckpt -dckpt -sckpt -sckptl",
    "the groups of users are under groups in pool.yaml": "-aumap -Aumap -mumap -Mumap -dumap -sumap -sumapl",
    "negotiator run makes a cycle at once, negotiator whatif one without effect": "-tsm",
    "negotiator status prints what the negotiator does": "-sss -secl -sep",
    "daemons are stopped with condor_off, the negotiator with its service": "-ke -ks -km -kec -at",
    "change the attribute with -mattr, -rattr or -dattr": "-purge",
    "-srqsl lists resource quota sets; other objects are in gridengine.yaml": "-sobjl",
}
#: What is to be used here instead of a switch that Grid Engine's qconf has and this one has not.
POINTERS: Mapping[str, str] = {
    switch: pointer for pointer, switches in _POINTERS.items() for switch in switches.split()
}
_HELP = "-help"


@attrs.frozen
class Switch:
    """One switch; if ``ends`` and it is refused, the switches after it are not run."""

    name: str
    arguments: str
    help: str
    run: Callable[[QconfContext, QconfArguments], None]
    ends: bool = False


_ATTRIBUTES = (
    Switch(switch.switch, _FILE if from_file else _VALUE, _HELP_TEXTS[way], switch, ends=True)
    for way in ChangeWay
    for from_file in (False, True)
    for switch in (AttributeSwitch(way, from_file),)
)

SWITCHES = {
    each.name: each
    for each in (
        *_ATTRIBUTES,
        Switch("-arqs", "[rqs_list]", "add resource quota set(s), in the editor", sets.add, ends=True),
        Switch("-Arqs", "fname", "add resource quota set(s) from file", sets.add_from_file, ends=True),
        Switch("-mrqs", "[rqs_list]", "modify resource quota set(s), in the editor", sets.change),
        Switch("-Mrqs", "fname [rqs_list]", "modify resource quota set(s) from file", sets.change_from_file),
        Switch("-drqs", "[rqs_list]", "delete resource quota set(s), or all", sets.delete),
        Switch("-srqs", "[rqs_list]", "show resource quota set(s)", sets.show),
        Switch("-srqsl", "", "show resource quota set list", sets.show_names),
        Switch("-dprj", "project_list", "delete project(s)", objects.delete_projects),
        Switch("-dul", "listname_list", "delete user set list(s)", objects.delete_usersets),
        Switch("-dhgrp", "group_list", "delete host group(s)", objects.delete_hostgroups),
        Switch("-dp", "pe_list", "delete parallel environment(s)", objects.delete_pes),
        Switch("-sc", "", "show complex attributes", objects.show_complexes),
        Switch("-Mc", "fname", "modify complex attributes from file", objects.change_complexes_from_file),
    )
}


def run(program: CommandContext, targets: CommandTargets, words: tuple[str, ...]) -> None:
    """Carry out the command: see ``negotiator_quotasets.commands.qconf``."""
    context = QconfContext(program, targets)
    arguments = QconfArguments(words)
    if not words:
        _print_refusal(context, InvalidCommandLineError(*_usage()))
    try:
        while arguments:
            _run_switch(context, arguments)
    except MissingArgumentError as error:
        _print_refusal(context, InvalidCommandLineError(*error.lines, *_usage()))
    except QconfRefusedError as error:
        _print_refusal(context, error)
    click.get_current_context().exit(context.exit_code)


def _run_switch(context: QconfContext, arguments: QconfArguments) -> None:
    """Run the next switch; a refusal does not keep the following ones from running, unless the switch ends the line."""
    name = arguments.take()
    if name == _HELP:
        for line in _usage():
            context.print_line(line)
        return
    switch = SWITCHES.get(name)
    if switch is None:
        pointer = POINTERS.get(name)
        pointers = () if pointer is None else (f"{name} of Grid Engine is not here: {pointer}",)
        raise InvalidCommandLineError(f'error: invalid option argument "{name}"', *pointers, USAGE)
    try:
        switch.run(context, arguments)
    except QconfRefusedError as error:
        if switch.ends or isinstance(error, AbortedCommandLineError):
            raise
        _print_refusal(context, error)


def _print_refusal(context: QconfContext, error: QconfRefusedError) -> None:
    for line in error.lines:
        context.print_error(line)
    context.exit_code = context.exit_code or error.exit_code or ExitCode.NOT_DONE


def _usage() -> list[str]:
    """Return the lines of the help, in Grid Engine's layout."""
    rows = [(f"[{name} {each.arguments}".rstrip() + "]", each.help) for name, each in SWITCHES.items()]
    rows.append((f"[{_HELP}]", "print this help"))
    width = max(len(switch) for switch, _ in rows)
    return ["usage: qconf [options]", *(f"   {switch:{width}}  {text}" for switch, text in rows)]
