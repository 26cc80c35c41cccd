"""Importing a plugin, and its calls at loading, change nothing of the process; the plugin and what it changed are named."""

import locale
import os
import random
import signal
import socket
import subprocess
import sys
import types
import warnings
from pathlib import Path

import numpy as np
import pytest

from negotiator.bundle.load import load_bundle
from negotiator.hooks import loading
from negotiator.hooks.loading import load_plugins
from negotiator.hooks.settings import PluginSettings

#: What a plugin does at import, and the name of what it changes.
CHANGES = {
    "import os; os.chdir('/')": "the working folder",
    "import os; os.environ['NEGOTIATOR_TESTED'] = '1'": "the environment (NEGOTIATOR_TESTED)",
    "import os; del os.environ['HOME']": "the environment (HOME)",
    "import os; os.umask(0o077)": "the umask",
    "import locale; locale.setlocale(locale.LC_NUMERIC, 'C.UTF-8')": "the locale",
    "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)": "the handlers of signals (SIGTERM)",
    "import signal; signal.signal(signal.SIGUSR1, lambda *_: None)": "the handlers of signals (SIGUSR1)",
    "import warnings; warnings.simplefilter('ignore')": "the filters of warnings",
    "import warnings; warnings.resetwarnings()": "the filters of warnings",
    "import random; random.seed(1)": "the state of random",
    "import numpy; numpy.random.seed(1)": "the random state of NumPy",
    "import sys; sys.path.insert(0, '/tmp/x')": "sys.path",
    "import socket; socket.setdefaulttimeout(3)": "the default timeout of sockets",
    "import sys; sys.excepthook = print": "sys.excepthook",
    "import gc; gc.disable()": "the garbage collector",
}


def state():
    return {
        "folder": Path.cwd(),
        "environment": dict(os.environ),
        "locale": locale.setlocale(locale.LC_ALL),
        "signals": [signal.getsignal(each) for each in (signal.SIGTERM, signal.SIGUSR1)],
        "warnings": list(warnings.filters),
        "random": random.getstate(),
        "numpy": repr(np.random.get_state()),  # noqa: NPY002 - what a plugin may have seeded
        "path": list(sys.path),
        "timeout": socket.getdefaulttimeout(),
        "umask": (os.umask(0o22), os.umask(0o22))[1],
        "hook": sys.excepthook,
    }


HOOKS = "\nfrom negotiator.plugin import hookimpl\n@hookimpl\ndef negotiator_job_attributes(): return []\n"


@pytest.fixture(autouse=True)
def umask():
    before = os.umask(0o22)
    yield
    os.umask(before)


@pytest.mark.parametrize(("code", "name"), CHANGES.items(), ids=CHANGES)
def test_the_import_of_a_plugin_is_undone_and_named(tmp_path, code, name):
    (tmp_path / "site.py").write_text(f"{code}{HOOKS}")
    tmp_path.chmod(0o755)
    before = state()
    manager, (problem,) = load_plugins(PluginSettings(folders=(tmp_path,)), entry_points=False)
    assert state() == before
    assert str(problem.severity) == "warning"
    assert problem.message == f"plugin site: its import changed {name}; that is restored"
    assert [each.name for each in manager.plugins] == ["site"]


@pytest.mark.parametrize(
    "code",
    [
        "import random; random.random()",
        "import random; [random.gauss(0, 1) for _ in range(500)]",
        "import numpy; numpy.random.normal(size=301)",
    ],
)
def test_drawn_random_numbers_are_given_back_without_a_warning(tmp_path, code):
    """Another thread may have drawn them during the import."""
    (tmp_path / "site.py").write_text(f"{code}{HOOKS}")
    tmp_path.chmod(0o755)
    before = state()
    _, problems = load_plugins(PluginSettings(folders=(tmp_path,)), entry_points=False)
    assert state() == before
    assert problems == ()


def test_the_plugins_of_the_program_are_not_watched(monkeypatch):
    """They come with it, and change nothing."""
    monkeypatch.setattr(loading, "unchanged_process", None)
    manager, problems = load_plugins(PluginSettings())
    assert problems == ()
    assert {"condor", "fairshare", "quotasets"} <= {each.name for each in manager.plugins}


def test_a_plugin_that_fails_at_import_is_undone_too(tmp_path):
    (tmp_path / "site.py").write_text("import os\nos.chdir('/')\n1 / 0\n")
    tmp_path.chmod(0o755)
    before = state()
    _, problems = load_plugins(PluginSettings(folders=(tmp_path,)), entry_points=False)
    assert state() == before
    assert {str(each.severity) for each in problems} == {"warning", "error"}


def test_a_lazy_name_is_part_of_the_import():
    module = types.ModuleType("lazy_site")
    exec(  # noqa: S102 - the module of a plugin
        "def __dir__(): return ['late']\n"
        "def __getattr__(name):\n    if name != 'late': raise AttributeError(name)\n"
        "    import os\n    os.environ['LATE'] = '1'\n    return 1\n",
        vars(module),
    )
    before = state()
    _, problems = load_plugins(PluginSettings(), entry_points=False, extra={"lazy": module})
    assert state() == before
    assert "plugin lazy: its import changed the environment (LATE); that is restored" in [
        each.message for each in problems
    ]


def test_importing_numpy_is_no_change_of_a_plugin(tmp_path):
    """NumPy has filters of warnings for itself."""
    (tmp_path / "site.py").write_text(f"import numpy{HOOKS}")
    tmp_path.chmod(0o755)
    code = (
        "from pathlib import Path\nfrom negotiator.hooks.loading import load_plugins\n"
        "from negotiator.hooks.settings import PluginSettings\n"
        f"print(load_plugins(PluginSettings(folders=(Path({str(tmp_path)!r}),)), entry_points=False)[1])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "()\n"


def test_a_call_at_loading_is_undone_and_named(tmp_path):
    (tmp_path / "plugins").mkdir(mode=0o755)
    (tmp_path / "pool.yaml").write_text("plugins: {folders: [plugins]}")
    (tmp_path / "plugins" / "site.py").write_text(
        "import os\nfrom negotiator.plugin import hookimpl\n"
        "@hookimpl\ndef negotiator_job_attributes():\n    os.chdir('/')\n    return []\n"
    )
    before = state()
    bundle = load_bundle(tmp_path)
    assert state() == before
    assert "plugin site: negotiator_job_attributes changed the working folder; that is restored" in [
        each.message for each in bundle.problems
    ]
