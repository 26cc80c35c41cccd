"""An administrator's own files as parts of a new bundle: unchanged, under the names by which a bundle finds them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import attrs

from negotiator.app.new_bundle.gridengine_objects import GridEngineObjects, is_objects
from negotiator.app.new_bundle.quota_names import QuotaNames
from negotiator.app.new_bundle.system import PoolSystem, named_apart
from negotiator.bundle.folder import QUEUES, is_condor_file
from negotiator.errors import InvalidCallError

_UNUSUAL: Final = re.compile(r"[^\w.-]+", re.ASCII)


@attrs.frozen
class OwnFiles:
    """What administrators bring: files of the bundle by name; for Grid Engine also the objects and the names of their quota sets."""

    files: Mapping[str, bytes]
    objects: GridEngineObjects = attrs.field(factory=GridEngineObjects)
    quota_names: QuotaNames = attrs.field(factory=QuotaNames)

    @property
    def text(self) -> str:
        """The contents of all files."""
        return "\n".join(content.decode(errors="replace") for content in self.files.values())


def own_files(system: PoolSystem, files: Mapping[Path, bytes]) -> OwnFiles:
    """Return the files of the bundle that stand for an administrator's files.

    :raises InvalidCallError: two have the same name in the bundle, or a file is of another system.
    """
    match system:
        case PoolSystem.HTCONDOR:
            return OwnFiles(named_apart(files, {path: _condor_name(path) for path in files}))
        case PoolSystem.YUNIKORN:
            for path, content in files.items():
                if b"partitions:" not in content:
                    raise InvalidCallError(f"{path}: it has no partitions; name a queues.yaml of YuniKorn")
            return OwnFiles(named_apart(files, dict.fromkeys(files, QUEUES)))
        case PoolSystem.GRIDENGINE:
            return _of_gridengine(files)


def _condor_name(path: Path) -> str:
    name = _UNUSUAL.sub("_", path.name).lstrip(".") or "site"
    return name if is_condor_file(name) else f"{name}.conf"


def _of_gridengine(files: Mapping[Path, bytes]) -> OwnFiles:
    texts = {path: content.decode(errors="replace") for path, content in files.items()}
    sets = {path: content for path, content in files.items() if not is_objects(texts[path])}
    for path in sets:
        if "{" not in texts[path]:
            raise InvalidCallError(
                f"{path}: neither resource quota sets (qconf -srqs) nor complexes (qconf -sc), a user set (qconf -su NAME)"
                " or a host group (qconf -shgrp NAME)"
            )
    named = named_apart(sets, {path: f"{_UNUSUAL.sub('_', path.stem)}.rqs" for path in sets})
    names = QuotaNames.of("\n".join(texts[path] for path in sets))
    objects = GridEngineObjects.of(texts[path] for path in texts if path not in sets)
    return OwnFiles(named, objects, names)
