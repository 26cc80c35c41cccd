"""The exit codes of the program's commands. A code means the same in every command."""

from __future__ import annotations

import enum
from typing import Self


class ExitCode(enum.IntEnum):
    """How a command ended; ``meaning`` is one line for the command's help.

    74 and 75 are EX_IOERR and EX_TEMPFAIL of sysexits.h; 130 and 141 are 128 plus the number of the signal.
    """

    meaning: str

    DONE = 0, "done"
    NOT_DONE = 1, "the answer is no, or nothing was done"
    INVALID_CALL = 2, "invalid command line"
    AUDIT = 3, "the audit log could not be read or written"
    POOL = 4, "the pool could not be read"
    OUTCOME = 5, "matches were handed out, but their outcome could not be recorded"
    STATE = 6, "the state could not be read or written"
    PLUGIN = 7, "a plugin failed: the answer is incomplete or missing"
    CANNOT_PRINT = 74, "the output could not be written"
    PENDING = 75, "no answer yet: the negotiator will do it later"
    INTERRUPTED = 130, "interrupted"
    OUTPUT_CLOSED = 141, "the reader of the output closed it"

    def __new__(cls, value: int, meaning: str) -> Self:
        """Return the code of a number."""
        code = int.__new__(cls, value)
        code._value_ = value
        code.meaning = meaning
        return code
