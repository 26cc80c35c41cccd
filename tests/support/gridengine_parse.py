"""Conformance cases of the language of resource quota sets: texts, accepted or refused.

``check_parse`` runs a case of parse.yaml, or one of spec_only.yaml about a text alone. It returns the difference from the
expected result, empty if there is none. ``conflicts_with_seed`` takes precedence over the recorded result:
``accept ...`` and ``reject ...``, and ``accept only VALUE; reject the rest`` for a family of values. ``AS_RECORDED`` lists the
texts that later sessions of Grid Engine use all the same.
"""

import re

from negotiator_quotasets.complexes import Complex, Complexes, ComplexType, Consumable, Relation, Requestable
from negotiator_quotasets.language import format_sets, parse_sets
from negotiator_quotasets.language.model import format_rule

#: Cases that say reject, and are accepted as Grid Engine does: real files have them.
AS_RECORDED = {
    "parse/setname-01": "names of sets have dots, as names of queues have",
    "parse/bad-lone-at": "@ is a group without members; check names it as unknown",
}
_CRASH = "critical error"
_ENABLED = re.compile(r"^\s*enabled\b", re.MULTILINE)


def complexes_of(entries):
    """Return the complexes of a recorded cluster, as env_std.yaml lists them."""
    return Complexes(
        Complex(
            entry["name"],
            entry["shortcut"],
            ComplexType(entry["type"]),
            Relation(entry["relop"]),
            Requestable(entry["requestable"]),
            Consumable(entry["consumable"]),
            str(entry["default"]),
        )
        for entry in entries
    )


def is_about_text(case):
    """True if a case of spec_only.yaml is about a text alone."""
    return "rulesets" in case and "accepted" in case["expect"]


def check_parse(case, complexes, hosts=None):
    """Return the difference from the expected result; empty if there is none."""
    parsed = parse_sets(case["rulesets"], "FILE", complexes, hosts=hosts, required=True)
    accepted = not parsed.problems
    messages = [problem.message for problem in parsed.problems]
    wanted = _wanted(case)
    if wanted == "optional":
        wanted = accepted
    if accepted != wanted:
        return f"accepted: {accepted}, expected {wanted} {messages}"
    if not accepted:
        return _refused(case, messages)
    return _differing_sets(case, parsed.sets, complexes)


def _wanted(case):
    """True if the text must be accepted."""
    conflict = str(case.get("conflicts_with_seed", ""))
    if case.get("id") in AS_RECORDED:
        return case["expect"]["accepted"]
    family = re.match(r"accept only (\S+);", conflict)
    if family:
        return f"={family[1]}\n" in case["rulesets"]
    if conflict.startswith("accept"):
        return True
    return False if conflict.startswith("reject") else case["expect"]["accepted"]


def _refused(case, messages):
    """Compare the message of a refused text with the recorded one, if Grid Engine refuses it for the same reason."""
    recorded = case["expect"].get("stderr", "")
    if "conflicts_with_seed" in case or "stderr" not in case["expect"] or recorded.startswith(_CRASH):
        return ""
    lines = list(dict.fromkeys(line.removeprefix("error: ") for line in recorded.splitlines()))
    return "" if messages[:1] == lines else f"message {messages}, expected {lines}"


def _differing_sets(case, sets, complexes):
    expect = case["expect"]
    printed = format_sets(sets)
    again = parse_sets(printed, "FILE", complexes)
    if again.problems or again.sets != sets:
        return f"not parsed back: {printed!r} gives {again}"
    if "enabled" in expect and any(set_.enabled != expect["enabled"] for set_ in sets):
        return f"enabled: {[set_.enabled for set_ in sets]}, expected {expect['enabled']}"
    rules = [format_rule(rule) for set_ in sets for rule in set_.rules]
    if "stored_rule" in expect and rules != [expect["stored_rule"]]:
        return f"rules {rules}, expected {expect['stored_rule']!r}"
    stored = expect.get("stored")
    if stored is None or not expect["accepted"] or not expect.get("roundtrip_stable", True):
        return ""
    if not _ENABLED.search(case["rulesets"]):  # the real default is FALSE, which the notes depart from
        stored = stored.replace("   enabled      FALSE\n", "   enabled      TRUE\n")
    return "" if printed == stored else f"stored {printed!r}, expected {stored!r}"
