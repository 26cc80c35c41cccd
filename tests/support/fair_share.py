"""The settings of fair share that a bundle with some knobs has."""

import tempfile
from pathlib import Path

from negotiator.bundle import check_bundle, load_bundle


def write_knobs(folder, knobs):
    """Write a bundle whose HTCondor configuration file has these knobs, one a line."""
    folder.mkdir()
    (folder / "pool.yaml").write_text("order: submitters\n")
    lines = (f"{name} = {text}\n" for name, text in knobs.items())
    (folder / "condor_config").write_text("".join(lines))
    return folder


def settings_of(knobs):
    """Return the settings of the plugin."""
    with tempfile.TemporaryDirectory() as folder:
        return load_bundle(write_knobs(Path(folder) / "bundle", knobs)).settings["fairshare"]


def problems_of(knobs):
    """Return the problems that a check of the bundle reports, one line each."""
    with tempfile.TemporaryDirectory() as folder:
        return [str(each) for each in check_bundle(write_knobs(Path(folder) / "bundle", knobs))]
