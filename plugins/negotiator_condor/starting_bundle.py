"""The bundle to start from with the settings of HTCondor's negotiator, for ``negotiator init --from htcondor``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import translate
from importlib.resources import files
from typing import Final

from negotiator.plugin import (
    OwnFile,
    SampleJob,
    StartingBundle,
    StartingFiles,
    StartingRequest,
    files_by_name,
    render_templates,
)
from negotiator_condor.known_settings import KNOWN

_USER: Final = "alice"
_EXAMPLES: Final = "negotiator.conf"
_STATEMENT: Final = re.compile(r"^[ \t]*([A-Za-z_][\w.]*)[ \t]*@?=", re.MULTILINE | re.ASCII)
_USE: Final = re.compile(
    r"^[ \t]*use[ \t]+(?:role|feature|policy|security)[ \t]*:", re.MULTILINE | re.IGNORECASE
)
#: Names that a bundle reads as HTCondor's configuration.
_READ: Final = re.compile(r".*\.conf(ig)?|condor_config.*")
_GROUP_NAMES: Final = re.compile(r"^[ \t]*GROUP_NAMES[ \t]*=(.*)$", re.MULTILINE | re.IGNORECASE)
_GROUP: Final = re.compile(r"[\w.]+", re.ASCII)


def starting_bundle() -> StartingBundle:
    """Return the bundle."""
    return StartingBundle(
        name="htcondor",
        description="settings of HTCondor's negotiator, accounting groups, central expressions",
        own_files="Your own configuration, such as the output of condor_config_val -dump",
        recognizes=_is_configuration,
        make=_make,
    )


def _is_configuration(text: str) -> bool:
    """True if a text has a setting of HTCondor's negotiator, or uses a template of HTCondor."""
    setting = re.compile("|".join(translate(each.name.upper()) for each in KNOWN))
    return _USE.search(text) is not None or any(
        setting.fullmatch(name.upper()) for name in _STATEMENT.findall(text)
    )


def _make(request: StartingRequest) -> StartingFiles:
    templates = files("negotiator_condor") / "templates"
    own = files_by_name(request.files, _name)
    values = {"own": bool(own), "settings": ", ".join(own or [_EXAMPLES]), "folder": request.folder}
    made = render_templates(templates / "bundle", **values)
    if not own:
        return StartingFiles(made | render_templates(templates / "examples", **values))
    jobs = tuple(_jobs_of_groups("\n".join(each.text for each in request.files)))
    return StartingFiles(made | own, sample_jobs=lambda _partition: jobs)


def _name(file: OwnFile) -> str:
    name = file.plain_name
    return name if _READ.fullmatch(name) else f"{name}.conf"


def _jobs_of_groups(text: str) -> Iterator[SampleJob]:
    """Yield a job of each accounting group."""
    found = _GROUP_NAMES.search(text.replace("\\\n", " "))
    for name in re.split(r"[\s,]+", found[1].strip()) if found else ():
        if _GROUP.fullmatch(name):
            yield SampleJob({"Owner": _USER, "AccountingGroup": f"{name}.{_USER}"})
