"""The switches of ``qconf``, in the order of its help."""

from __future__ import annotations

from collections.abc import Callable

import attrs

from negotiator_quotasets.qconf import complexes, objects, sets
from negotiator_quotasets.qconf.arguments import QconfArguments
from negotiator_quotasets.qconf.attributes import AttributeSwitch
from negotiator_quotasets.qconf.context import QconfContext
from negotiator_quotasets.qconf.limit_changes import ChangeWay


@attrs.frozen
class Switch:
    """One switch; if ``ends`` and it is refused, the switches after it are not run."""

    name: str
    arguments: str
    help: str
    run: Callable[[QconfContext, QconfArguments], None]
    ends: bool = False


_VALUE, _FILE = "obj_nm attr_nm val obj_id_list", "obj_nm fname obj_id_list"
_HELP_TEXTS = {
    ChangeWay.ADD: "add to a list attribute of an object",
    ChangeWay.DELETE: "delete from a list attribute of an object",
    ChangeWay.MODIFY: "modify an attribute (or element in a sublist) of an object",
    ChangeWay.REPLACE: "replace a list attribute of an object",
}
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
        Switch("-sc", "", "show complex attributes", complexes.show),
        Switch("-Mc", "fname", "modify complex attributes from file", complexes.change_from_file),
    )
}
