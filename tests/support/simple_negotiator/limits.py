"""Concurrency limits (rules 41 to 43)."""

import re
from collections import Counter

NAME = re.compile(r"[a-z_]\w*(\.[a-z_]\w*)?")


def items(text):
    """Return the names and weights of a text (41)."""
    for part in re.split(r"[, ]+", text.lower()):
        name, _, weight = part.partition(":")
        if NAME.fullmatch(name):
            yield name, _weight(weight)


def _weight(text):
    try:
        weight = float(text)
    except ValueError:
        return 1.0
    return weight if weight > 0 else 1.0


class Limits:
    """What is in use of each limit."""

    def __init__(self, knobs, slots, records):
        self.knobs, self.in_use = knobs, Counter()
        for slot in slots:
            for attribute in ("ConcurrencyLimits", "PreemptingConcurrencyLimits"):
                self.add(slot.ad.string(attribute) or "")
            if slot.ad.string("State") == "Matched":
                record = records.get(slot.name, {})
                self.add(record.get("limits") or record.get("MatchedConcurrencyLimits") or "")

    def add(self, text):
        """Count the limits of a match; a name twice is counted twice."""
        for name, weight in items(text):
            self.in_use[name] += weight

    def reached(self, text):
        """Return the name of the first limit that a text would pass, None if there is none (42); the empty text passes none."""
        if not text:
            return ""
        for name, weight in items(text):
            if self.in_use[name] + weight > self._limit(name):
                return name
        return None

    def _limit(self, name):
        prefix = name.partition(".")[0]
        default = f"CONCURRENCY_LIMIT_DEFAULT_{prefix}" if "." in name else "CONCURRENCY_LIMIT_DEFAULT"
        for knob in (f"{name}_LIMIT", default, "CONCURRENCY_LIMIT_DEFAULT"):
            if (limit := self.knobs.number(knob)) is not None:
                return limit
        return 0
