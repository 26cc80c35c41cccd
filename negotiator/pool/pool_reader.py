"""Reads a pool again and again, for one cycle after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import attrs

from negotiator.pool.input_files import HashedStream, InputFile, find_inputs
from negotiator.pool.limits import BLOCK
from negotiator.pool.reading import read_inputs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from typing import BinaryIO

    from negotiator.pool.input_files import FileState, Input
    from negotiator.pool.snapshot import Snapshot


@attrs.define(eq=False)
class PoolReader:
    """Reads the pool from folders, files and standard input, as ``read_pool`` does.

    While no file has changed, the ads that were read before are used again: a file is compared by its size, the time of
    its last change and a digest of all its bytes. Standard input is read once: later snapshots have its ads again.
    """

    paths: Sequence[Path | Literal["-"]]
    stdin: BinaryIO | None = None
    _inputs: Sequence[Input] = attrs.field(default=(), init=False)
    _states: Mapping[InputFile, FileState] = attrs.field(factory=dict, init=False)
    _snapshot: Snapshot | None = attrs.field(default=None, init=False)

    def read(self) -> Snapshot:
        """Return the current pool: the same snapshot as before if nothing has changed.

        :raises PoolError: a path does not exist.
        """
        if self._snapshot is not None and "-" in self.paths:
            return self._snapshot
        inputs = list(find_inputs(self.paths))
        if self._snapshot is None or not self._are_unchanged(inputs):
            self._snapshot = None  # its memory is free for the new one
            states: dict[InputFile, FileState] = {}
            snapshot = read_inputs(inputs, self.stdin, states).snapshot()
            self._inputs, self._states, self._snapshot = inputs, states, snapshot
        return self._snapshot

    def _are_unchanged(self, inputs: Sequence[Input]) -> bool:
        files = [each for each in inputs if isinstance(each, InputFile)]
        known = inputs == self._inputs and all(each in self._states for each in files)
        return known and all(self._is_unchanged(each) for each in files)

    def _is_unchanged(self, file: InputFile) -> bool:
        before = self._states[file]
        try:
            with file.open(None) as opened:
                stream = HashedStream(opened)
                if stream.status != before.status:
                    return False
                while stream.read(BLOCK):
                    pass
                return stream.state() == before
        except OSError:
            return False
