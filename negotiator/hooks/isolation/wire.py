"""What crosses the boundary between the program and the worker of an isolated plugin.

A message is its length, 8 bytes, and that many bytes. Arguments are pickled, since the worker may trust the program. Answers
are JSON, and records are made of them field by field: nothing that a worker sends is unpickled.
"""

from __future__ import annotations

import base64
import io
import json
import pickle
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import attrs
import numpy as np

from negotiator.hooks.access import Access, AccessDecision, UserGroups
from negotiator.hooks.records import Filter, Gate, Request, Score
from negotiator.records import Mode, Source, Verdict

HEADER = 8  # bytes of a message's length
MAX_ANSWER = 64 * 1024 * 1024


def read_only(entries: dict[Any, Any]) -> Mapping[Any, Any]:
    """Return a mapping that can't be changed; its type has no name that pickle could refer to."""
    return MappingProxyType(entries)


def _fields(request: Request) -> dict[str, Any]:
    """Return the fields of a request, with the ad as the plugin may read it."""
    fields = {str(each.alias): getattr(request, each.name) for each in attrs.fields(Request)}
    return fields | {"ad": request.ad}


def _request(fields: dict[str, Any]) -> Request:
    return Request(**fields)


class _Pickler(pickle.Pickler):
    dispatch_table = {  # noqa: RUF012 - as the base class
        MappingProxyType: lambda proxy: (read_only, (dict(proxy),)),
        Request: lambda request: (_request, (_fields(request),)),
    }


def pack(content: bytes) -> bytes:
    """Return the message of some bytes."""
    return len(content).to_bytes(HEADER, "big") + content


def arguments_to_bytes(value: object) -> bytes:
    """Return a value of the program's own types as bytes for a worker."""
    out = io.BytesIO()
    _Pickler(out, protocol=5).dump(value)
    return out.getvalue()


def arguments_from_bytes(content: bytes) -> Any:
    """Return a value that the program sent; for workers only."""
    return pickle.loads(content)  # noqa: S301 - the program that started the worker sent it


def _mask(value: Any) -> Any:
    return np.frombuffer(base64.b64decode(value, validate=True), dtype=np.uint8) != 0


def _numbers(value: Any) -> Any:
    return np.frombuffer(base64.b64decode(value, validate=True), dtype="<f8")


def _source(value: Any) -> Source | None:
    if value is None:
        return None
    file, line, column = value
    if type(file) is not str or type(line) is not int or type(column) is not int:
        raise TypeError("invalid source")
    return Source(file, line, column)


_FIELDS: Mapping[str, Callable[[Any], Any]] = {
    "discard": _mask,
    "allow": _mask,
    "values": _numbers,
    "verdict": Verdict,
    "mode": Mode,
    "source": _source,
    "decision": AccessDecision,
    "groups": tuple,
}
_RECORDS: Mapping[str, type[Any]] = {
    each.__name__: each for each in (Gate, Filter, Score, Access, UserGroups)
}


def record_to_json(record: Any) -> Any:
    """Return a record of a hook as a value that JSON has.

    :raises TypeError: the record has another type than those of hooks that can be isolated.
    """
    if type(record) is str:
        return record
    kind = type(record)
    if _RECORDS.get(kind.__name__) is not kind:
        raise TypeError(f"a plugin in a worker process cannot return {kind.__name__}")
    return {
        "type": kind.__name__,
        **{each.name: _plain(getattr(record, each.name), kind) for each in attrs.fields(kind)},
    }


def _plain(value: Any, kind: type[Any]) -> Any:
    if isinstance(value, np.ndarray):
        if kind is Score and value.ndim == 1 and value.dtype.kind in "biuf":
            return base64.b64encode(value.astype("<f8").tobytes()).decode("ascii")
        if value.dtype != np.bool_ or value.ndim != 1:
            raise TypeError(
                f"expected a 1-d NumPy array of bool, got a {value.ndim}-d array of {value.dtype}"
            )
        return base64.b64encode(value.astype(np.uint8).tobytes()).decode("ascii")
    if isinstance(value, Source):
        return [value.file, value.line, value.column]
    return value


def record_from_json(value: Any) -> Any:
    """Return the record of a value that a worker sent; the check of the hook is still to follow.

    :raises TypeError, ValueError, KeyError, AttributeError: it is not the form of a record.
    """
    if type(value) is str:
        return value
    fields = dict(value)
    kind = _RECORDS[fields.pop("type")]
    return kind(**{name: _FIELDS.get(name, _unchanged)(each) for name, each in fields.items()})


def _unchanged(value: Any) -> Any:
    return value


def answer_to_bytes(answer: Mapping[str, Any]) -> bytes:
    """Return the answer of a worker as bytes."""
    return json.dumps(answer).encode("ascii")


def answer_from_bytes(content: bytes) -> dict[str, Any]:
    """Return the answer of a worker.

    :raises ValueError: it is not a JSON object.
    """
    try:
        answer = json.loads(content)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if type(answer) is not dict:
        raise ValueError("expected a JSON object")
    return answer
