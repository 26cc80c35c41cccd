"""JSON schemas of the files of a bundle: they permit whatever the program accepts."""

import enum
from pathlib import Path
from typing import get_args

import attrs
import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from negotiator.app.policy_tests.file import PolicyTestContents
from negotiator.app.schemas import schemas_of_files
from negotiator.app.whatif import ScenarioContents
from negotiator.bundle import default_bundle, examine_bundle
from negotiator.bundle.json_schema import SchemaWriter, file_schemas
from negotiator.bundle.model import AuditSettings, PlacementSettings
from negotiator.bundle.object_builder import INVALID, ObjectBuilder
from negotiator.bundle.schema import (
    is_dict,
    is_enum,
    is_expression,
    is_list,
    is_union,
    keys_of,
    union_members,
)
from negotiator.bundle.sections import lay_out
from negotiator.bundle.site_commands import NotifySettings
from negotiator.bundle.text import SourceText
from negotiator.bundle.yaml_reader import read_yaml
from negotiator.hooks.command_targets import CommandTargets
from negotiator.hooks.declarations import Expression
from negotiator.queues.config import ConfigurationEntry
from negotiator.records import ScalarText, Severity
from yaml_values import SCALARS, VALUES, list_text, mapping_text, plain

ROOT = Path(__file__).parents[2]
HOOKS = examine_bundle(default_bundle()).hooks
SCHEMAS = schemas_of_files(CommandTargets()).schemas
CLASSES = [
    *(section.record.schema for section in lay_out(HOOKS).sections),
    *(
        ConfigurationEntry,
        PolicyTestContents,
        ScenarioContents,
        AuditSettings,
        PlacementSettings,
        NotifySettings,
    ),
]
_DEEPEST = 4


class Digits(enum.StrEnum):
    """Texts that YAML reads as numbers and booleans, too."""

    ONE = "1"
    TRUE = "true"
    WORD = "word"


@attrs.frozen
class Inner:
    """An object with a required key."""

    name: str
    size: int | None = None


@attrs.frozen
class Everything:
    """All types that settings may have.

    ``count`` is a number of things. The ``text`` is free; ``texts`` are several.
    """

    text: str
    count: int = attrs.field(default=1, validator=attrs.validators.ge(1))
    part: float = 0.5
    is_on: bool = False
    digits: Digits = Digits.ONE
    mode: Digits | Expression = Digits.ONE
    expression: Expression | None = None
    written: ScalarText | None = None
    inner: Inner | None = None
    texts: tuple[str, ...] = ()
    by_name: dict[str, list[Inner]] = attrs.field(factory=dict)
    either: tuple[str, ...] | ScalarText | None = None


def texts_of(wanted, depth=0):
    """Return a strategy of YAML texts for a type: mostly values of it, and sometimes anything."""
    if depth >= _DEEPEST:
        return VALUES
    return st.one_of(_own(wanted, depth), _own(wanted, depth), VALUES)


def _own(wanted, depth):
    if is_expression(wanted) or wanted is ScalarText:
        return SCALARS
    if is_list(wanted):
        return st.lists(texts_of(get_args(wanted)[0], depth + 1), max_size=2).map(list_text)
    if is_dict(wanted):
        inner = texts_of(get_args(wanted)[1], depth + 1)
        return st.dictionaries(st.sampled_from(["a", "b"]), inner, max_size=2).map(mapping_text)
    if is_union(wanted):
        return st.one_of(SCALARS, *(texts_of(each, depth) for each in union_members(wanted)))
    if is_enum(wanted):
        return st.sampled_from([str(each.value) for each in wanted])
    if attrs.has(wanted):
        keys = list(keys_of(wanted))
        required = {key.name: texts_of(key.field.type, depth + 1) for key in keys if key.required}
        optional = {key.name: texts_of(key.field.type, depth + 1) for key in keys if not key.required}
        return st.fixed_dictionaries(required, optional=optional).map(mapping_text)
    return SCALARS


def schema_of(wanted):
    writer = SchemaWriter()
    top = writer.of_type(wanted)
    return jsonschema_rs.validator_for({**top, "$defs": writer.definitions})


def accepted(text, wanted):
    """Return whether the program accepts a YAML text as an object of a class, and the value that an editor validates."""
    file = SourceText("pool.yaml", f"value: {text}\n")
    top, problems = read_yaml(file)
    if top is None or problems or "value" not in top.entries:
        return False, None
    node = top.entries["value"].value
    builder = ObjectBuilder(Path)
    built = builder.value(node, wanted)
    wrong = any(each.severity is Severity.ERROR for each in builder.problems)
    return built is not INVALID and not wrong, plain(node)


@pytest.mark.parametrize("wanted", [Everything, *CLASSES], ids=lambda each: each.__name__)
def test_a_schema_permits_whatever_the_program_accepts(wanted):
    validator = schema_of(wanted)

    @settings(max_examples=60)
    @given(texts_of(wanted))
    def check(text):
        is_accepted, value = accepted(text, wanted)
        if is_accepted:
            assert [error.message for error in validator.iter_errors(value)] == [], text

    check()


@given(
    st.dictionaries(
        st.sampled_from(sorted(SCHEMAS["pool.yaml"]["properties"])), VALUES, min_size=1, max_size=2
    )
)
@settings(max_examples=25)
def test_what_the_schema_of_pool_yaml_refuses_check_refuses(tmp_path_factory, entries):
    text = "".join(f"{name}: {value}\n" for name, value in entries.items())
    top, _ = read_yaml(SourceText("pool.yaml", text))
    if top is None or jsonschema_rs.is_valid(SCHEMAS["pool.yaml"], plain(top)):
        return
    folder = tmp_path_factory.mktemp("bundle")
    (folder / "pool.yaml").write_text(text)
    found = examine_bundle(folder)
    assert found.bundle is None, text


@pytest.mark.parametrize(
    "value",
    [
        "{}",  # no text
        "{text: 5}",
        "{text: x, count: 0}",
        "{text: x, count: many}",
        "{text: x, is_on: 1}",
        "{text: x, digits: 2}",
        "{text: x, inner: {}}",
        "{text: x, inner: {name: y, more: 1}}",
        "{text: x, texts: y}",
        "{text: x, by_name: {a: {}}}",
        "{text: x, unknown: 1}",
        "[]",
    ],
)
def test_a_schema_refuses_wrong_types_missing_keys_and_unknown_keys(value):
    is_accepted, found = accepted(value, Everything)
    assert not is_accepted
    assert not schema_of(Everything).is_valid(found)


def test_descriptions_are_the_sentences_about_a_key_and_defaults_are_those_of_the_class():
    properties = SchemaWriter().properties(Everything)
    assert properties["count"] == {
        "type": "integer",
        "description": "count is a number of things.",
        "default": 1,
        "minimum": 1,
    }
    assert properties["texts"]["description"] == "texts are several."
    assert properties["digits"]["enum"] == ["1", 1, "true", True, "word"]


def files_of_policies():
    for folder in sorted((ROOT / "policies").iterdir()):
        for file in sorted(folder.glob("*.yaml")):
            name = "*_test.yaml" if file.name.endswith("_test.yaml") else file.name
            if name in SCHEMAS:
                yield pytest.param(file, name, id=f"{folder.name}/{file.name}")


@pytest.mark.parametrize(("file", "name"), [*files_of_policies()])
def test_the_example_bundles_and_their_tests_are_valid(file, name):
    top, problems = read_yaml(SourceText(name, file.read_text()))
    assert problems == ()
    errors = jsonschema_rs.validator_for(SCHEMAS[name]).iter_errors(plain(top))
    assert [f"{error.instance_path}: {error.message}" for error in errors] == []


def test_the_keys_of_pool_yaml_are_those_that_have_an_owner():
    assert SCHEMAS["pool.yaml"]["properties"].keys() == lay_out(HOOKS).owners.keys.keys()


def test_knobs_of_patterns_are_permitted_in_any_case():
    validator = jsonschema_rs.validator_for(SCHEMAS["pool.yaml"])
    assert validator.is_valid({"GROUP_QUOTA_physics": 5, "group_quota_dynamic_biology": "0.5"})
    assert not validator.is_valid({"GROUP_QUOTA_physics": [5]})
    assert not validator.is_valid({"GROUP_QUOTE_physics": 5})


def test_a_file_of_a_key_has_the_schema_of_that_key():
    assert (
        SCHEMAS["gridengine.yaml"]["properties"].keys()
        == SCHEMAS["pool.yaml"]["$defs"]["GridEngine"]["properties"].keys()
    )


def test_a_config_map_is_a_valid_queues_yaml():
    validator = jsonschema_rs.validator_for(SCHEMAS["queues.yaml"])
    assert validator.is_valid({"kind": "ConfigMap", "data": {"queues.yaml": "partitions: []"}})
    assert not validator.is_valid({"kind": "Map", "partitions": []})
    assert not validator.is_valid({"partitions": [{"queues": [{"nam": "root"}]}]})


def test_all_schemas_are_schemas():
    for each in file_schemas(HOOKS).values():
        jsonschema_rs.meta.validate(each)


def test_a_problem_is_found_in_a_file_of_the_service_too():
    validator = jsonschema_rs.validator_for(SCHEMAS["negotiator.yaml"])
    assert validator.is_valid({"bundle": "site", "plugins_dir": ["a"], "web_bind_port": 80, "watch": True})
    assert not validator.is_valid({"bundle": ["site"]})
    assert not validator.is_valid({"bundel": "site"})
