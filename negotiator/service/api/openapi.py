"""The OpenAPI document of the interface, made of the table of resources.

Source: OpenAPI Specification 3.1.0; its schemas are JSON Schema 2020-12.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterable, Iterator, Mapping
from http import HTTPStatus
from typing import Any, Final

import attrs
import msgspec

from negotiator import __version__
from negotiator.app.token_roles import Role
from negotiator.service.answers import JSON
from negotiator.service.api.records import ErrorAnswer
from negotiator.service.api.resource import BASE, Resource
from negotiator.service.api.resources import RESOURCES

#: The path of the document, below ``BASE``.
DOCUMENT: Final = "/openapi.json"

_REFERENCE: Final = "#/components/schemas/{name}"
_ERRORS: Final = {
    HTTPStatus.BAD_REQUEST: "A parameter is unknown, repeated, missing or invalid; the message names it.",
    HTTPStatus.UNAUTHORIZED: "The token is unknown or has ended, or one is needed and was not sent.",
    HTTPStatus.FORBIDDEN: "The role of the token does not permit it.",
    HTTPStatus.NOT_FOUND: "There is no such thing.",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "The body is too large.",
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE: "The body is not declared as JSON.",
    HTTPStatus.SERVICE_UNAVAILABLE: "The pool, the state or the audit log cannot be read or written now.",
}
_TOKEN: Final = {
    "type": "http",
    "scheme": "bearer",
    "description": "A token of `negotiator admin token`. On the loopback interface reading needs none.",
}


def openapi(resources: Iterable[Resource] = RESOURCES) -> dict[str, Any]:
    """Return the document of these resources, as values of JSON."""
    listed = tuple(resources)
    schemas = _Schemas.of(listed)
    paths: dict[str, dict[str, Any]] = {}
    for each in listed:
        paths.setdefault(f"{BASE}{each.path}", {})[each.method.lower()] = _operation(each, schemas)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "negotiator",
            "version": __version__,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": paths,
        "components": {
            "schemas": schemas.shared(),
            "responses": {str(int(status)): _error(text, schemas) for status, text in _ERRORS.items()},
            "securitySchemes": {"token": _TOKEN},
        },
    }


def document_text(resources: Iterable[Resource] = RESOURCES) -> str:
    """Return the document for a file."""
    return json.dumps(openapi(resources), indent=1) + "\n"


@attrs.frozen
class _Schemas:
    """The schemas of all types: a reference for each type, and what the references lead to, by name."""

    references: Mapping[Any, Mapping[str, Any]]
    components: Mapping[str, Mapping[str, Any]]
    parameters: frozenset[str]  # names of types of parameters, whose fields are listed where they are used

    @classmethod
    def of(cls, resources: Iterable[Resource]) -> _Schemas:
        listed = tuple(resources)
        queries = dict.fromkeys(each.parameters for each in listed)
        bodies = [each.body for each in listed if each.body is not None]
        types = tuple(dict.fromkeys((ErrorAnswer, *(each.answers for each in listed), *bodies, *queries)))
        references, components = msgspec.json.schema_components(types, ref_template=_REFERENCE)
        for schema in components.values():
            if "description" in schema:  # a docstring, which Python 3.13 and later strip
                schema["description"] = inspect.cleandoc(schema["description"])
        found = dict(zip(types, references, strict=True))
        for body in bodies:  # unknown keys are errors
            components[_name(found[body])]["additionalProperties"] = False
        return cls(found, components, frozenset(_name(found[each]) for each in queries))

    def fields(self, query: type[Any]) -> Mapping[str, Mapping[str, Any]]:
        """Return the schemas of the fields of a class, by name."""
        properties: Mapping[str, Mapping[str, Any]] = self.components[_name(self.references[query])][
            "properties"
        ]
        return properties

    def required(self, query: type[Any]) -> frozenset[str]:
        """Return the names of the fields of a class that have no default."""
        return frozenset(self.components[_name(self.references[query])].get("required", ()))

    def shared(self) -> dict[str, Mapping[str, Any]]:
        """Return the schemas that references lead to."""
        return {name: each for name, each in sorted(self.components.items()) if name not in self.parameters}


def _name(reference: Mapping[str, Any]) -> str:
    return str(reference["$ref"]).rpartition("/")[2]


def _operation(resource: Resource, schemas: _Schemas) -> dict[str, Any]:
    answer, error = schemas.references[resource.answers], schemas.references[ErrorAnswer]
    done = _content(resource.summary, answer)
    done["content"] |= {media_type: {"schema": {"type": "string"}} for media_type in resource.texts}
    responses = {HTTPStatus.OK: done}
    responses |= {each: {"$ref": f"#/components/responses/{int(each)}"} for each in _errors(resource)}
    for status, text in resource.statuses.items():
        responses[status] = _content(text, answer if status < HTTPStatus.BAD_REQUEST else error)
    found: dict[str, Any] = {
        "operationId": _operation_id(resource),
        "summary": resource.summary,
        "parameters": list(_parameters(resource, schemas)),
        "responses": {str(int(status)): responses[status] for status in sorted(responses)},
        # An empty entry: the token is optional.
        "security": [*([{}] if resource.role is Role.VIEWER else []), {"token": []}],
    }
    if resource.role is not Role.VIEWER:
        found["description"] = f"Needs a token of the role {resource.role}."
    if resource.body is not None:
        found["requestBody"] = {
            "required": True,
            "content": {JSON: {"schema": schemas.references[resource.body]}},
        }
    return found


def _errors(resource: Resource) -> Iterator[HTTPStatus]:
    yield HTTPStatus.BAD_REQUEST
    yield HTTPStatus.UNAUTHORIZED
    if resource.role is not Role.VIEWER:
        yield HTTPStatus.FORBIDDEN
    if resource.path_names:
        yield HTTPStatus.NOT_FOUND
    if resource.body is not None:
        yield HTTPStatus.REQUEST_ENTITY_TOO_LARGE
        yield HTTPStatus.UNSUPPORTED_MEDIA_TYPE
    yield HTTPStatus.SERVICE_UNAVAILABLE


def _operation_id(resource: Resource) -> str:
    words = [word for part in resource.path.split("/") for word in part.strip("{}").split("-") if word]
    return resource.method.lower() + "".join(word.capitalize() for word in words)


def _parameters(resource: Resource, schemas: _Schemas) -> Iterator[dict[str, Any]]:
    required = schemas.required(resource.parameters)
    for name, schema in schemas.fields(resource.parameters).items():
        in_path = name in resource.path_names
        values = _without_null(schema)
        text = values.pop("description", "")
        yield {
            "name": name,
            "in": "path" if in_path else "query",
            "required": in_path or name in required,
            **({"description": text} if text else {}),
            "schema": values,
        }


def _without_null(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of a parameter: one that may be missing is never null."""
    found = dict(schema)
    if found.get("default", "") is None:
        del found["default"]
        (one,) = (each for each in found.pop("anyOf") if each != {"type": "null"})
        found |= one
    return found


def _content(text: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"description": text, "content": {JSON: {"schema": schema}}}


def _error(text: str, schemas: _Schemas) -> dict[str, Any]:
    return _content(text, schemas.references[ErrorAnswer])
