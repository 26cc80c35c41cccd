"""The reference of reasons has every code that the program gives, and no other."""

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "reasons.md").read_text(encoding="utf-8")
#: The rooms that give reasons.
FOLDERS = ("negotiator/cycle", "negotiator/bundle", "negotiator/hooks", "plugins")
FILES = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))

#: Where a call has the code of a reason: the position of the argument, if it has no name.
CALLS = {
    "core_reason": 2,
    "Reason": 1,
    "WaitReason": 1,
    "WithheldSlots": 2,
    "_compared": 1,
    "_of_group": 1,
    "Gate": None,
    "Filter": None,
    "Charge": None,
    "KeyCharge": None,
    "Quota": None,
}
#: A method of one class only: it gives its reasons the first argument as their code.
PREEMPTION = ROOT / "negotiator" / "cycle" / "preemption.py"


def documented():
    """Return the codes of the tables, those that share a row too."""
    cells = re.findall(r"^\| (`[a-z_]+`(?:, `[a-z_]+`)*) \|", PAGE, re.MULTILINE)
    return [code for cell in cells for code in re.findall(r"`(\w+)`", cell)]


def positional(call):
    """Return the positional arguments of a call, with those of written tuples."""
    for argument in call.args:
        starred = isinstance(argument, ast.Starred) and isinstance(argument.value, ast.Tuple)
        yield from argument.value.elts if starred else [argument]


def code_argument(call, file):
    """Return the argument of a call that is the code of a reason, None if it has none."""
    name = getattr(call.func, "id", getattr(call.func, "attr", ""))
    place = 0 if name == "_reason" and file == PREEMPTION else CALLS.get(name)
    if name not in CALLS and place is None:
        return None
    named = [keyword.value for keyword in call.keywords if keyword.arg == "code"]
    given = list(positional(call))
    return named[0] if named else given[place] if place is not None and place < len(given) else None


def pattern(text):
    """Return the pattern of the codes that an f-string makes."""
    parts = [re.escape(part.value) if isinstance(part, ast.Constant) else "[a-z_]+" for part in text.values]
    return "".join(parts)


def choices(code):
    """Return the codes of a conditional expression, or the code itself."""
    return [code.body, code.orelse] if isinstance(code, ast.IfExp) else [code]


def given():
    """Return the patterns of all codes of reasons in the program, with their places; and all texts that may be codes."""
    codes, texts = defaultdict(list), set()
    for file in FILES:
        text = file.read_text("utf-8")
        if not re.search(rf"\b({'|'.join(CALLS)})\(|Verdict", text):
            continue
        tree = ast.parse(text)
        constants = {
            target.id: node.value
            for node in tree.body
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                texts.add(re.escape(node.value))
            if isinstance(node, ast.JoinedStr) and re.fullmatch(
                r"[a-z_+\[\]-]*_[a-z_+\[\]-]*", pattern(node)
            ):
                texts.add(pattern(node))
            found = code_argument(node, file) if isinstance(node, ast.Call) else None
            place = f"{file.relative_to(ROOT)}:{getattr(node, 'lineno', 0)}"
            for code in choices(constants.get(found.id, found) if isinstance(found, ast.Name) else found):
                if isinstance(code, ast.Constant):
                    codes[re.escape(str(code.value))].append(place)
                elif isinstance(code, ast.JoinedStr):
                    codes[pattern(code)].append(place)
    return codes, texts


CODES, TEXTS = given()


def test_the_codes_of_the_program_are_found():
    """Those of the core, of plugins, of tuples and of constants; a rename of a class must not empty the search."""
    assert {"in_use", "policy_gate", "shutdown", "share_used", "resource_quota", "slot_rank"} <= CODES.keys()
    assert len(CODES) >= 40


@pytest.mark.parametrize("code", sorted(CODES))
def test_every_code_is_documented(code):
    assert any(re.fullmatch(code, name) for name in documented()), CODES[code]


def test_every_documented_code_is_given():
    """As a text of the program, or made of one."""
    lost = [code for code in documented() if not any(re.fullmatch(text, code) for text in TEXTS)]
    assert lost == []


def test_each_code_is_documented_once():
    assert len(documented()) == len(set(documented()))
