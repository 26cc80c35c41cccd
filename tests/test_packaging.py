"""The wheel and the sdist: their contents, the same bytes in two builds, and a first cycle where the wheel is installed."""

import os
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
#: A bundle names its module where it wants it; negotiator_live has no hooks yet.
OFF_BY_DEFAULT = {"negotiator_placement_classic"}
TEMPLATES = (
    "negotiator/app/new_plugin/template",
    "plugins/negotiator_condor/templates",
    "plugins/negotiator_queue_order/templates",
    "plugins/negotiator_quotasets/starting_bundle/templates",
)


def build(folder):
    """Build a wheel and an sdist, and return their paths."""
    words = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    environment = os.environ | {"SOURCE_DATE_EPOCH": "1700000000"}
    subprocess.run(words, cwd=ROOT, env=environment, check=True, capture_output=True)
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return wheel, sdist


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    return build(tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="module")
def wheel(built):
    with zipfile.ZipFile(built[0]) as opened:
        yield opened


@pytest.fixture(scope="module")
def sdist(built):
    """Return the names of the files in the sdist, without its folder."""
    with tarfile.open(built[1]) as opened:
        return {member.name.partition("/")[2] for member in opened.getmembers() if member.isfile()}


@pytest.fixture(scope="module")
def installed(built, tmp_path_factory):
    """Return a function that runs the program where the wheel is installed, in an environment without the sources.

    The dependencies are those of the tests: they are found after what the environment has itself.
    """
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder / "env", symlinks=True, with_pip=False)
    python = folder / "env" / "bin" / "python"
    pip = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        str(python),
        "install",
        "--quiet",
        "--no-deps",
        "--no-index",
    ]
    subprocess.run([*pip, str(built[0])], check=True)
    (site,) = (folder / "env").glob("lib/python3*/site-packages")
    paths = [path for path in sys.path if path.endswith("site-packages")]
    (site / "dependencies.pth").write_text("\n".join(paths))
    variables = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}

    def run(*words, program="negotiator"):
        return subprocess.run(
            [folder / "env" / "bin" / program, *words],
            cwd=folder,
            env=variables,
            capture_output=True,
            text=True,
            check=False,
        )

    run.folder = folder
    return run


def test_the_product_and_its_plugins_are_installed_under_names_of_their_own(wheel):
    tops = {name.split("/")[0] for name in wheel.namelist()}
    tops = {name for name in tops if not name.endswith((".dist-info", ".data"))}
    packages = {path.name for path in (ROOT / "plugins").iterdir() if path.is_dir()}
    assert tops == {"negotiator", "pool_negotiator"} | packages
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


@pytest.mark.parametrize("folder", TEMPLATES)
def test_every_template_is_installed(wheel, folder):
    files = {
        path.relative_to(ROOT).as_posix().removeprefix("plugins/")
        for path in (ROOT / folder).rglob("*")
        if path.is_file()
    }
    assert files
    assert files <= set(wheel.namelist())


def test_the_example_pool_is_installed(wheel):
    for path in (ROOT / "examples" / "first-pool").glob("*.ads"):
        assert wheel.read(f"negotiator/app/example_pool/{path.name}") == path.read_bytes()


def test_the_unit_of_systemd_is_installed_below_the_prefix(wheel):
    assert any(name.endswith(".data/data/lib/systemd/system/negotiator.service") for name in wheel.namelist())


def test_the_sdist_has_what_the_tests_and_the_documentation_need(sdist):
    tracked = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.splitlines()
    files = {name for name in tracked if (ROOT / name).is_file() and not name.startswith(".ci/")}
    assert {"pyproject.toml", "README.md", "LICENSE", "Makefile", "hatch_build.py"} <= sdist
    assert files - sdist == set()
    assert "policies/default/pool.yaml" in sdist  # a link to a folder


def test_two_builds_have_the_same_bytes(built, tmp_path):
    for first, second in zip(built, build(tmp_path), strict=True):
        assert first.name == second.name
        assert first.read_bytes() == second.read_bytes()


def test_the_name_in_the_registry_is_not_that_of_the_package():
    """There the name negotiator belongs to another library."""
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["name"] == "pool-negotiator"


def test_two_commands_show_a_cycle_where_the_wheel_is_installed(installed):
    assert installed("init", "--example", "pool").returncode == 0
    done = installed("run", "pool")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Cycle 1 over 33 slots, 9 idle jobs: 7 matched")
    assert (
        "negotiator/__init__.py"
        in installed("-c", "import negotiator; print(negotiator.__file__)", program="python").stdout
    )
    assert (
        str(installed.folder)
        in installed("-c", "import negotiator; print(negotiator.__file__)", program="python").stdout
    )


@pytest.mark.parametrize("system", ["htcondor", "yunikorn", "gridengine"])
def test_a_new_bundle_passes_check_and_its_tests_where_the_wheel_is_installed(installed, system):
    assert installed("init", system, "--from", system).returncode == 0
    done = installed("check", system)
    assert (done.returncode, done.stdout.startswith(f"{system}: ok ")) == (0, True)
    assert installed("test", "--bundle", system).returncode == 0


def test_a_new_plugin_is_written_where_the_wheel_is_installed(installed):
    assert installed("init", "--plugin", "night-shift").returncode == 0
    assert (installed.folder / "negotiator-night-shift" / "pyproject.toml").exists()


def test_all_plugins_are_found_once_where_the_wheel_is_installed(installed):
    done = installed("plugins")
    assert (done.returncode, done.stderr) == (0, "")
    assert "quotasets" in done.stdout


#: As the library of 2012 with this name: its own import fails with Python 3.
OTHER = "from negotiator import AcceptParameters\n"
REMEDY = "pip uninstall --yes negotiator pool-negotiator && pip install pool-negotiator"


@pytest.fixture
def package(installed):
    """Return the file ``negotiator/__init__.py`` of the environment; it is restored in the end."""
    (file,) = installed.folder.glob("env/lib/python3*/site-packages/negotiator/__init__.py")
    content = file.read_bytes()
    yield file
    file.write_bytes(content)


def test_the_command_says_that_another_library_overwrote_the_package(installed, package):
    package.write_text(OTHER)
    done = installed("--version")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error: {package}: this is another library named negotiator.")
    assert done.stderr.endswith(f"{REMEDY}\n")


def test_the_command_says_that_the_other_library_took_a_file_along(installed, package):
    """Its uninstallation removes the file that both have."""
    package.unlink()
    done = installed("--version")
    assert done.returncode == 2
    assert "__init__.py is missing; perhaps another library named negotiator was uninstalled" in done.stderr
    assert REMEDY in done.stderr


def test_the_command_works_where_it_overwrote_the_other_library(installed, package):
    """In this order the other one is broken, and its users find out."""
    other = package.with_name("negotiator.py")
    other.write_text("class AcceptParameters: ...\n")
    try:
        assert installed("expr", "eval", "1 + 1").stdout == "2\n"
    finally:
        other.unlink()
