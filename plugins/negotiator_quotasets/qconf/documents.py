"""``gridengine.yaml``, changed as a tree: what is not spoken of keeps its order and its spelling, but not its comments."""

from __future__ import annotations

from collections.abc import Container, Mapping

import yaml

from negotiator.plugin import CommandError
from negotiator_quotasets.qconf.context import QconfContext
from negotiator_quotasets.qconf.storage import Write
from negotiator_quotasets.settings import QuotaSettings

FILE = "gridengine.yaml"
EMPTY = b"{}\n"
_WIDTH = 1 << 20  # lines are not broken
_LIST, _MAPPING = "tag:yaml.org,2002:seq", "tag:yaml.org,2002:map"


class Document:
    """The tree of the file; an empty one where there is no file."""

    def __init__(self, desk: QconfContext, settings: QuotaSettings) -> None:
        """Read it.

        :raises CommandError: the objects are declared in another file.
        """
        path = desk.folder() / FILE
        source = settings.gridengine.source
        if not path.is_file() and source is not None and source.file != FILE:
            raise CommandError(
                f"gridengine stands in {source.file}: move it to a file {FILE}, or change it there"
            )
        # The bundle is loaded: the file is a mapping, without anchors and of a bounded size.
        node = yaml.compose(path.read_text("utf-8-sig"), yaml.SafeLoader) if path.is_file() else None
        self.root = node if isinstance(node, yaml.MappingNode) else yaml.MappingNode(_MAPPING, [])

    def written(self) -> Write:
        """The file as it is to be written."""
        text: str = yaml.serialize(self.root, Dumper=yaml.SafeDumper, allow_unicode=True, width=_WIDTH)
        return Write(FILE, text.encode())

    def remove(self, key: str, names: Container[str]) -> None:
        """Take entries out of a list of names, or out of a mapping by name."""
        held = self._find(key)
        if isinstance(held, yaml.SequenceNode):
            held.value = [each for each in held.value if each.value not in names]
        elif isinstance(held, yaml.MappingNode):
            held.value = [(name, value) for name, value in held.value if name.value not in names]

    def mappings(self, key: str) -> list[yaml.MappingNode]:
        """The entries of a list of mappings."""
        held = self._find(key)
        return list(held.value) if isinstance(held, yaml.SequenceNode) else []

    def set_list(self, key: str, entries: list[yaml.MappingNode]) -> None:
        """Give a list other entries."""
        held = self._find(key)
        if isinstance(held, yaml.SequenceNode):
            held.value = entries
        else:
            self.root.value = [(name, value) for name, value in self.root.value if name.value != key]
            self.root.value.append((_scalar(key), yaml.SequenceNode(_LIST, entries)))
        self.root.flow_style = False

    def _find(self, key: str) -> yaml.Node | None:
        return next((value for name, value in self.root.value if name.value == key), None)


def new_mapping(values: Mapping[str, str]) -> yaml.MappingNode:
    """A mapping of words."""
    return yaml.MappingNode(_MAPPING, [(_scalar(key), _scalar(value)) for key, value in values.items()])


def with_values(mapping: yaml.MappingNode, values: Mapping[str, str]) -> yaml.MappingNode:
    """A mapping with other words for some of its keys; those that say the same already stay as they are spelled."""
    there = {name.value: value for name, value in mapping.value}
    kept = [
        (name, value if values.get(name.value, value.value) == value.value else _scalar(values[name.value]))
        for name, value in mapping.value
    ]
    more = [(_scalar(key), _scalar(value)) for key, value in values.items() if key not in there]
    return yaml.MappingNode(_MAPPING, [*kept, *more], flow_style=mapping.flow_style)


def _scalar(text: str) -> yaml.ScalarNode:
    return yaml.ScalarNode("tag:yaml.org,2002:str", text)
