"""The schemas of outputs: a change is a new version."""

from pathlib import Path

import jsonschema_rs
import pytest

from negotiator.app.output_formats import OUTPUTS, output_format
from negotiator.app.output_formats.table import OutputFormat

#: A line for each version that there was: command, version, and the digest of what its schema permits.
KNOWN = (Path(__file__).parent / "output_versions.txt").read_text()


@pytest.mark.parametrize("output", OUTPUTS, ids=lambda each: each.command)
def test_another_schema_has_another_version(output):
    """If this fails, increase the version of the output and add a line to output_versions.txt; change no line."""
    known = {}
    for line in KNOWN.splitlines():
        *words, version, digest = line.split()
        known[" ".join(words), int(version)] = digest
    assert known.get((output.command, output.version)) == output.digest
    assert max(version for command, version in known if command == output.command) == output.version


def test_the_digest_is_that_of_what_is_permitted_not_of_texts():
    output = output_format("idle")
    assert output_format("why").digest != output.digest
    renamed = OutputFormat(output.command, output.records, "Another sentence.", version=7)
    assert renamed.digest == output.digest


@pytest.mark.parametrize("output", OUTPUTS, ids=lambda each: each.command)
def test_each_schema_is_a_schema_that_names_its_version(output):
    schema = output.schema()
    jsonschema_rs.meta.validate(schema)
    assert schema["$id"] == f"urn:negotiator:{output.command.replace(' ', '-')}:{output.version}"
