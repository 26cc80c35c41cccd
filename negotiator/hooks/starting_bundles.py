"""Policy bundles to start from, which plugins offer to ``negotiator init``: see ``negotiator_starting_bundles``.

Their files are made of templates with values in them, as are those of a new plugin.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import attrs

from negotiator.errors import InvalidCallError

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    from negotiator.queues import PartitionConfig


_TEMPLATE: Final = ".jinja"
#: Cores of each slot in the test of an administrator's own files.
SAMPLE_SLOT_CPUS: Final = 64
_UNUSUAL: Final = re.compile(r"[^\w.-]+", re.ASCII)


def render_templates(templates: Traversable, **values: Any) -> dict[str, bytes]:
    """Return the files of a folder of templates by name; a name without ``.jinja`` at its end is not rendered.

    :param values: the variables of the templates; each that a template uses is needed. In the name of a file, ``NAME`` between two
        underscores at each side is replaced by the variable ``name``.
    """
    from jinja2 import Environment, StrictUndefined  # noqa: PLC0415 - slow to import

    environment = Environment(  # noqa: S701 - the files are YAML and Python, not HTML
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    files = {}
    for name, entry in _files(templates):
        content = entry.read_bytes()
        if name.endswith(_TEMPLATE):
            content = environment.from_string(content.decode()).render(values).encode()
        for variable, value in values.items():
            name = name.replace(f"__{variable.upper()}__", str(value))  # noqa: PLW2901
        files[name.removesuffix(_TEMPLATE)] = content
    return files


def yaml_in_line(value: Any) -> str:
    """Return a value as YAML in one line; texts that a reader of YAML takes for something else are quoted."""
    import yaml  # noqa: PLC0415 - slow to import

    if isinstance(value, str):
        return yaml_in_line([value])[1:-1]
    text: str = yaml.safe_dump(value, default_flow_style=True, width=float("inf"), sort_keys=False)
    return text.strip()


def _files(folder: Traversable, above: str = "") -> list[tuple[str, Traversable]]:
    found = []
    for entry in sorted(folder.iterdir(), key=lambda each: each.name):
        if entry.is_dir():
            if entry.name != "__pycache__":
                found += _files(entry, f"{above}{entry.name}/")
        else:
            found.append((above + entry.name, entry))
    return found


@attrs.frozen
class OwnFile:
    """A file of an administrator: its path as it was given, and its content of at most 16 MiB."""

    path: Path
    content: bytes

    @property
    def text(self) -> str:
        """The content as text; bytes that are not UTF-8 are replaced."""
        return self.content.decode(errors="replace")

    @property
    def plain_name(self) -> str:
        """The name of the file, with letters, digits, ``_``, ``.`` and ``-`` only, and not hidden."""
        return _UNUSUAL.sub("_", self.path.name).lstrip(".") or "site"


def files_by_name(files: Iterable[OwnFile], name_of: Callable[[OwnFile], str]) -> dict[str, bytes]:
    """Return the contents of files by their names in a bundle.

    :raises InvalidCallError: two files have the same name there.
    """
    found: dict[str, bytes] = {}
    for file in files:
        name = name_of(file)
        if name in found:
            raise InvalidCallError(f"{file.path}: another file is called {name} too; rename one of them")
        found[name] = file.content
    return found


@attrs.frozen
class StartingQuestion:
    """A question about a new bundle: a name for ``--answer NAME=VALUE``, and the text that is shown on a terminal.

    ``default`` is the answer if none is given; None if one must be given. ``choices`` are all answers, if they are known.
    """

    name: str
    text: str
    default: str | None = None
    choices: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class StartingRequest:
    """What a new bundle is made of: its folder as it was given, the administrator's files, and the answer to each question by name."""

    folder: Path
    files: tuple[OwnFile, ...] = ()
    answers: Mapping[str, str] = attrs.field(factory=dict)


@attrs.frozen
class SampleJob:
    """An idle job for the test of a new bundle: attributes of its ad, and the groups of its owner.

    The values are strings, numbers and bools; a string that begins with ``=`` is an expression, and so is each ``Requirements`` and ``Rank``.
    ``Owner`` is alice unless it is given; ``ClusterId`` is added. A job with a ``machine`` requires it, and the test has a slot of
    it for each job.
    """

    attributes: Mapping[str, Any] = attrs.field(factory=dict)
    groups: tuple[str, ...] = ()
    machine: str = ""


@attrs.frozen(eq=False)
class StartingFiles:
    """The files of a new bundle by name.

    With ``sample_jobs`` the program adds ``site_test.yaml``, unless the bundle has errors: some of these jobs, and what the bundle decides
    about them. The function is called with the queues of the loaded bundle. Without it, a plugin brings tests of its own.
    """

    files: Mapping[str, bytes]
    sample_jobs: Callable[[PartitionConfig], Iterable[SampleJob]] | None = None


@attrs.frozen(eq=False, kw_only=True)
class StartingBundle:
    """A policy bundle to start from, under the name of ``negotiator init --from NAME``.

    ``description`` is its line in ``negotiator init --list``. ``make`` returns the files; it may raise InvalidCallError, for example if
    the administrator's files are of another system.

    ``own_files`` names the files that an administrator may bring, as on a terminal: "Your own queues.yaml"; empty if there are none.
    ``recognizes`` is called with the text of a file, and returns True if it is clearly one of these: ``--file`` alone then chooses this
    bundle. ``questions`` are asked on a terminal, and have answers in the request.
    """

    name: str
    description: str
    make: Callable[[StartingRequest], StartingFiles]
    own_files: str = ""
    recognizes: Callable[[str], bool] | None = None
    questions: tuple[StartingQuestion, ...] = ()
