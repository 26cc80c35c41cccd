"""Values as YAML in one line."""

from __future__ import annotations

from typing import Any


def flow(value: Any) -> str:
    """Return a value as YAML in one line; texts that a reader of YAML takes for something else are quoted."""
    import yaml  # noqa: PLC0415 - slow to import

    if isinstance(value, str):
        return flow([value])[1:-1]
    text: str = yaml.safe_dump(value, default_flow_style=True, width=float("inf"), sort_keys=False)
    return text.strip()
