"""The only file that imports pluggy: its markers and its registry, for the rest of this room."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any, TypeVar

import attrs
import pluggy

PROJECT = "negotiator"

F = TypeVar("F", bound=Callable[..., Any])

#: Marks a function of a plugin as the implementation of the hook of the same name.
hookimpl = pluggy.HookimplMarker(PROJECT)
_hookspec = pluggy.HookspecMarker(PROJECT)


def hookspec(*, enforces: bool) -> Callable[[F], F]:
    """Declare a hook, and what a failure in it means.

    A hook that enforces fails closed: where an implementation can't be asked, nothing is granted. The others fail
    open: the failure is reported and the cycle goes on.
    """

    def mark(function: F) -> F:
        function.enforces = enforces  # type: ignore[attr-defined]
        return _hookspec(function)

    return mark


@attrs.frozen
class Spec:
    """One hook of the contract: its name, the names of its arguments, and whether a failure in it denies."""

    name: str
    arguments: tuple[str, ...]
    enforces: bool


@attrs.frozen
class Marked:
    """A function that a plugin marked with ``hookimpl``, and the options it gave.

    ``hook`` is the function's name, or the ``specname`` that was given in its place.
    """

    hook: str
    function: Callable[..., Any]
    options: Mapping[str, Any]


@attrs.frozen
class Implementation:
    """One plugin's implementation of one hook; ``arguments`` are those of the spec that it takes."""

    spec: Spec
    plugin: str
    function: Callable[..., Any]
    arguments: tuple[str, ...]


def specs_of(contract: ModuleType) -> Mapping[str, Spec]:
    """All hooks that a module declares with ``hookspec``, by name, in the order in which they stand in it."""
    return {
        name: Spec(name, tuple(inspect.signature(function).parameters), function.enforces)
        for name, function in vars(contract).items()
        if hasattr(function, f"{PROJECT}_spec")
    }


def marked_functions(plugin: object) -> tuple[Marked, ...]:
    """What a plugin marked with ``hookimpl``, by attribute name; nothing is registered."""
    manager = pluggy.PluginManager(PROJECT)
    found = []
    for name in dir(plugin):
        options = manager.parse_hookimpl_opts(plugin, name)
        if options is not None:
            found.append(Marked(options.get("specname") or name, getattr(plugin, name), dict(options)))
    return tuple(found)


class Registry:
    """The plugins that were accepted and what they implement.

    pluggy's own way of calling is not used: it calls the last registered first, drops ``None`` and stops at the first
    exception.
    """

    def __init__(self, contract: ModuleType) -> None:
        self._manager = pluggy.PluginManager(PROJECT)
        self._manager.add_hookspecs(contract)
        self._specs = specs_of(contract)

    def register(self, plugin: object, name: str) -> None:
        """Add a plugin; what is wrong with it in pluggy's eyes is a ValueError."""
        try:
            self._manager.register(plugin, name=name)
            self._manager.check_pending()
        except pluggy.PluginValidationError as error:
            self._manager.unregister(name=name)
            raise ValueError(str(error)) from None

    def implementations(self, hook: str) -> tuple[Implementation, ...]:
        """All implementations of one hook, by plugin name."""
        spec = self._specs[hook]
        found = getattr(self._manager.hook, hook).get_hookimpls()
        return tuple(
            Implementation(spec, each.plugin_name, each.function, _taken(spec, each.function))
            for each in sorted(found, key=lambda each: each.plugin_name)
        )


def _taken(spec: Spec, function: Callable[..., Any]) -> tuple[str, ...]:
    """The arguments of the spec that a function takes; pluggy would leave out those that have a default."""
    parameters = inspect.signature(function).parameters
    return tuple(name for name in spec.arguments if name in parameters)
