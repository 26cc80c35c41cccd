"""The table of all outputs with ``--json``: their records, their versions, and their JSON schemas."""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Mapping
from functools import cache
from itertools import chain
from typing import Any, Final, is_typeddict

import attrs
import msgspec

from negotiator.app.audit_why import DecisionHistory
from negotiator.app.output_formats import cycles, policies, queues, reasons, service, why
from negotiator.app.rollout import RolloutReport
from negotiator.bundle.json_schema import DIALECT, JsonSchema

_DIGITS: Final = 12
_TEXTS: Final = frozenset({"$id", "title", "description"})
_REFERENCE: Final = "#/$defs/{name}"


@attrs.frozen
class OutputFormat:
    """The output of a command with ``--json``: the types of its record, one of which it has, and the version of its schema.

    The version is increased with every change of the schema. With ``is_line`` each line of the output is one record. ``option`` is what
    selects the output.
    """

    command: str
    records: tuple[Any, ...]
    summary: str
    version: int = 1
    is_line: bool = False
    option: str = "--json"

    def schema(self) -> JsonSchema:
        """Return the schema of one record."""
        tops, components = msgspec.json.schema_components(self.records, ref_template=_REFERENCE)
        definitions = {name: _exact(name, schema) for name, schema in sorted(components.items())}
        return {
            "$schema": DIALECT,
            "$id": f"urn:negotiator:{self.command.replace(' ', '-')}:{self.version}",
            "title": f"negotiator {self.command} {self.option}",
            "description": self.summary,
            **(tops[0] if len(tops) == 1 else {"anyOf": [*tops]}),
            "$defs": definitions,
        }

    @property
    def digest(self) -> str:
        """The digest of what the schema permits: with another one the version is another one."""
        text = json.dumps(_without_texts(self.schema()), sort_keys=True)
        return hashlib.sha256(text.encode("ascii")).hexdigest()[:_DIGITS]


#: In the order of the documentation.
OUTPUTS: Final = (
    OutputFormat("run", (cycles.CycleOutput,), "The decisions of a cycle.", version=2, is_line=True),
    OutputFormat(
        "serve", cycles.SERVE, "The decisions of a cycle, or a comparison.", version=2, is_line=True
    ),
    OutputFormat("why", why.WHY, "Why a job, a user or a queue gets no slot, or a slot no job.", version=2),
    OutputFormat("idle", (why.IdleOutput,), "Why the idle jobs of a pool get no slot.", version=2),
    OutputFormat(
        "queues", (queues.QueueOutput,), "The queues, as YuniKorn's REST interface has them.", version=2
    ),
    OutputFormat("usage", (queues.Usage,), "The entries of a report of a plugin."),
    OutputFormat("place", queues.PLACE, "The placement of an application, or of the jobs of a pool."),
    OutputFormat("access", (queues.AccessOutput,), "The permissions of a user."),
    OutputFormat(
        "check", (policies.CheckOutput,), "The problems of a bundle.", version=2, option="--format json"
    ),
    OutputFormat("expr lint", (policies.LintOutput,), "The findings in expressions.", option="--format json"),
    OutputFormat("test", (policies.TestOutput,), "The results of tests of policies.", option="--format json"),
    OutputFormat("plugins", (policies.PluginsOutput,), "The plugins of a bundle."),
    OutputFormat("policies", (policies.PoliciesOutput,), "What each rule does.", version=2),
    OutputFormat("diff", (policies.Comparison,), "What another bundle would decide otherwise."),
    OutputFormat("whatif", (policies.Comparison,), "What a cycle would decide otherwise."),
    OutputFormat("replay", (service.ReplayOutput,), "A recorded cycle that was decided again.", is_line=True),
    OutputFormat("fetch", (service.FetchOutput,), "The ads that were saved."),
    OutputFormat(
        "status", service.STATUS, "The health of a negotiator and its state, or the settings.", version=4
    ),
    OutputFormat("audit verify", service.AUDIT_VERIFY, "Whether the audit log was changed."),
    OutputFormat("audit why", (DecisionHistory,), "What was decided about a job or a slot."),
    OutputFormat(
        "audit why --records",
        (reasons.AuditRecord,),
        "A record, as audit why --json without JOB prints it too.",
        is_line=True,
        option="",
    ),
    OutputFormat("audit who", (reasons.AuditRecord,), "A record of a match.", is_line=True),
    OutputFormat("audit changes", (reasons.AuditRecord,), "A record of a change.", is_line=True),
    OutputFormat("audit rollout", (RolloutReport,), "What rules that do not enforce would have denied."),
    OutputFormat("audit sql", (service.AuditRow,), "A row.", is_line=True),
)


def output_format(command: str) -> OutputFormat | None:
    """Return the output of a command, such as ``idle`` or ``audit who``; None if it has none."""
    return next((each for each in OUTPUTS if each.command == command), None)


def _exact(name: str, schema: Mapping[str, Any]) -> JsonSchema:
    """Return the schema of a record that has no other keys; one made of a class of the program has all keys, those with a default too."""
    found = dict(schema)
    if "description" in found:  # a docstring, which Python 3.13 and later strip
        found["description"] = " ".join(inspect.cleandoc(found["description"]).replace("``", "").split())
    if "properties" not in found:
        return found
    found["properties"] = {key: _without_default(each) for key, each in found["properties"].items()}
    found.setdefault("required", [])
    if name not in _declared_outputs():
        found["required"] = [*found["properties"]]
    found["additionalProperties"] = False
    return found


def _without_texts(schema: Any, *, is_names: bool = False) -> Any:
    """Return a schema without what is for people.

    :param is_names: the keys of the schema are names of keys or of definitions.
    """
    if isinstance(schema, list):
        return [_without_texts(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: _without_texts(value, is_names=not is_names and key in {"properties", "$defs"})
        for key, value in schema.items()
        if is_names or key not in _TEXTS
    }


def _without_default(schema: Mapping[str, Any]) -> JsonSchema:
    """Return the schema of a key without the default of its class: an output has every key."""
    return {key: value for key, value in schema.items() if key != "default"}


@cache
def _declared_outputs() -> frozenset[str]:
    """Return the names of the records that are declared for outputs only: they declare which keys may be missing."""
    values = (vars(module).values() for module in (cycles, policies, queues, reasons, service, why))
    return frozenset(each.__name__ for each in chain(*values) if is_typeddict(each))
