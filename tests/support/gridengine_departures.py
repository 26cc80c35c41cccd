"""The departures of qconf from the recorded transcripts: what is expected instead, and why.

Each departure is a function for a kind of commands; the first that applies counts. Afterwards the session continues from
the recorded state, which ``then`` restores.
"""

import re

import attrs

from negotiator_quotasets.language import format_sets

_DONE = re.compile(r'^\S+@\S+ (added|modified|removed) "([^"]*)" (?:to|in|from) [a-z ]+ list$')
_NOTICE = re.compile(r'^(No modification because|Unable to find|"[^"]*" does not exist in )')
_TEMPORARY = re.compile(r'^(?:error: )?error reading file: "/tmp/[^"]*"\n', re.MULTILINE)
_HOST = re.compile(r'(referenced in host )"[^"]*"')
_BLOCK = re.compile(r"^\{$(.*?)^\}$", re.MULTILINE | re.DOTALL)
_SHOWN = re.compile(r"^\{\n   name .*?^\}\n", re.MULTILINE | re.DOTALL)
_NAME = re.compile(r"^\s*name\s+(\S+)", re.MULTILINE)
_ENABLED = re.compile(r"^\s*enabled\b", re.MULTILINE)
_BARE_LIMIT = re.compile(r"^limit ((?:[^\s=,]+=[^\s=,]+,?)+)\s*$")
_LIMIT = re.compile(r"^( +limit .* to )(\S+)$", re.MULTILINE)
_LENIENT = re.compile(r"\r|[{,][ \t]+\S|[^ \t,{}][ \t]+[,}]")
_BY_GRAMMAR = re.compile(
    r" is not valid$|^no valid expanded list$|appears more than once|dynamic|filter$|value$|is after the limits"
    r"|^the description has|only character allowed|^unrecognized characters|should (?:begin|end) with|^unknown attribute"
)
_FURTHER = re.compile(r"^[^\n]+:\d+:\d+: error: [^\n]*\n", re.MULTILINE)
_TWICE = re.compile(r"\Aerror: ([^\n]*\n)\1")
_LIST = "resource quota set list"


@attrs.define
class Expected:
    """The expected output of a command; ``then`` restores the state that was recorded after it."""

    stdout: str
    stderr: str
    rc: int
    saw: str | None
    reason: str = ""
    unchanged: str | None = None  # the sets before, if nothing may be changed
    then: object = None
    cut: object = str  # returns the part of a text that is compared

    def compared(self, answer):
        """Yield the name, the actual and the expected value of each part."""
        # Grid Engine reports only the first problem of a text, sometimes twice; here further ones follow.
        out, err = answer.stdout, _FURTHER.sub("", _HOST.sub(r"\1*", answer.stderr))
        out, err = self.cut(out), self.cut(err)
        yield "stdout", out, self.stdout
        yield "stderr", err, _TWICE.sub(r"\1", _HOST.sub(r"\1*", self.stderr))
        yield "rc", answer.rc, self.rc
        yield "editor saw", answer.saw, self.saw

    def afterwards(self, session):
        """Check that nothing was changed if nothing may be, and restore the recorded state."""
        wrong = []
        if self.unchanged is not None and session.sets != self.unchanged:
            wrong = [f"  sets: {session.sets!r}, expected as before: {self.unchanged!r}"]
        if self.then is not None:
            self.then()
        return wrong


def is_done(entry):
    """True if a command changed something."""
    return any(map(_DONE.match, (entry["stdout"] + entry["stderr"]).splitlines()))


def expected(session, entry):
    """Return the expected output of an entry."""
    words = [word for word in _words(entry["command"]) if word]
    recorded = Expected(entry["stdout"], entry["stderr"], entry["rc"], entry.get("editor_saw"))
    _note_unspecified(session, entry, words)
    for departure in DEPARTURES:
        found = departure(session, entry, words, recorded)
        if found is not None:
            return found
    return recorded


def _words(command):
    from gridengine_sessions import words_of  # noqa: PLC0415 - the runner imports this module

    return words_of(command)[1:]


def deletes_all(session, entry, words, recorded):
    """``-drqs`` without a name deletes all sets, as the specification says; Grid Engine requires a name."""
    if words[:1] != ["-drqs"] or (len(words) > 1 and words[1] != "2"):
        return None
    before, line = session.sets, f"{entry['user']}@qm removed {_LIST}\n"
    joined = "2" in words
    return attrs.evolve(
        recorded,
        stdout=line if joined else "",
        stderr="" if joined else line,
        rc=0,
        reason=deletes_all.__doc__,
        then=lambda: setattr(session, "sets", before),
    )


def usage(_session, _entry, words, recorded):
    """The help lists the switches that exist here, and no version of Grid Engine."""
    if "\nusage: qconf" not in recorded.stdout + recorded.stderr or words[0] == "-help":
        return None
    stdout, stderr = map(_until_usage, (recorded.stdout, recorded.stderr))
    return attrs.evolve(recorded, stdout=stdout, stderr=stderr, cut=_until_usage, reason=usage.__doc__)


def _until_usage(text):
    """Return a text up to the first line of the help."""
    lines = [line for line in text.splitlines(keepends=True) if not line.startswith("SGE ")]
    ends = (number for number, line in enumerate(lines, 1) if line.startswith("usage:"))
    return "".join(lines[: next(ends, None)])


def adds_all_or_none(session, entry, words, recorded):
    """A list with an invalid set adds nothing and says why; Grid Engine adds the valid ones, and reports the first only.

    Of a list with a syntax error it adds nothing either.
    """
    if (
        words[0] != "-Arqs"
        or len(words) < 2
        or entry["user"] != "root"
        or not (session.cwd / words[1]).exists()
    ):
        return None
    parsed = session.parsed((session.cwd / words[1]).read_text())
    existing = {each.name for each in session.parsed(session.sets).sets}
    good = [each for each in parsed.sets if each.name not in existing]
    if len(parsed.sets) + len(parsed.problems) < 2 or (not parsed.problems and good == list(parsed.sets)):
        return None
    exists = [
        f'resource quota set "{each.name}" already exists' for each in parsed.sets if each.name in existing
    ]
    wrong = [each.message for each in parsed.problems] or exists
    result = attrs.evolve(recorded, unchanged=session.sets, reason=adds_all_or_none.__doc__)
    if "added" in recorded.stdout:
        result = attrs.evolve(result, stdout="", stderr=wrong[0] + "\n", rc=1)
    if not parsed.of_syntax:
        result.then = lambda: _append(session, good)
    return result


def reads_as_printed(session, entry, words, recorded):
    """Blanks in lists, sets on one line and CRLF are accepted, as the specification prints them; Grid Engine refuses them."""
    text = _file(session, words)
    if words[0] != "-Arqs" or recorded.rc == 0 or not _LENIENT.search(text) or entry["user"] != "root":
        return None
    parsed, before = session.parsed(text), session.sets
    existing = {each.name for each in session.parsed(before).sets}
    if parsed.problems or not parsed.sets or any(each.name in existing for each in parsed.sets):
        return None
    line = f'{entry["user"]}@qm added "{parsed.sets[0].name}" to {_LIST}\n'
    then = lambda: setattr(session, "sets", before)  # noqa: E731 - called later
    return attrs.evolve(recorded, stdout=line, stderr="", rc=0, reason=reads_as_printed.__doc__, then=then)


def refuses_by_grammar(session, entry, words, recorded):
    """Names, empty lists and formulas outside the specification's grammar are refused; Grid Engine accepts them."""
    if words[0] != "-Arqs" or "added" not in recorded.stdout or entry["user"] != "root":
        return None
    problems = session.parsed(_file(session, words)).problems
    if not problems or not _BY_GRAMMAR.search(problems[0].message):
        return None
    session.refused |= set(_NAME.findall(_file(session, words)))
    line = f"{problems[0].message}\n"
    return attrs.evolve(
        recorded, stdout="", stderr=line, rc=1, unchanged=session.sets, reason=refuses_by_grammar.__doc__
    )


def _file(session, words):
    path = session.cwd / words[1] if len(words) > 1 else session.cwd
    return path.read_bytes().decode() if path.is_file() else ""


def _append(session, sets):
    session.sets += format_sets(sets)


def replaces_the_list(_session, entry, words, recorded):
    """``-Mrqs FILE`` prints one line for the whole list; Grid Engine prints one for each set."""
    if words[0] != "-Mrqs" or len(words) != 2 or recorded.rc or not recorded.stderr:
        return None
    line = f"{entry['user']}@qm modified {_LIST}\n"
    return attrs.evolve(recorded, stderr=line, reason=replaces_the_list.__doc__)


def does_all_or_none(session, _entry, words, recorded):
    """A list of which one name, set or object is refused is refused whole; Grid Engine changes the rest."""
    lines = (recorded.stdout + recorded.stderr).splitlines()
    done = [found for found in map(_DONE.match, lines) if found]
    if not done or (recorded.rc == 0 and not any(line.startswith("denied:") for line in lines)):
        return None
    return attrs.evolve(
        recorded,
        stdout=_without_done(recorded.stdout),
        stderr=_without_done(recorded.stderr),
        rc=1,
        unchanged=session.sets,
        reason=does_all_or_none.__doc__,
        then=lambda: _do_a_part(session, words, [each.groups() for each in done]),
    )


def _without_done(text):
    left = [line for line in text.splitlines() if not _DONE.match(line) and not _NOTICE.match(line)]
    return "".join(f"{line}\n" for line in left)


def _do_a_part(session, words, done):
    """Make the part of the change that Grid Engine made."""
    if words[0] == "-drqs" or (words[0] == "-Mrqs" and len(words) > 2):
        for _, name in done:
            session.qconf([*words[:-1], name])
    elif words[0] == "-Mrqs":
        named = {name: verb for verb, name in done}
        left = [each for each in session.parsed(session.sets).sets if named.get(each.name) != "removed"]
        new = session.parsed((session.cwd / words[1]).read_text()).sets
        session.sets = ""
        _append(session, [*left, *(each for each in new if named.get(each.name) == "added")])
    elif words[0].endswith("attr"):
        head = 3 if words[0][1].isupper() else 4
        for each in words[head:]:
            session.qconf([*words[:head], each])


def stops_at_a_syntax_error(session, _entry, words, recorded):
    """A text with a syntax error is not read further; Grid Engine goes on, reports what follows from it, and may change sets."""
    if words[0] != "-Mrqs" or len(words) < 2 or not recorded.stderr:
        return None
    parsed = session.parsed(_file(session, words))
    first = f"{parsed.of_syntax[0].message}\n" if parsed.of_syntax else "none"
    if not recorded.stderr.startswith(first) or recorded.stderr == first:
        return None
    return attrs.evolve(
        recorded, stderr=first, rc=1, unchanged=session.sets, reason=stops_at_a_syntax_error.__doc__
    )


def bare_limits(session, entry, words, recorded):
    """A file may have ``limit slots=20`` as in the specification; Grid Engine requires ``limit to slots=20``."""
    if words[0] not in ("-Aattr", "-Dattr", "-Mattr", "-Rattr") or not recorded.stderr.startswith(
        "error: unknown attr"
    ):
        return None
    given = _BARE_LIMIT.match((session.cwd / words[2]).read_text())
    if given is None:
        return None
    before = session.sets
    return attrs.evolve(
        recorded,
        stdout=_messages(
            session, words[0][1].lower(), given[1].rstrip(",").split(","), words[3:], entry["user"]
        ),
        stderr="",
        rc=0,
        reason=bare_limits.__doc__,
        then=lambda: setattr(session, "sets", before),
    )


def shortcuts(session, entry, words, recorded):
    """A shortcut denotes its complex, so that no rule limits it twice; Grid Engine treats it as another one."""
    if words[0] not in ("-aattr", "-dattr", "-mattr") or words[2:3] != ["limit"] or recorded.rc:
        return None
    names = [each.partition("=")[0] for each in words[3].split(",")]
    known = session.engine.all_complexes
    if all((found := known.find(name)) is None or found.name == name for name in names):
        return None
    messages = _messages(session, words[0][1], words[3].split(","), words[4:], entry["user"])
    return attrs.evolve(recorded, stdout=messages, reason=shortcuts.__doc__)


def _messages(session, letter, given, objects, user):
    """Return the messages about changed limits."""
    known = session.engine.all_complexes
    names = [known.find(each.partition("=")[0]).name for each in given]
    sets = {each.name: each for each in session.parsed(session.sets).sets}
    lines = []
    for each in objects:
        name, _, rule = each.partition("/")
        rules = sets[name].rules
        found = [other for other in rules if other.name and other.name.lower() == rule.lower()]
        existing = {limit.resource for limit in (found[0] if found else rules[int(rule) - 1]).limits}
        lines += _lines(letter, names, existing)
        lines.append(f'{user}@qm modified "{name}" in {_LIST}')
    return "".join(f"{line}\n" for line in lines)


def _lines(letter, names, existing):
    of = 'in "resource_quota_rules" of "resource_quota"'
    if letter == "a":
        return [f'No modification because "{name}" already exists {of}' for name in names if name in existing]
    if letter == "d":
        return [f'"{name}" does not exist {of}' for name in names if name not in existing]
    new = [name for name in names if name not in existing] if letter == "m" else []
    return [f'Unable to find "{name}" {of} - Adding new element.' for name in new]


def no_temporary_file(_session, _entry, _words, recorded):
    """Values of the command line are parsed without a temporary file, so no message names one."""
    if not _TEMPORARY.search(recorded.stderr):
        return None
    return attrs.evolve(
        recorded, stderr=_TEMPORARY.sub("", recorded.stderr), reason=no_temporary_file.__doc__
    )


def shown_sets(session, _entry, words, recorded):
    """Sets are enabled by default and limit no resource twice; refused sets do not exist."""
    if words[0] not in ("-srqs", "-srqsl") or recorded.rc:
        return None
    if words[0] == "-srqsl":
        left = [name for name in recorded.stdout.splitlines() if name not in session.refused]
        text, none = "".join(f"{name}\n" for name in left), "no resource quota set list defined\n"
    else:
        text = _BLOCK.sub(lambda block: _as_enabled(block[0], session.unspecified), recorded.stdout)
        text = _SHOWN.sub(
            lambda block: "" if _NAME.findall(block[0])[0] in session.refused else block[0], text
        )
        text, none = _LIMIT.sub(_once_each, text), "No resource quota set found\n"
    here = attrs.evolve(recorded, stdout=text, reason=shown_sets.__doc__)
    return here if text else attrs.evolve(here, stderr=none, rc=1)


def _as_enabled(block, unspecified):
    name = _NAME.search(block)
    if name is None or name[1] not in unspecified:
        return block
    return block.replace("   enabled      FALSE\n", "   enabled      TRUE\n")


def _once_each(line):
    """Return a line with the later of two limits of one resource."""
    limits = line[2].split(",")
    left = [
        limit
        for place, limit in enumerate(limits)
        if limit.partition("=")[0] not in {other.partition("=")[0] for other in limits[place + 1 :]}
    ]
    return line[1] + ",".join(left)


def _note_unspecified(session, entry, words):
    """Remember the sets of texts without the attribute ``enabled``."""
    if words[:1] not in (["-Arqs"], ["-Mrqs"]) or entry["rc"] or len(words) < 2:
        return
    file = session.cwd / words[1]
    for block in _BLOCK.findall(file.read_text() if file.exists() else ""):
        name = _NAME.search(block)
        if name is not None:
            (session.unspecified.discard if _ENABLED.search(block) else session.unspecified.add)(name[1])


DEPARTURES = (
    deletes_all,
    usage,
    adds_all_or_none,
    reads_as_printed,
    refuses_by_grammar,
    replaces_the_list,
    stops_at_a_syntax_error,
    does_all_or_none,
    bare_limits,
    shortcuts,
    no_temporary_file,
    shown_sets,
)
