"""A bundle in a folder, with one small plugin that owns a key of every type."""

import textwrap

import pytest

from negotiator.bundle import check_bundle, load_bundle
from negotiator.bundle.load import examine_bundle

HEADER = """
from __future__ import annotations

import enum
from collections.abc import Mapping
from pathlib import Path

import attrs

from negotiator.classad import parse
from negotiator.plugin import *
from negotiator.plugin import Section, hookimpl
from negotiator.records import Mode, Problem, Severity, Source
"""

TINY = """
@attrs.frozen
class Item:
    name: str
    when: Expression
    mode: Mode = Mode.ENFORCE
    share: float = 1.0
    source: Source | None = None


@attrs.frozen
class Tiny:
    items: tuple[Item, ...] = ()
    names: list[str] = attrs.field(factory=list)
    words: dict[str, int] = attrs.field(factory=dict)
    calendar: Path | None = None
    text: str | None = None
    number: int = 3
    real: float = 0.5
    switch: bool = False
    knob: Expression | None = attrs.field(default=None, alias="TINY_EXPR")
    positive: int = attrs.field(default=1, validator=attrs.validators.gt(0))
    source: Source | None = None
    sources: Mapping[str, Source] = attrs.field(factory=dict)


@hookimpl
def negotiator_section():
    return Section(schema=Tiny)
"""


class Folder:
    """A bundle that tests write."""

    def __init__(self, path):
        self.path = path
        self.plugins = path.parent / "plugins"
        self.path.mkdir(mode=0o755)
        self.plugins.mkdir(mode=0o755)

    def write(self, name, text):
        """Write a file of the bundle, from text or bytes."""
        file = self.path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return file

    def plugin(self, name, text):
        """Write a plugin file beside the bundle."""
        file = self.plugins / f"{name}.py"
        file.write_text(HEADER + textwrap.dedent(text))
        file.chmod(0o644)

    def load(self, **options):
        return load_bundle(self.path, extra_folders=[self.plugins], entry_points=False, **options)

    def settings(self, plugin="tiny"):
        return self.load().settings[plugin]

    def check(self):
        return check_bundle(self.path, extra_folders=[self.plugins], entry_points=False)

    def examine(self):
        return examine_bundle(self.path, extra_folders=[self.plugins], entry_points=False)

    def problems(self):
        """Return all problems, one line each."""
        return [str(problem) for problem in self.check()]

    def yaml(self, text):
        """Return the problems of a bundle with this pool.yaml alone."""
        self.write("pool.yaml", text)
        return self.problems()

    def conf(self, text):
        """Return the problems of a bundle with this HTCondor-style file alone."""
        self.write("a.conf", text)
        return self.problems()


@pytest.fixture
def bundle(tmp_path):
    folder = Folder(tmp_path / "bundle")
    folder.plugin("tiny", TINY)
    return folder


@pytest.fixture
def bare(tmp_path):
    return Folder(tmp_path / "bundle")
