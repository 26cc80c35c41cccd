"""The golden corpus: values computed by HTCondor's own library (conformance/classad/README.md)."""

import gzip
import json
from functools import cache
from pathlib import Path

from negotiator.classad import ERROR, UNDEFINED, ParseError, parse, parse_ad, parse_old, unparse_value
from negotiator.classad.values import AbsTime, AdValue, ListValue, RelTime

CORPUS = Path(__file__).parent.parent / "conformance" / "classad"
AREAS = sorted(path.name.removesuffix(".jsonl.gz") for path in CORPUS.glob("*.jsonl.gz"))


@cache
def ads():
    """The ads that lines refer to by name."""
    texts = json.loads((CORPUS / "ads.json").read_text(encoding="utf-8"))
    return {f"@{name}": parse_ad(text) for name, text in texts.items()}


def ad(text):
    """The ad of a line: None, text, or the name of one."""
    if text is None:
        return None
    return ads()[text] if text.startswith("@") else parse_ad(text)


def lines(area):
    """The lines of an area that have one value only."""
    with gzip.open(CORPUS / f"{area}.jsonl.gz", "rt", encoding="utf-8") as file:
        for text in file:
            line = json.loads(text)
            if not line.get("nondet"):
                yield line


def tree(line):
    """The expression of a line, None where it is none."""
    try:
        return (parse_old if line.get("syntax") == "old" else parse)(line["expr"])
    except ParseError:
        return None


def recorded(value):
    """A value as the corpus writes it; where the evaluation failed there, ours is an error."""
    simple = {UNDEFINED: {"undefined": True}, ERROR: {"error": True}}
    match value:
        case bool() | int() | str():
            return value
        case float():
            return {"real": repr(value)}
        case RelTime(seconds):
            return {"reltime": repr(seconds)}
        case AbsTime():
            return {"abstime": unparse_value(value)}
        case ListValue():
            return {"text": unparse_value(value)}
        case AdValue():
            return {"ad": unparse_value(value)}
    return simple[value]


def expected(line):
    """The value of a line in the form that ``recorded`` gives."""
    value = line["value"]
    if not isinstance(value, dict):
        return value
    if "list" in value:
        return {"text": value["text"]}
    return {"error": True} if value.get("evalfail") else value


def same(one, other):
    """Whether two recorded values are equal, where 1 and true are not."""
    return type(one) is type(other) and one == other
