"""The version of HTCondor's protocol that this program speaks, as HTCondor's daemons and tools read it."""

from __future__ import annotations

import platform
from typing import Final

#: Peers choose the form of some messages by the number; it is that of the release whose protocol was verified.
VERSION: Final = "$CondorVersion: 25.14.1 2026-10-16 PackageID: negotiator $"
PLATFORM: Final = f"$CondorPlatform: {platform.machine()}-Python_{platform.python_version()} $"
