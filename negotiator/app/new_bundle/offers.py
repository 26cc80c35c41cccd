"""The starting bundles that installed plugins offer, the choice of one, and an administrator's own files for it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

import attrs

from negotiator.app.plugins import PluginFunction
from negotiator.errors import CommandError, InvalidCallError
from negotiator.files import open_regular
from negotiator.hooks import specs
from negotiator.hooks.answers import Attributed
from negotiator.hooks.loading import load_plugins
from negotiator.hooks.settings import PluginSettings
from negotiator.hooks.starting_bundles import OwnFile, StartingBundle, StartingQuestion
from negotiator.records import Problem, Severity
from negotiator.records.text import suggest

_LARGEST: Final = 16 << 20  # bytes of a file


def read_own_files(paths: Sequence[Path]) -> tuple[OwnFile, ...]:
    """Return an administrator's files.

    :raises InvalidCallError: one is named twice.
    :raises CommandError: one cannot be read, or is larger than 16 MiB.
    """
    for number, path in enumerate(paths):
        if path in paths[:number]:
            raise InvalidCallError(f"{path}: named twice")
    return tuple(map(_read, paths))


def _read(path: Path) -> OwnFile:
    try:
        with os.fdopen(open_regular(path), "rb") as opened:
            content = opened.read(_LARGEST + 1)
    except OSError as error:
        raise CommandError(f"{path}: cannot be read: {error.strerror}") from None
    if len(content) > _LARGEST:
        raise CommandError(f"{path}: larger than {_LARGEST} bytes")
    return OwnFile(path, content)


OfferedBundle: TypeAlias = Attributed[StartingBundle]


@attrs.frozen
class StartingBundles:
    """The starting bundles by name, in the order of the plugins.

    ``problems`` are those of plugins that could not be loaded, ``warnings`` are about bundles that are missing.
    """

    offered: Mapping[str, OfferedBundle]
    problems: tuple[Problem, ...] = ()
    warnings: tuple[str, ...] = ()

    @classmethod
    def of_installed_plugins(cls) -> StartingBundles:
        """Load the installed plugins, and return what they offer; of two with one name, the first."""
        manager, problems = load_plugins(PluginSettings())
        errors = tuple(each for each in problems if each.severity is Severity.ERROR)
        answers = manager.ask(specs.negotiator_starting_bundles)
        warnings = [f"{failure}; its starting bundles are missing" for failure in answers.failures]
        offered: dict[str, OfferedBundle] = {}
        for each in answers.records:
            first = offered.setdefault(each.record.name, each)
            if first is not each:
                warnings.append(
                    f"plugin {each.plugin}: plugin {first.plugin} offers a starting bundle {each.record.name} already"
                )
        return cls(offered, errors, tuple(warnings))

    def named(self, name: str) -> OfferedBundle:
        """Return the starting bundle of a name.

        :raises InvalidCallError: none has it.
        """
        if name not in self.offered:
            raise InvalidCallError(f"unknown starting bundle {name!r}; {suggest(name, self.offered)}")
        return self.offered[name]

    def recognized(self, files: Sequence[OwnFile]) -> OfferedBundle:
        """Return the starting bundle for an administrator's files.

        :raises InvalidCallError: no bundle recognizes one of the files, or several do.
        :raises PluginFailureError: a plugin failed.
        """
        found = [each for each in self.offered.values() if any(_recognizes(each, file) for file in files)]
        if len(found) == 1:
            return found[0]
        named = ", ".join(str(file.path) for file in files)
        names = ", ".join(each.record.name for each in found) or "no starting bundle"
        raise InvalidCallError(f"{named}: recognized by {names}; choose one: --from {'|'.join(self.offered)}")


def _recognizes(offered: OfferedBundle, file: OwnFile) -> bool:
    function = offered.record.recognizes
    if function is None:
        return False
    return bool(function_of(offered, function).answer(lambda: function(file.text)))


def function_of(offered: OfferedBundle, function: Callable[..., Any]) -> PluginFunction:
    """Return a function of a starting bundle; it may refuse files and answers."""
    subject = f"the starting bundle {offered.record.name}"
    return PluginFunction(
        offered, specs.negotiator_starting_bundles, function, subject, refusals=(InvalidCallError,)
    )


def complete_answers(questions: Iterable[StartingQuestion], given: Mapping[str, str]) -> dict[str, str]:
    """Return an answer to each question: the given one, or its default.

    :raises InvalidCallError: an answer is missing or not one of the choices, or there is no such question.
    """
    asked = {question.name: question for question in questions}
    for name in given:
        if name not in asked:
            raise InvalidCallError(
                f"unknown question {name!r}; {suggest(name, asked) or 'this starting bundle has none'}"
            )
    return {name: _answer(question, given.get(name)) for name, question in asked.items()}


def _answer(question: StartingQuestion, given: str | None) -> str:
    answer = question.default if given is None else given
    if answer is None:
        raise InvalidCallError(f"Missing --answer {question.name}=VALUE: {question.text}")
    if question.choices and answer not in question.choices:
        raise InvalidCallError(
            f"invalid answer {question.name}={answer}; {suggest(answer, question.choices)}"
        )
    return answer
