"""The commands of the plugins that come with the program: their names are known without loading the plugins."""

from __future__ import annotations

from collections.abc import Mapping

#: The plugins that come with the program: names and modules, as in their entry points.
PLUGINS = {
    "access": "negotiator_access",
    "condor": "negotiator_condor",
    "expressions": "negotiator_expressions",
    "fairshare": "negotiator_fairshare",
    "groups": "negotiator_groups",
    "limits": "negotiator_limits",
    "maxima": "negotiator_maxima",
    "placement": "negotiator_placement",
    "queue_order": "negotiator_queue_order",
    "quotasets": "negotiator_quotasets",
}

#: The commands of each plugin, with their lines in the list of commands.
COMMANDS: Mapping[str, Mapping[str, str]] = {
    "fairshare": {
        "userprio": "Show and set priorities and usage of submitters, as condor_userprio does.",
    },
    "quotasets": {
        "qconf": "Show and change resource quota sets, as Grid Engine does.",
        "qquota": "Print the usage of the limits of resource quota sets.",
    },
}


def bundled_commands() -> dict[str, str] | None:
    """Return the commands of the installed plugins, with their lines in the list of commands.

    Return None if there are other plugins than those of the program, or if the entry points cannot be read.
    """
    import importlib.metadata  # noqa: PLC0415 - the program's own commands need it not

    try:
        found = {(entry.name, entry.value) for entry in importlib.metadata.entry_points(group="negotiator")}
    except Exception:  # noqa: BLE001 - any broken distribution; loading the plugins reports it
        return None
    if not found <= PLUGINS.items():
        return None
    return {name: text for plugin, _ in sorted(found) for name, text in COMMANDS.get(plugin, {}).items()}
