"""Checks a plugin before any of its hooks is called."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from typing import Any

from negotiator.hooks.failures import defined_at, plain_function
from negotiator.hooks.hook import Hook
from negotiator.hooks.pluggy_adapter import Marked, marked_functions
from negotiator.records import Problem, Severity, Source
from negotiator.records.text import suggest

PREFIX = "negotiator_"

_NAMED = {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY}


def vet(plugin: object, name: str, origin: str, hooks: Mapping[str, Hook[..., Any]]) -> Iterator[Problem]:
    """Yield the problems of a plugin's marked functions, and its functions named like hooks that are not marked."""
    marked = marked_functions(plugin)
    for each in marked:
        yield from _vet_marked(each, name, origin, hooks)
    functions = {id(plain_function(each.function)) for each in marked}
    yield from _unmarked(plugin, name, origin, functions)
    if not marked:
        hint = "mark its functions with negotiator.plugin.hookimpl"
        yield Problem(Severity.WARNING, Source(origin), f"plugin {name} implements no hook", hint)


def _vet_marked(
    marked: Marked, name: str, origin: str, hooks: Mapping[str, Hook[..., Any]]
) -> Iterator[Problem]:
    where, subject = defined_at(marked.function) or Source(origin), f"plugin {name}, hook {marked.hook}"
    hook = hooks.get(marked.hook)
    if hook is None:
        # A plugin that marks a hook as optional supports versions of the program without it.
        severity = Severity.WARNING if marked.options.get("optionalhook") else Severity.ERROR
        hint = suggest(marked.hook, hooks)
        yield Problem(severity, where, f"{subject}: unknown hook", hint)
        return
    if marked.options.get("wrapper") or marked.options.get("hookwrapper"):
        hint = "a wrapper could hide the answer of another plugin; implement the hook itself"
        yield Problem(Severity.ERROR, where, f"{subject}: wrappers are refused", hint)
    if marked.options.get("tryfirst") or marked.options.get("trylast"):
        hint = "the bundle decides: plugins: order:"
        yield Problem(Severity.NOTICE, where, f"{subject}: tryfirst and trylast have no effect", hint)
    if inspect.iscoroutinefunction(marked.function) or inspect.isasyncgenfunction(marked.function):
        yield Problem(
            Severity.ERROR, where, f"{subject}: is async", "hooks are plain functions or generators"
        )
    yield from _vet_arguments(marked, hook, subject, where)


def _vet_arguments(marked: Marked, hook: Hook[..., Any], subject: str, where: Source) -> Iterator[Problem]:
    expected = f"its arguments are: {', '.join(hook.arguments)}" if hook.arguments else "it has no arguments"
    for parameter in inspect.signature(marked.function).parameters.values():
        if parameter.kind not in _NAMED:
            message = f"{subject}: the argument {parameter} can't be passed by name"
            yield Problem(Severity.ERROR, where, message, expected)
        elif parameter.name not in hook.arguments:
            message = f"{subject}: unknown argument {parameter.name}"
            yield Problem(Severity.ERROR, where, message, expected)


def _unmarked(plugin: object, name: str, origin: str, marked: set[int]) -> Iterator[Problem]:
    for attribute in dir(plugin):
        if not attribute.startswith(PREFIX):
            continue
        value = getattr(plugin, attribute, None)
        if inspect.isroutine(value) and id(plain_function(value)) not in marked:
            message = f"plugin {name}: {attribute} is not marked, so it is never called"
            yield Problem(
                Severity.WARNING, defined_at(value) or Source(origin), message, "put @hookimpl before it"
            )
