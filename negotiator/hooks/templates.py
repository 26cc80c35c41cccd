"""Files that are made of templates, and values in them: for a folder to start from, such as a new bundle or plugin."""

from __future__ import annotations

from importlib.resources.abc import Traversable
from typing import Any, Final

_TEMPLATE: Final = ".jinja"


def render_templates(templates: Traversable, **values: Any) -> dict[str, bytes]:
    """Return the files of a folder of templates by name; a name without ``.jinja`` at its end is not rendered.

    :param values: the variables of the templates; each that a template uses is needed. In the name of a file, ``NAME`` between two
        underscores at each side is replaced by the variable ``name``.
    """
    from jinja2 import Environment, StrictUndefined  # noqa: PLC0415 - slow to import

    environment = Environment(  # noqa: S701 - the files are YAML and Python, not HTML
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    files = {}
    for name, entry in _files(templates):
        content = entry.read_bytes()
        if name.endswith(_TEMPLATE):
            content = environment.from_string(content.decode()).render(values).encode()
        for variable, value in values.items():
            name = name.replace(f"__{variable.upper()}__", str(value))  # noqa: PLW2901
        files[name.removesuffix(_TEMPLATE)] = content
    return files


def yaml_in_line(value: Any) -> str:
    """Return a value as YAML in one line; texts that a reader of YAML takes for something else are quoted."""
    import yaml  # noqa: PLC0415 - slow to import

    if isinstance(value, str):
        return yaml_in_line([value])[1:-1]
    text: str = yaml.safe_dump(value, default_flow_style=True, width=float("inf"), sort_keys=False)
    return text.strip()


def _files(folder: Traversable, above: str = "") -> list[tuple[str, Traversable]]:
    found = []
    for entry in sorted(folder.iterdir(), key=lambda each: each.name):
        if entry.is_dir():
            if entry.name != "__pycache__":
                found += _files(entry, f"{above}{entry.name}/")
        else:
            found.append((above + entry.name, entry))
    return found
