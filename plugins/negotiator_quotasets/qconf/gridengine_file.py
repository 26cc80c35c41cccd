"""Changes of ``gridengine.yaml`` as a tree: unchanged entries keep their order and spelling, but comments are lost."""

from __future__ import annotations

from collections.abc import Container, Mapping

import yaml

from negotiator.plugin import CommandError
from negotiator_quotasets.qconf.context import QconfContext
from negotiator_quotasets.qconf.file_changes import FileWrite
from negotiator_quotasets.settings import QuotaSettings

FILE = "gridengine.yaml"
EMPTY = b"{}\n"
_WIDTH = 1 << 20  # lines are not broken
_LIST, _MAPPING = "tag:yaml.org,2002:seq", "tag:yaml.org,2002:map"


class GridEngineFile:
    """The tree of the file; empty if the file is missing."""

    def __init__(self, context: QconfContext, settings: QuotaSettings) -> None:
        """Read the file.

        :raises CommandError: the objects are declared in another file.
        """
        path = context.folder() / FILE
        source = settings.gridengine.source
        if not path.is_file() and source is not None and source.file != FILE:
            raise CommandError(
                f"gridengine is declared in {source.file}: move it to a file {FILE}, or change it there"
            )
        # The bundle is loaded: the file is a mapping, without anchors and of a bounded size.
        node = yaml.compose(path.read_text("utf-8-sig"), yaml.SafeLoader) if path.is_file() else None
        self.root = node if isinstance(node, yaml.MappingNode) else yaml.MappingNode(_MAPPING, [])

    def to_write(self) -> FileWrite:
        """Return the write of the changed file."""
        text: str = yaml.serialize(self.root, Dumper=yaml.SafeDumper, allow_unicode=True, width=_WIDTH)
        return FileWrite(FILE, text.encode())

    def remove(self, key: str, names: Container[str]) -> None:
        """Remove entries from a list of names, or from a mapping by name."""
        node = self._find(key)
        if isinstance(node, yaml.SequenceNode):
            node.value = [each for each in node.value if each.value not in names]
        elif isinstance(node, yaml.MappingNode):
            node.value = [(name, value) for name, value in node.value if name.value not in names]

    def mappings(self, key: str) -> list[yaml.MappingNode]:
        """Return the entries of a list of mappings."""
        node = self._find(key)
        return list(node.value) if isinstance(node, yaml.SequenceNode) else []

    def set_list(self, key: str, entries: list[yaml.MappingNode]) -> None:
        """Replace the entries of a list."""
        node = self._find(key)
        if isinstance(node, yaml.SequenceNode):
            node.value = entries
        else:
            self.root.value = [(name, value) for name, value in self.root.value if name.value != key]
            self.root.value.append((_scalar(key), yaml.SequenceNode(_LIST, entries)))
        self.root.flow_style = False

    def _find(self, key: str) -> yaml.Node | None:
        return next((value for name, value in self.root.value if name.value == key), None)


def new_mapping(values: Mapping[str, str]) -> yaml.MappingNode:
    """Return a mapping of strings."""
    return yaml.MappingNode(_MAPPING, [(_scalar(key), _scalar(value)) for key, value in values.items()])


def with_values(mapping: yaml.MappingNode, values: Mapping[str, str]) -> yaml.MappingNode:
    """Return a mapping with new values for some keys; unchanged values keep their spelling."""
    old_keys = {name.value for name, _ in mapping.value}
    changed = [
        (name, value if values.get(name.value, value.value) == value.value else _scalar(values[name.value]))
        for name, value in mapping.value
    ]
    new = [(_scalar(key), _scalar(value)) for key, value in values.items() if key not in old_keys]
    return yaml.MappingNode(_MAPPING, [*changed, *new], flow_style=mapping.flow_style)


def _scalar(text: str) -> yaml.ScalarNode:
    return yaml.ScalarNode("tag:yaml.org,2002:str", text)
