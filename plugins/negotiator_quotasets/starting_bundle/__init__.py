"""The bundle to start from with resource quota sets, for ``negotiator init --from gridengine``."""

from __future__ import annotations

from importlib.resources import files
from typing import Final

from negotiator.plugin import (
    InvalidCallError,
    OwnFile,
    StartingBundle,
    StartingFiles,
    StartingRequest,
    files_by_name,
    render_templates,
)
from negotiator_quotasets.starting_bundle.objects import (
    GridEngineObjects,
    QuotaNames,
    is_objects,
    jobs_of_rules,
    queues_of_names,
)

_SETS: Final = "quotas.rqs"  # the example


def starting_bundle() -> StartingBundle:
    """Return the bundle."""
    return StartingBundle(
        name="gridengine",
        description="Grid Engine's resource quota sets and the objects that they refer to",
        own_files="Your own quota sets, the output of qconf -srqs; also of -sc, -su NAME, -shgrp @NAME",
        recognizes=lambda text: _are_quota_sets(text) or is_objects(text),
        make=_make,
    )


def _are_quota_sets(text: str) -> bool:
    lines = (line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#"))
    return next(lines, "").lstrip().startswith("{")


def _make(request: StartingRequest) -> StartingFiles:
    objects = GridEngineObjects.of(each.text for each in request.files if is_objects(each.text))
    sets = [each for each in request.files if not is_objects(each.text)]
    for file in sets:
        if "{" not in file.text:
            raise InvalidCallError(
                f"{file.path}: neither resource quota sets (qconf -srqs) nor complexes (qconf -sc), a user set (qconf -su NAME)"
                " or a host group (qconf -shgrp NAME)"
            )
    templates = files("negotiator_quotasets.starting_bundle") / "templates"
    examples = render_templates(templates / "examples", folder=request.folder)
    own = files_by_name(sets, _name) or {_SETS: examples[_SETS]}
    names = QuotaNames.of("\n".join(content.decode(errors="replace") for content in own.values()))
    made = own | render_templates(
        templates / "bundle",
        own=bool(request.files),
        objects=objects.completed(names),
        settings=", ".join(own),
        folder=request.folder,
    )
    if not request.files:
        return StartingFiles(examples | made)
    if names.queues:
        made["queues.yaml"] = queues_of_names(names.queues)
    return StartingFiles(made, sample_jobs=lambda _partition: jobs_of_rules(names.rules, objects))


def _name(file: OwnFile) -> str:
    return f"{file.plain_name.removesuffix(file.path.suffix)}.rqs"
