"""What the Python interface of ClassAds answers, in JSON: of HTCondor's ``classad2``, or of ``negotiator.classad``.

Each function has the module as its first parameter, so that both answer the same questions.
"""

import copy
import datetime as dt
import io
import math
import pickle
import struct

CONSTANTS = {
    "none": None,
    "date": dt.datetime(2020, 2, 29, 12, 30, 59, tzinfo=dt.UTC),
    "naive": dt.datetime(2020, 2, 29, 12, 30, 59, 999),  # noqa: DTZ001
    "bytes": b"a\xc3\xa9",
    "set": {1},
    "range": range(3),
    "bytearray": bytearray(b"x"),
    "complex": 1j,
    "object": object(),
    "timedelta": dt.timedelta(1),
}
"""Objects that JSON can't name; ``["constant", NAME]`` stands for one."""


def described(module, value):
    """Return a Python object of an answer in JSON, with its type."""
    if isinstance(value, module.ClassAd):
        return ["ad", repr(value)]
    if isinstance(value, module.ExprTree):
        return ["expression", repr(value)]
    if isinstance(value, module.Value):
        return ["value", value.name]
    if isinstance(value, dt.datetime):
        return ["datetime", value.isoformat()]
    if isinstance(value, float):
        return ["float", "nan" if math.isnan(value) else struct.pack(">d", value).hex()]
    if isinstance(value, list | tuple):
        return [type(value).__name__, [described(module, each) for each in value]]
    if (
        isinstance(value, str)
        and not value.isprintable()
        and any("\udc80" <= each <= "\udcff" for each in value)
    ):
        raise ValueError("HTCondor raises UnicodeDecodeError where we return the bytes")
    return [type(value).__name__, value]


def outcome(module, call):
    """Return what a call returns, or the kind of its exception."""
    try:
        return described(module, call())
    except (ValueError, OverflowError):
        return ["raises", "ValueError"]
    except (
        module.ClassAdException,
        SystemError,
    ):  # a SystemError is an exception that HTCondor forgot to return
        return ["raises", "ClassAdException"]
    except Exception as error:  # noqa: BLE001 - whatever a library raises
        return ["raises", type(error).__name__]


def interface(module, my, target, text):
    """Return the answers of each method of ClassAd and ExprTree for two ads and an expression, by name."""
    try:
        ad, other, expr = module.ClassAd(my), module.ClassAd(target), module.ExprTree(text)
    except module.ClassAdException:
        return None
    calls = {
        "list": lambda: list(ad),
        "len": lambda: len(ad),
        "items": lambda: list(ad.items()),
        "lookup": lambda: [ad.lookup(name) for name in ad],
        "eval": expr.eval,
        "eval(my)": lambda: expr.eval(ad),
        "eval(my, target)": lambda: expr.eval(ad, other),
        "eval(my, my)": lambda: expr.eval(ad, ad),
        "eval(target=)": lambda: expr.eval(target=other),
        "simplify": lambda: expr.simplify(ad, other),
        "flatten": lambda: ad.flatten(expr),
        # HTCondor cuts names at commas.
        "externalRefs": lambda: ",".join(ad.externalRefs(expr)),
        "internalRefs": lambda: ",".join(ad.internalRefs(expr)),
        "matches": lambda: ad.matches(other),
        "symmetricMatch": lambda: ad.symmetricMatch(other),
        "str": lambda: str(expr) + str(ad),
        "repr": lambda: repr(expr) + repr(ad),
        "printOld": ad.printOld,
        "printJson": ad.formatJson,
        "==": lambda: [
            ad == other,
            ad == module.ClassAd(my),
            expr == module.ExprTree(text),
            expr == ad.get("A"),
        ],
        "pickle": lambda: pickle.loads(pickle.dumps(ad)) == ad,  # noqa: S301
        "deepcopy": lambda: copy.deepcopy(ad) == ad,
        "parseOne": lambda: module.parseOne(ad.printOld() + "\n" + other.printOld()),
        "parseAds": lambda: list(module.parseAds("\n".join(repr(each) for each in (ad, other) if each))),
    }
    for name in [*ad, "nosuch"]:
        calls[f"{name}.eval"] = lambda name=name: ad.eval(name.swapcase())
    return {name: outcome(module, call) for name, call in calls.items()}


def equality(module, one, other):
    """Return whether two expressions are equal; None if one is invalid."""
    try:
        return module.ExprTree(one) == module.ExprTree(other)
    except module.ClassAdException:
        return None


def parsed(module, text, parser):
    """Return what each way to parse returns for a text."""
    parser = module.ParserType[parser]

    def from_file(call):
        file = io.StringIO(text)
        return [call(file), file.tell()]

    return {
        "parseOne": outcome(module, lambda: module.parseOne(text, parser)),
        "parseAds": outcome(module, lambda: list(module.parseAds(text, parser))),
        "parseNext": outcome(module, lambda: module.parseNext(text, parser)),
        "file": outcome(module, lambda: from_file(lambda file: list(module.parseAds(file, parser)))),
    }


def quoted(module, text):
    """Return a text in quotes, without its own quotes, and both one after the other."""
    return [
        outcome(module, lambda: module.quote(text)),
        outcome(module, lambda: module.unquote(text)),
        outcome(module, lambda: module.unquote(module.quote(text))),
    ]


def _object(module, value):
    """Return the Python object that JSON stands for."""
    if isinstance(value, dict):
        return {name: _object(module, each) for name, each in value.items()}
    if not isinstance(value, list):
        return value
    match value:
        case ["constant", name]:
            return CONSTANTS[name]
        case ["ad", text]:
            return module.ClassAd(text)
        case ["expression", text]:
            return module.ExprTree(text)
        case ["value", name]:
            return module.Value[name]
        case ["list", *items]:
            return [_object(module, each) for each in items]


def changed(module, steps):
    """Return an ad and the outcomes after each of some changes: ``[method, name, value]``."""
    ad = module.ClassAd()
    outcomes = []
    for method, *arguments in steps:
        objects = [_object(module, each) for each in arguments]
        outcomes.append(outcome(module, lambda method=method, objects=objects: getattr(ad, method)(*objects)))
        outcomes.append(outcome(module, lambda: [ad, list(ad), list(ad.values())]))
    return outcomes


def names(module):
    """Return the public names of the module, without those of its files, and of its classes."""
    return [
        *(name for name in dir(module) if not name.startswith("_") and name != "classad2_impl"),
        *(
            f"{each}.{name}"
            for each in ("ClassAd", "ExprTree")
            for name in vars(getattr(module, each))
            if name[0] != "_"
        ),
    ]
