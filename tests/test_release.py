"""What a release and its contributors rely on: hooks of pre-commit, changelog fragments, and the SBOM."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
BIN = Path(sys.executable).parent


def run(*words, **more):
    return subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False, **more)


def test_the_hooks_of_pre_commit_are_the_checks_of_ci():
    hooks = [
        hook
        for repo in yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
        for hook in repo["hooks"]
    ]
    assert all(hook["language"] == "system" for hook in hooks)
    lint = (ROOT / "Makefile").read_text().partition("\nlint:")[2].partition("\n\n")[0]
    checks = re.findall(r"^\t\$\(BIN\)/([\w-]+(?: \w+)?)", lint, re.MULTILINE)
    entries = [" ".join(hook["entry"].removeprefix(".venv/bin/").split()[:2]) for hook in hooks]
    assert [entry.replace(" --force-exclude", "") for entry in entries] == checks


def test_a_fragment_becomes_a_line_of_the_changelog(tmp_path):
    project = tmp_path / "project"
    (project / "changelog.d").mkdir(parents=True)
    (project / "pyproject.toml").write_text((ROOT / "pyproject.toml").read_text())
    (project / "CHANGELOG.md").write_text((ROOT / "CHANGELOG.md").read_text())
    shutil.copy(ROOT / "changelog.d" / "README.md", project / "changelog.d")
    (project / "changelog.d" / "42.changed.md").write_text("A limit above that of its parent is refused.\n")
    (project / "changelog.d" / "+queues.fixed.md").write_text("Names of queues are read without case.\n")
    words = [
        sys.executable,
        "-m",
        "towncrier",
        "build",
        "--yes",
        "--version",
        "9.9",
        "--date",
        "2027-01-31",
    ]
    done = subprocess.run(words, cwd=project, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    new, old = (project / "CHANGELOG.md").read_text(), (ROOT / "CHANGELOG.md").read_text()
    top, _, rest = new.partition("## 0.1.0, not published yet")
    assert "## 9.9 (2027-01-31)" in top
    assert "- A limit above that of its parent is refused. (#42)" in top
    assert "- Names of queues are read without case." in top
    assert rest == old.partition("## 0.1.0, not published yet")[2]


def test_every_fragment_of_the_next_release_has_a_known_type():
    towncrier = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["towncrier"]
    types = {each["directory"] for each in towncrier["type"]}
    for path in (ROOT / "changelog.d").iterdir():
        if path.name != "README.md":
            name, kind, suffix = path.name.rsplit(".", 2)
            assert (kind in types, suffix) == (True, "md"), path.name
            assert name[0] == "+" or name.isdecimal(), path.name
            assert path.read_text().strip()


def test_the_list_of_dependencies_has_each_locked_one_with_its_hash(tmp_path):
    makefile = (ROOT / "Makefile").read_text()
    (line,) = re.findall(r"^\t\$\(BIN\)/(cyclonedx-py .*?)$", makefile.replace("\\\n", " "), re.MULTILINE)
    program, *words = line.replace("dist/", f"{tmp_path}/").split()
    done = run(str(BIN / program), *words)
    assert done.returncode == 0, done.stderr
    bom = json.loads((tmp_path / "pool-negotiator.cdx.json").read_text())
    assert (bom["bomFormat"], bom["metadata"]["component"]["name"]) == ("CycloneDX", "pool-negotiator")
    locked = re.findall(
        r"^([\w.-]+)(?:\[.*\])?==", (ROOT / "requirements" / "run.txt").read_text(), re.MULTILINE
    )
    listed = {each["name"].lower().replace("_", "-"): each for each in bom["components"]}
    assert {name.lower() for name in locked} <= set(listed)
    assert all(
        any(reference.get("hashes") for reference in each.get("externalReferences", ()))
        for each in listed.values()
    )
    again = tmp_path / "pool-negotiator.cdx.json"
    first = again.read_bytes()
    assert run(str(BIN / program), *words).returncode == 0
    assert again.read_bytes() == first


@pytest.mark.parametrize("name", ["SECURITY.md", "CONTRIBUTING.md", "docs/install.md"])
def test_every_link_has_a_target(name):
    document = ROOT / name
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", document.read_text()):
        assert (document.parent / target).exists(), target
