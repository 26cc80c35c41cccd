"""Plugin files in a folder, and the manager that loads them."""

import textwrap

import attrs
import pytest

from negotiator.hooks.loading import PluginSettings, load_plugins

HEADER = """\
import attrs, click, numpy as np
from negotiator.plugin import *
from negotiator.classad import parse; from negotiator.records import Source
"""


@attrs.define
class Clock:
    """A clock that advances only by the given duration of each plugin call."""

    takes: list
    now: float = 0.0
    calls: int = 0

    def __call__(self):
        self.calls += 1
        if self.calls % 2 == 0:  # the end of a call
            self.now += self.takes.pop(0) if self.takes else 0.0
        return self.now


class Plugins:
    """Writes plugin files and loads them."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir(mode=0o755)
        self.problems = ()

    def write(self, name, source, header=HEADER):
        file = self.folder / name
        file.parent.mkdir(mode=0o755, exist_ok=True)
        file.write_text(header + textwrap.dedent(source))
        file.chmod(0o644)
        return file

    def load(self, *, tracer=None, takes=(), **settings):
        chosen = PluginSettings(folders=(self.folder,), **settings)
        manager, self.problems = load_plugins(
            chosen, entry_points=False, tracer=tracer, clock=Clock(list(takes))
        )
        return manager

    def refusals(self, **settings):
        """Return the problems, as text, if none of the files may be loaded."""
        manager = self.load(**settings)
        assert manager.plugin_set == ()
        return [str(problem) for problem in self.problems]


@pytest.fixture
def plugins(tmp_path):
    return Plugins(tmp_path / "plugins")
