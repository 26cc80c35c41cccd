"""Random calls of every function, with arguments of its kinds and sometimes of others."""

from hypothesis import strategies as st

NOT_COMPARED = frozenset({"time", "currenttime", "random", "daytime"})
"""The clock's and chance."""

OF_MOMENTS = frozenset({"splitTime", "formatTime"})
"""For distant times HTCondor reads uninitialised memory here: only near times are compared."""

SIGNATURES = {
    "x": "isUndefined isError isString isInteger isReal isBoolean isList isClassAd isAbsTime isRelTime int real string"
    " bool size toUpper toLower debug",
    "x n": "floor ceil ceiling round interval",
    "n n": "pow quantize",
    "n l": "quantize",
    "l": "sum avg min max join listToArgs",
    "l n": "listToArgs",
    "x l": "member identicalMember",
    "c l x": "anyCompare allCompare",
    "b x x": "ifThenElse",
    "x x": "strcat strcmp stricmp",
    "x x x": "strcat join",
    "s l": "join",
    "s n": "substr",
    "s n n": "substr",
    "p s": "regexp",
    "p s o": "regexp",
    "p l": "regexpMember",
    "p l o": "regexpMember",
    "p s t": "regexps replace replaceall",
    "p s t o": "regexps replace replaceall",
    "v v": "versioncmp versionLT versionLE versionGT versionGE versionEQ",
    "v v v": "version_in_range",
    "s i": "stringListMember stringListIMember",
    "s i d": "stringListMember stringListIMember",
    "i i": "stringListSubsetMatch stringListISubsetMatch stringListsIntersect",
    "i i d": "stringListSubsetMatch stringListISubsetMatch stringListsIntersect",
    "i": "stringListSize stringListSum stringListAvg stringListMin stringListMax",
    "i d": "stringListSize stringListSum stringListAvg stringListMin stringListMax split",
    "p i": "stringList_regexpMember",
    "p i d o": "stringList_regexpMember",
    "s": "split splitUserName splitSlotName userHome",
    "s x": "userHome userMap",
    "s s s x": "userMap",
    "e": "eval",
    "r": "unparse unresolved",
    "r p": "unresolved",
    "x a": "evalInEachContext countMatches",
    "T": "getYear getMonth getDayOfYear getDayOfMonth getDayOfWeek getDays getHours getMinutes getSeconds",
    "D": "absTime",
    "D z": "absTime",
    "u": "relTime",
    "m": "splitTime formatTime",
    "m f": "formatTime",
    "v": "envV1ToV2 argsToList mergeEnvironment",
    "w n": "argsToList",
    "w w": "mergeEnvironment",
    "": "timeZoneOffset",
}
"""Functions by the kinds of their arguments, of which ``arguments`` has an example or two each."""


def every_name():
    """Return the names of all functions that are called here, in lower case."""
    return {name.lower() for names in SIGNATURES.values() for name in names.split()}


def _texts(*texts):
    return st.sampled_from([f'"{text}"' for text in texts])


def _arguments(children, references):
    few = st.lists(children, max_size=3)
    return {
        "x": children,
        "b": children | st.sampled_from(["true", "0", "1.5", "undefined"]),
        "n": st.integers(-9, 9).map(str) | st.sampled_from(["2.5", "true", '"3.7"', "64", "-0.5"]),
        "l": few.map(lambda items: "{" + ", ".join(items) + "}")
        | st.sampled_from(["{1, 2.5, true}", '{"a", "B", ""}', "{3, A, undefined}", "L", "TARGET.L", "{}"]),
        "c": _texts("<", "<=", "==", "!=", ">=", ">", "is", "isnt", "=?="),
        "s": _texts("", "a", "aB_10", "A,b", "slot1@host", "a@b@c", "é", "  x ") | references,
        "p": _texts("a", "^A", "(a)(b)?", "[", "b*", "\\\\d+", ".*,", "é", "(?i)B$"),
        "t": _texts("", "x", "<\\\\0>", "\\\\1-\\\\2", "\\\\9", "\\\\"),
        "o": _texts("", "i", "g", "fm", "xs", "I"),
        "v": _texts("8.9.10", "8.10", "8.9.10a", "007", "", "A=1;B=2", "a 'b c' d", "A=1 B='x y'"),
        "w": _texts("A=1 B='x y'", "A=2", "a 'b c' d", "'", "  ", "a  b"),
        "i": _texts("a, B ,c", "1,2.5,-3", "", " , ", "10", "A;b", "1 2 3", "x,1"),
        "d": _texts(",", ";, ", "", " ", "x"),
        "e": _texts("A", "A + 1", "TARGET.B", "1 +", "MY.A is B", "{A}[0]", ""),
        "r": references,
        "a": st.sampled_from(["L", "{[A = 1; q = 2], Nested}", "{[B = A]}", "TARGET.L", "{}", "{MY, 1}"]),
        "m": st.sampled_from(
            ["0", "absTime(86400, 7200)", "-1", "relTime(-93784.5)", "1.5e9", "{}", "true", '"x"']
        ),
        "f": _texts("%Y-%m-%d %H:%M:%S", "%j %U %a %b %%", "", "%Q%5"),
        "T": st.sampled_from(["absTime(0, 3600)", "relTime(-93784.5)", "86400"]),
        "D": st.sampled_from(['"2003-01-25T09:00:00-06:30"', '"1999"', "86400", "relTime(30)", "1.5e9", "A"]),
        "z": st.sampled_from(["3600", "-86400", "0", "99999", "1.5", "B"]),
        "u": st.sampled_from(["-93784.5", "5000000000", "absTime(7)", "A", "true"]),
    }


def any_call(children, references):
    """Return a strategy for calls of every function except those in ``NOT_COMPARED``."""
    arguments = _arguments(children, references)
    shapes = [
        (name, [arguments[kind] for kind in kinds.split()])
        for kinds, names in SIGNATURES.items()
        for name in names.split()
    ]

    def call(shape):
        name, kinds = shape
        # Now and then an argument of another kind, and sometimes one is missing. A time written as a string is read by
        # the parser, which refuses what is none.
        other = children.map("({})".format) if name in {"absTime", "relTime"} else children
        given = st.tuples(*(kind if name in OF_MOMENTS else kind | kind | kind | other for kind in kinds))
        missing = [0] if name in {"absTime", "formatTime"} else [0] * 20 + [1]
        return st.builds(
            lambda values, count: f"{name}({', '.join(values[: len(values) - count])})",
            given,
            st.sampled_from(missing),
        )

    return st.sampled_from(shapes).flatmap(call)
