"""Places in files of the bundle, as links to their lines."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

import attrs

from negotiator.service.configuration import QUEUES
from negotiator.service.pages.views.elements import link, message

_PLACE: Final = re.compile(r"(.+?):([0-9]{1,7})(?::[0-9]+)?")


@attrs.frozen
class SourcePlace:
    """A place such as ``pool.yaml:12:3``. ``href`` is empty if the file is not that of now; ``is_open`` if every reader may open it."""

    text: str
    href: str = ""
    is_open: bool = False


def source_place(text: str, files: Mapping[str, bytes]) -> SourcePlace:
    """Return a place in a file.

    :param files: those that can be shown, by name: of the bundle that is in force now, if the place is in that one.
    """
    found = _PLACE.fullmatch(text)
    if found is None or found[1] not in files:
        return SourcePlace(message(text))
    name, line = found[1], found[2]
    if name == QUEUES:
        return SourcePlace(message(text), f"{link(QUEUES, 'configuration').href}#L{line}", is_open=True)
    page = link(name, "configuration", "files", name).href
    return SourcePlace(message(text), f"{page}#L{line}" if page else "")
