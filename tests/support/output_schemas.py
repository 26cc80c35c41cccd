"""Validates what commands print with ``--json`` against the schemas of ``negotiator schema``."""

import json
from functools import cache
from itertools import pairwise

import jsonschema_rs

from negotiator.app.output_formats import OUTPUTS, output_format

_COMMANDS = sorted((each.command for each in OUTPUTS), key=lambda command: -len(command.split()))


@cache
def _validator(command):
    return jsonschema_rs.validator_for(output_format(command).schema())


def command_of(words):
    """Return the command of the words after ``negotiator``, if it has an output with a schema and prints JSON; else None."""
    words = [str(word) for word in words]
    if words[:2] == ["audit", "why"] and "--records" in words:
        return "audit why --records"
    if "--json" not in words and not _is_json(words):
        return None
    for command in _COMMANDS:
        parts = command.split()
        if words[: len(parts)] == parts:
            return command
    return None


def _is_json(words):
    return any(pair == ("--format", "json") for pair in pairwise(words)) or ("--format=json" in words)


def records_of(command, text):
    """Return the records that a command has printed; none if it has printed no JSON."""
    lines = text.splitlines() if output_format(command).is_line else [text]
    try:
        return [json.loads(line) for line in lines if line.strip()]
    except ValueError:
        return []


def check_output(words, text):
    """Fail if what a command printed is not what its schema permits."""
    command = command_of(words)
    for record in records_of(command, text) if command else ():
        errors = [
            f"{error.instance_path}: {error.message}" for error in _validator(command).iter_errors(record)
        ]
        assert errors == [], f"negotiator {command}: the output is not what its schema permits"
