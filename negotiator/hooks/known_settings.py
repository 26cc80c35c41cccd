"""Settings of another program that a plugin knows by name: what they do here, or why they have no effect."""

from __future__ import annotations

import attrs


@attrs.frozen(kw_only=True)
class KnownSetting:
    """A setting of another program's configuration, such as HTCondor's, by which ``negotiator check`` explains it.

    ``name`` may be a pattern (``*`` and ``?`` as in ``fnmatch``; upper and lower case are equal); names take precedence over
    patterns, longer patterns over shorter ones. ``default`` is the value that the other program uses if it is not set: a setting
    with this value is not reported.

    ``plugin`` is the name of the plugin that reads the setting (``the core`` for this program itself). If no plugin does,
    ``reason`` says in one sentence why it has no effect, and ``hint`` what to write instead; ``decides`` is False if it never
    decided which job gets which slot, so that it is reported as a notice, not as a warning.
    """

    name: str
    default: str = ""
    plugin: str = ""
    reason: str = ""
    hint: str = ""
    decides: bool = True

    @property
    def is_pattern(self) -> bool:
        """True if the name stands for several settings."""
        return "*" in self.name or "?" in self.name
