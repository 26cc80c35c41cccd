"""The documents agree with the program: their bundles load, their commands run, their keys exist."""

import inspect
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import attrs
import pytest

import pools
from commands import loaded
from negotiator.audit.administration import admin_record, reload_record
from negotiator.audit.records import intent_records, outcome_records
from negotiator.bundle import check_bundle, load_bundle
from negotiator.bundle.model import AuditSettings, PlacementSettings
from negotiator.cli import main
from negotiator.hooks.loading import PluginSettings
from negotiator.queues import QueueChange, QueueChangeKind
from negotiator.records import Severity
from negotiator_access import AccessSettings
from negotiator_condor import ConcurrencyLimits
from negotiator_expressions.settings import CentralExpressions, NamedPolicy
from negotiator_groups.settings import GroupSources

ROOT = Path(__file__).parents[2]
DOCUMENTS = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "examples").glob("*/README.md")),
]


def blocks(language, documents):
    """Return every fenced block of a language in some documents."""
    return [
        pytest.param(text, id=f"{document.relative_to(ROOT)}-{place + 1}")
        for document in documents
        for place, text in enumerate(
            re.findall(rf"^```{language}\n(.*?)^```$", document.read_text(), re.MULTILINE | re.DOTALL)
        )
    ]


@pytest.mark.parametrize("text", blocks("yaml", [ROOT / "docs" / "commands.md", ROOT / "docs" / "bundle.md"]))
def test_every_piece_of_a_bundle_passes_check(tmp_path, text):
    text = text.replace("folders: [plugins] ", "").replace("  modules: [site_policy]", "#")
    (tmp_path / ("queues.yaml" if text.startswith("partitions:") else "pool.yaml")).write_text(text)
    (tmp_path / "groups.yaml").write_text("alice: [physics, astro]")
    problems = [str(problem) for problem in check_bundle(tmp_path) if problem.severity is Severity.ERROR]
    assert problems == []


@pytest.mark.parametrize("text", blocks("console", DOCUMENTS))
def test_every_documented_command_exists_and_has_these_options(text):
    for line in re.findall(r"^\$ .*\bnegotiator (\S.*)$", text, re.MULTILINE):
        command = main
        context = main.make_context("negotiator", [], resilient_parsing=True)
        words = line.split()
        while hasattr(command, "commands"):
            command = loaded(command.get_command(context, words.pop(0)))
            assert command is not None, line
        options = {option for parameter in command.params for option in parameter.opts}
        assert {word for word in words if word.startswith("--")} <= options, line


def test_the_page_of_commands_lists_them_all():
    text = (ROOT / "docs" / "commands.md").read_text()
    listed = set(re.findall(r"^\| `negotiator ([\w-]+)", text, re.MULTILINE))
    assert listed == set(main.commands)


def test_the_first_example_of_the_readme_works(tmp_path):
    shutil.copytree(ROOT / "examples" / "first-pool", tmp_path / "examples" / "first-pool")
    shutil.copytree(ROOT / "policies" / "limits", tmp_path / "policies" / "limits")
    text = (ROOT / "README.md").read_text().partition("## A first look")[2]
    lines = re.search(r"```console\n(.*?)```", text, re.DOTALL)[1].splitlines()
    commands = [line.removeprefix("$ negotiator ") for line in lines if line.startswith("$ negotiator")]
    assert len(commands) == 3
    for command in commands:
        words = [sys.executable, "-m", "negotiator", *command.split()]
        done = subprocess.run(words, cwd=tmp_path, env=os.environ, capture_output=True, check=False)
        assert (done.returncode, done.stderr) == (0, b""), command


def test_the_documented_defaults_of_placement_and_groups_are_those_of_the_program(tmp_path):
    text = (ROOT / "docs" / "bundle.md").read_text()
    (block,) = (text for text in re.findall(r"```yaml\n(.*?)```", text, re.DOTALL) if "placement:" in text)
    (tmp_path / "pool.yaml").write_text(block)
    (tmp_path / "groups.yaml").write_text("{}")
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "pool.yaml").touch()
    loaded, nothing = load_bundle(tmp_path), PlacementSettings()
    assert loaded.resources == load_bundle(tmp_path / "empty").resources
    for key in attrs.fields_dict(PlacementSettings).keys() - {"resources"}:
        value, default = getattr(loaded.placement, key), getattr(nothing, key)
        assert key == "fallback" or getattr(value, "text", value) == getattr(default, "text", default), key
    assert attrs.evolve(loaded.settings["groups"].groups, map=None) == GroupSources()


def test_every_key_of_the_bundle_is_documented():
    text = (ROOT / "docs" / "bundle.md").read_text()
    classes = (
        CentralExpressions,
        NamedPolicy,
        PluginSettings,
        PlacementSettings,
        AccessSettings,
        GroupSources,
    )
    classes += (ConcurrencyLimits,)
    keys = [field.alias for each in classes for field in attrs.fields(each)]
    missing = [key for key in keys if f"`{key}`" not in text and f"{key}:" not in text]
    filled = {"source", "sources", "knobs"}  # by the loader
    assert [key for key in missing if key not in filled] == []


def test_every_kind_and_field_of_an_audit_record_is_documented():
    text = (ROOT / "docs" / "audit.md").read_text()
    result = pools.cycle(pools.snapshot([], [pools.job(), pools.job(1, Owner=None)]), number=1)
    result = attrs.evolve(result, changes=(QueueChange("root.old", QueueChangeKind.DRAINING, pools.NOW),))
    common = {
        "now": 0.0,
        "bundle": "",
        "trigger": "",
        "new_bundle": "",
        "problems": (),
        "accepted": True,
    }
    request = inspect.signature(admin_record).parameters
    records = [
        *intent_records(result, AuditSettings(), {"snapshot": "", "state": ""}),
        *outcome_records(result, (), {}),
        reload_record(**common),
        admin_record(
            **{name: 0 if parameter.annotation != "str" else "" for name, parameter in request.items()}
        ),
    ]
    assert {"placement", "queue_change", "denial", "discard", "admin", "reload"} <= {
        each["kind"] for each in records
    }
    names = {name for each in records for name in [each["kind"], *each]}
    names |= {name for each in records for step in each.get("steps", ()) for name in step}
    assert [name for name in sorted(names) if f"`{name}`" not in text] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_inside_the_project_has_a_target(document):
    for target in re.findall(r"\]\(([^)#:]+)\)", document.read_text()):
        assert (document.parent / target).exists(), target


def test_the_readme_opens_with_the_two_commands():
    lines = (ROOT / "README.md").read_text().splitlines()[:6]
    assert [line.split()[1] for line in lines if line.startswith("    make")] == ["run", "test"]
