"""The files of a bundle as values: their digest, and one canonical, versioned form in which all of them are stored."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from typing import Any, Final

_VERSION = 1
#: Among the files of a bundle: the plugins that take part and their versions, a line each. No file of a folder has this name,
#: since hidden files are no part of a bundle.
PLUGINS_FILE: Final = ".plugins"


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
