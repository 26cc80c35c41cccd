"""The contents of the wheel."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
#: A bundle names its module where it wants it; negotiator_live has no hooks yet.
OFF_BY_DEFAULT = {"negotiator_placement_classic"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (file,) = folder.glob("*.whl")
    with zipfile.ZipFile(file) as opened:
        yield opened


def test_the_product_and_its_plugins_are_installed_under_names_of_their_own(wheel):
    tops = {name.split("/")[0] for name in wheel.namelist() if ".dist-info" not in name}
    packages = {path.name for path in (ROOT / "plugins").iterdir() if path.is_dir()}
    assert tops == {"negotiator"} | packages
    assert all(name.startswith("negotiator_") for name in packages)


def test_every_bundled_plugin_has_an_entry_point(wheel):
    (entries,) = [name for name in wheel.namelist() if name.endswith("entry_points.txt")]
    registered = wheel.read(entries).decode().partition("[negotiator]")[2]
    for path in (ROOT / "plugins").iterdir():
        if path.is_dir():
            asked_for = path.name not in OFF_BY_DEFAULT
            assert (f"= {path.name}\n" in registered + "\n") is asked_for
            assert f"{path.name}/__init__.py" in wheel.namelist()


def test_the_default_bundle_the_pages_and_the_types_are_installed(wheel):
    assert {
        "negotiator/bundle/default/pool.yaml",
        "negotiator/bundle/default/queues.yaml",
        "negotiator/py.typed",
        "negotiator/service/pages/static/pages.css",
        "negotiator/service/pages/templates/base.html",
    } <= set(wheel.namelist())
