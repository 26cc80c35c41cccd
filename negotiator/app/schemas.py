"""Use case: the JSON schemas of the files that people write."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, get_type_hints

import attrs

from negotiator.app.policy_tests.file import PolicyTestContents
from negotiator.app.policy_tests.run import PATTERN
from negotiator.app.service_file import type_of_value
from negotiator.app.service_settings import KEYS, URL_KEY, ServiceSettings
from negotiator.app.targets import examine
from negotiator.app.whatif import ScenarioContents
from negotiator.bundle.json_schema import (
    JsonSchema,
    SchemaWriter,
    file_schemas,
    sentences_about,
    written_schema,
)
from negotiator.hooks.command_targets import CommandTargets
from negotiator.records import Problem, Severity

SERVICE_FILE: Final = "negotiator.yaml"
CHANGES_FILE: Final = "changes.yaml"


@attrs.frozen
class FileSchemas:
    """The schema of each file by its name, and the problems of loading the plugins of the bundle.

    The name of policy tests is a pattern. If there are problems, unknown keys of ``pool.yaml`` are permitted: they may be those of a
    plugin that was refused.
    """

    schemas: Mapping[str, JsonSchema]
    problems: tuple[Problem, ...] = ()


def schemas_of_files(targets: CommandTargets) -> FileSchemas:
    """Return the schemas of the files of a bundle, with the keys of its plugins, and those of the program's other files."""
    examination = examine(targets)
    hooks = examination.hooks
    errors = tuple(each for each in examination.problems if each.severity is Severity.ERROR)
    of_bundle = {} if hooks is None else file_schemas(hooks, complete=not errors)
    return FileSchemas(
        {
            **of_bundle,
            PATTERN: _of_record(PATTERN, "Tests of policies: negotiator test.", PolicyTestContents),
            CHANGES_FILE: _of_record(
                CHANGES_FILE, "Changes of a pool: negotiator whatif --changes.", ScenarioContents
            ),
            SERVICE_FILE: _service(),
        },
        errors,
    )


def _of_record(name: str, description: str, schema: type) -> JsonSchema:
    writer = SchemaWriter()
    top = writer.definitions.pop(writer.of_type(schema)["$ref"].rpartition("/")[2])
    return written_schema(name, description, writer, top)


def _service() -> JsonSchema:
    writer = SchemaWriter()
    types: Mapping[str, Any] = get_type_hints(ServiceSettings) | {URL_KEY: str}
    properties = {}
    for key in KEYS:
        about = " ".join(sentences_about(key, ServiceSettings))
        found = writer.of_type(type_of_value(types[key]))
        properties[key] = {**found, **({"description": about} if about else {})}
    top: JsonSchema = {"type": "object", "properties": properties, "additionalProperties": False}
    return written_schema(SERVICE_FILE, "The settings of negotiator serve.", writer, top)
