"""The texts of values, as condor_userprio prints them."""

from __future__ import annotations

import math
from collections.abc import Mapping

from negotiator.plugin import Ad, ClassAdValue, unparse_value


def as_sent(ad: Mapping[str, str | float]) -> Ad:
    """Return the ad of an entry as condor_userprio gets it: its reals have the digits of the long form."""
    return Ad(
        (name, float(real_text(value)) if isinstance(value, float) and math.isfinite(value) else value)
        for name, value in ad.items()
    )


def literal(value: ClassAdValue) -> str:
    """Return the text of a value in long form, where a quote is the one character that is escaped."""
    if isinstance(value, str):
        return '"' + value.replace('"', '\\"') + '"'
    if isinstance(value, float) and math.isfinite(value):
        return real_text(value)
    return unparse_value(value)


def real_text(value: float) -> str:
    """Return a real as HTCondor prints it: 16 significant digits, and a point or an exponent."""
    text = f"{value:.16G}"
    return text if "." in text or "E" in text else f"{text}.0"
