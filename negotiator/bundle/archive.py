"""The files of a bundle as values: their digest, one canonical, versioned form in which all of them are stored, and the comparison with a manifest.

A manifest lists the SHA-256 of every other file of the folder, in the format of ``sha256sum``. A bundle with one is complete or refused, however its
files got there.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from negotiator.records import Problem, Severity, Source
from negotiator.records.text import printable

_VERSION = 1
#: Among the files of a bundle: the plugins that take part and their versions, a line each. No file of a folder has this name,
#: since hidden files are no part of a bundle.
PLUGINS_FILE: Final = ".plugins"
MANIFEST = "SHA256SUMS"
_LINE = re.compile(r"([0-9a-fA-F]{64}) [ *](?:\./)*(.+)")
_ANEW = f"is every file completely there? then write {MANIFEST} anew with sha256sum"


def digest_of(files: Mapping[str, bytes]) -> str:
    """Return the digest of a bundle's files: SHA-256, hexadecimal.

    It is made over name and content of each file, in the order of the names' bytes, each with its length before it.
    """
    digest = hashlib.sha256()
    for name in _sorted(files):
        encoded, content = os.fsencode(name), files[name]
        digest.update(b"%d:%b%d:" % (len(encoded), encoded, len(content)))
        digest.update(content)
    return digest.hexdigest()


def with_plugins(files: Mapping[str, bytes], plugins: Iterable[str]) -> dict[str, bytes]:
    """Return the files of a bundle with the list of its plugins, so that the digest covers it; unchanged without plugins.

    :param plugins: name and version of each.
    """
    lines = "".join(f"{plugin}\n" for plugin in sorted(plugins))
    return {**files, PLUGINS_FILE: lines.encode(errors="replace")} if lines else dict(files)


def files_digest(files: Mapping[str, bytes]) -> str:
    """Return the digest of a bundle's files without the list of its plugins."""
    return digest_of({name: content for name, content in files.items() if name != PLUGINS_FILE})


def encode(files: Mapping[str, bytes]) -> bytes:
    """Return the files of a bundle as one JSON document in ASCII: the same bytes for the same files.

    Each file has its ``name`` and its content as ``text``; as ``base64`` if it is not UTF-8.
    """
    document = {
        "version": _VERSION,
        "files": [{"name": name, **_content(files[name])} for name in _sorted(files)],
    }
    return json.dumps(document, ensure_ascii=True, separators=(",", ":")).encode("ascii") + b"\n"


def decode(data: bytes) -> dict[str, bytes]:
    """Return the files of a document that ``encode`` made, by name.

    :raises ValueError: the document has another form or another version.
    """
    try:
        document = json.loads(data)
        if document["version"] != _VERSION:
            raise ValueError(f"version {document['version']!r}, this program reads version {_VERSION}")
        return {each["name"]: _bytes(each) for each in document["files"]}
    except (AttributeError, KeyError, TypeError, RecursionError, binascii.Error, UnicodeError) as error:
        raise ValueError(f"invalid bundle document: {error!r}") from None


def _sorted(files: Mapping[str, bytes]) -> list[str]:
    return sorted(files, key=os.fsencode)


def _content(content: bytes) -> dict[str, str]:
    try:
        return {"text": content.decode()}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(content).decode("ascii")}


def _bytes(file: Mapping[str, Any]) -> bytes:
    text = file.get("text")
    return text.encode() if text is not None else base64.b64decode(file["base64"], validate=True)


def check_manifest(files: Mapping[str, bytes]) -> Iterator[Problem]:
    """Yield an error for each line that is invalid, and for each file that is missing, unlisted or has other contents.

    :param files: the contents of all files of the bundle, by name relative to the folder.
    """
    if MANIFEST not in files:
        return
    listed: set[str] = {MANIFEST}
    for number, line in enumerate(files[MANIFEST].decode("utf-8", "surrogateescape").splitlines(), 1):
        entry = _LINE.fullmatch(line)
        if entry is None:
            yield _error(MANIFEST, "invalid line: expected a SHA-256, two blanks and a name", number)
            continue
        digest, name = entry.groups()
        listed.add(name)
        if name == MANIFEST:
            continue  # sha256sum * lists an older manifest
        if name not in files:
            yield _error(name, f"this file is listed in {MANIFEST}, and missing")
        elif hashlib.sha256(files[name]).hexdigest() != digest.lower():
            yield _error(name, f"the contents of this file differ from what {MANIFEST} lists")
    for name in sorted(files.keys() - listed):
        yield _error(name, f"this file is not listed in {MANIFEST}")


def _error(name: str, message: str, line: int = 0) -> Problem:
    return Problem(Severity.ERROR, Source(printable(name), line), message, _ANEW)
