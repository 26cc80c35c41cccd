"""Where qconf departs from what was recorded of Grid Engine's: what is expected instead, and why.

Each departure is a rule for a kind of commands, in the order in which they are tried; the first that applies counts. After
one of them, the session goes on from the state that the real one had: ``then`` makes it.
"""

import re

import attrs

from negotiator_quotasets.language import format_sets

_DONE = re.compile(r'^\S+@\S+ (added|modified|removed) "([^"]*)" (?:to|in|from) [a-z ]+ list$')
_TOLD = re.compile(r'^(No modification because|Unable to find|"[^"]*" does not exist in )')
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
    r" is not valid$|^no valid expanded list$|appears more than once|dynamic|filter$|value$|stands after the limits"
    r"|^the description has|only character allowed|^unrecognized characters|should (?:begin|end) with|^unknown attribute"
)
_FURTHER = re.compile(r"^[^\n]+:\d+:\d+: error: [^\n]*\n", re.MULTILINE)
_TWICE = re.compile(r"\Aerror: ([^\n]*\n)\1")
_LIST = "resource quota set list"


@attrs.define
class Expected:
    """What a command is to print; ``then`` brings about the state that was recorded after it."""

    stdout: str
    stderr: str
    rc: int
    saw: str | None
    reason: str = ""
    unchanged: str | None = None  # the sets before, where nothing may be changed
    then: object = None
    only: int | None = None  # lines that are compared

    def compared(self, answer):
        """Pairs of what came, and what was to come."""
        # Further faults of a text are told with their places; the real one stops at the first, and tells some of them twice.
        out, err = answer.stdout, _FURTHER.sub("", _HOST.sub(r"\1*", answer.stderr))
        if self.only is not None:
            out = "".join(out.splitlines(keepends=True)[: self.only])
        yield "stdout", out, self.stdout
        yield "stderr", err, _TWICE.sub(r"\1", _HOST.sub(r"\1*", self.stderr))
        yield "rc", answer.rc, self.rc
        yield "editor saw", answer.saw, self.saw

    def afterwards(self, session):
        """Look whether nothing was changed where nothing may be, and go on from the recorded state."""
        wrong = []
        if self.unchanged is not None and session.sets != self.unchanged:
            wrong = [f"  sets: {session.sets!r}, expected as before: {self.unchanged!r}"]
        if self.then is not None:
            self.then()
        return wrong


def is_done(entry):
    """Whether a command changed something."""
    return any(map(_DONE.match, (entry["stdout"] + entry["stderr"]).splitlines()))


def expected(session, entry):
    """What an entry is to give."""
    words = [word for word in _words(entry["command"]) if word]
    said = Expected(entry["stdout"], entry["stderr"], entry["rc"], entry.get("editor_saw"))
    _note_unsaid(session, entry, words)
    for departure in DEPARTURES:
        found = departure(session, entry, words, said)
        if found is not None:
            return found
    return said


def _words(command):
    from gridengine_sessions import words_of  # noqa: PLC0415 - the runner asks for what is expected

    return words_of(command)[1:]


def deletes_all(session, entry, words, said):
    """``-drqs`` without a name deletes all, as the specification says; the real one asks for a name."""
    if words[:1] != ["-drqs"] or (len(words) > 1 and words[1] != "2"):
        return None
    before, line = session.sets, f"{entry['user']}@qm removed {_LIST}\n"
    joined = "2" in words
    return attrs.evolve(
        said,
        stdout=line if joined else "",
        stderr="" if joined else line,
        rc=0,
        reason=deletes_all.__doc__,
        then=lambda: setattr(session, "sets", before),
    )


def usage(_session, _entry, words, said):
    """The help names the switches that there are here, and no version of Grid Engine."""
    if "\nusage: qconf" not in said.stdout + said.stderr or words[0] == "-help":
        return None
    lines = [line for line in said.stdout.splitlines(keepends=True) if not line.startswith("SGE ")]
    until = next(number for number, line in enumerate(lines, 1) if line.startswith("usage:"))
    return attrs.evolve(said, stdout="".join(lines[:until]), only=until, reason=usage.__doc__)


def adds_all_or_none(session, entry, words, said):
    """A list with a bad set adds nothing and says why; the real one adds the good ones, and tells of the first only."""
    if (
        words[0] != "-Arqs"
        or len(words) < 2
        or entry["user"] != "root"
        or not (session.cwd / words[1]).exists()
    ):
        return None
    parsed = session.parsed((session.cwd / words[1]).read_text())
    there = {each.name for each in session.parsed(session.sets).sets}
    good = [each for each in parsed.sets if each.name not in there]
    if len(parsed.sets) + len(parsed.problems) < 2 or (not parsed.problems and good == list(parsed.sets)):
        return None
    exists = [
        f'resource quota set "{each.name}" already exists' for each in parsed.sets if each.name in there
    ]
    wrong = [each.message for each in parsed.problems] or exists
    result = attrs.evolve(said, unchanged=session.sets, reason=adds_all_or_none.__doc__)
    if "added" in said.stdout:
        result = attrs.evolve(result, stdout="", stderr=wrong[0] + "\n", rc=1)
    result.then = lambda: _append(session, good)
    return result


def reads_as_printed(session, entry, words, said):
    """Blanks in lists, sets on one line and CRLF are read, as the specification prints them; the real one refuses them."""
    text = _file(session, words)
    if words[0] != "-Arqs" or said.rc == 0 or not _LENIENT.search(text) or entry["user"] != "root":
        return None
    parsed, before = session.parsed(text), session.sets
    there = {each.name for each in session.parsed(before).sets}
    if parsed.problems or not parsed.sets or any(each.name in there for each in parsed.sets):
        return None
    line = f'{entry["user"]}@qm added "{parsed.sets[0].name}" to {_LIST}\n'
    then = lambda: setattr(session, "sets", before)  # noqa: E731 - it is done later
    return attrs.evolve(said, stdout=line, stderr="", rc=0, reason=reads_as_printed.__doc__, then=then)


def refuses_by_grammar(session, entry, words, said):
    """Names, empty lists and formulas that the specification's grammar does not have are refused; the real one takes them."""
    if words[0] != "-Arqs" or "added" not in said.stdout or entry["user"] != "root":
        return None
    problems = session.parsed(_file(session, words)).problems
    if not problems or not _BY_GRAMMAR.search(problems[0].message):
        return None
    session.refused |= set(_NAME.findall(_file(session, words)))
    line = f"{problems[0].message}\n"
    return attrs.evolve(
        said, stdout="", stderr=line, rc=1, unchanged=session.sets, reason=refuses_by_grammar.__doc__
    )


def _file(session, words):
    path = session.cwd / words[1] if len(words) > 1 else session.cwd
    return path.read_bytes().decode() if path.is_file() else ""


def _append(session, sets):
    session.sets += format_sets(sets)


def replaces_the_list(_session, entry, words, said):
    """``-Mrqs FILE`` tells of the list as a whole; the real one has a line for each set."""
    if words[0] != "-Mrqs" or len(words) != 2 or said.rc or not said.stderr:
        return None
    line = f"{entry['user']}@qm modified {_LIST}\n"
    return attrs.evolve(said, stderr=line, reason=replaces_the_list.__doc__)


def does_all_or_none(session, _entry, words, said):
    """A list of names, sets or objects of which one is refused is refused whole; the real one does the rest."""
    lines = (said.stdout + said.stderr).splitlines()
    done = [found for found in map(_DONE.match, lines) if found]
    if not done or (said.rc == 0 and not any(line.startswith("denied:") for line in lines)):
        return None
    return attrs.evolve(
        said,
        stdout=_without_done(said.stdout),
        stderr=_without_done(said.stderr),
        rc=1,
        unchanged=session.sets,
        reason=does_all_or_none.__doc__,
        then=lambda: _do_a_part(session, words, [each.groups() for each in done]),
    )


def _without_done(text):
    kept = [line for line in text.splitlines() if not _DONE.match(line) and not _TOLD.match(line)]
    return "".join(f"{line}\n" for line in kept)


def _do_a_part(session, words, done):
    """Do what the real one did."""
    if words[0] == "-drqs" or (words[0] == "-Mrqs" and len(words) > 2):
        for _, name in done:
            session.qconf([*words[:-1], name])
    elif words[0] == "-Mrqs":
        named = {name: verb for verb, name in done}
        kept = [each for each in session.parsed(session.sets).sets if named.get(each.name) != "removed"]
        new = session.parsed((session.cwd / words[1]).read_text()).sets
        session.sets = ""
        _append(session, [*kept, *(each for each in new if named.get(each.name) == "added")])
    elif words[0].endswith("attr"):
        head = 3 if words[0][1].isupper() else 4
        for each in words[head:]:
            session.qconf([*words[:head], each])


def bare_limits(session, entry, words, said):
    """A file may say ``limit slots=20`` as the specification does; the real one wants ``limit to slots=20``."""
    if words[0] not in ("-Aattr", "-Dattr", "-Mattr", "-Rattr") or not said.stderr.startswith(
        "error: unknown attr"
    ):
        return None
    given = _BARE_LIMIT.match((session.cwd / words[2]).read_text())
    if given is None:
        return None
    before = session.sets
    return attrs.evolve(
        said,
        stdout=_told(session, words[0][1].lower(), given[1].rstrip(",").split(","), words[3:], entry["user"]),
        stderr="",
        rc=0,
        reason=bare_limits.__doc__,
        then=lambda: setattr(session, "sets", before),
    )


def shortcuts(session, entry, words, said):
    """A shortcut means its complex, so that no rule has a limit twice; the real one takes it for another one."""
    if words[0] not in ("-aattr", "-dattr", "-mattr") or words[2:3] != ["limit"] or said.rc:
        return None
    names = [each.partition("=")[0] for each in words[3].split(",")]
    known = session.engine.all_complexes
    if all((found := known.find(name)) is None or found.name == name for name in names):
        return None
    told = _told(session, words[0][1], words[3].split(","), words[4:], entry["user"])
    return attrs.evolve(said, stdout=told, reason=shortcuts.__doc__)


def _told(session, letter, given, objects, user):
    """What is printed where limits are changed."""
    known = session.engine.all_complexes
    names = [known.find(each.partition("=")[0]).name for each in given]
    sets = {each.name: each for each in session.parsed(session.sets).sets}
    lines = []
    for each in objects:
        name, _, rule = each.partition("/")
        rules = sets[name].rules
        found = [other for other in rules if other.name and other.name.lower() == rule.lower()]
        there = {limit.resource for limit in (found[0] if found else rules[int(rule) - 1]).limits}
        lines += _lines(letter, names, there)
        lines.append(f'{user}@qm modified "{name}" in {_LIST}')
    return "".join(f"{line}\n" for line in lines)


def _lines(letter, names, there):
    of = 'in "resource_quota_rules" of "resource_quota"'
    if letter == "a":
        return [f'No modification because "{name}" already exists {of}' for name in names if name in there]
    if letter == "d":
        return [f'"{name}" does not exist {of}' for name in names if name not in there]
    new = [name for name in names if name not in there] if letter == "m" else []
    return [f'Unable to find "{name}" {of} - Adding new element.' for name in new]


def no_temporary_file(_session, _entry, _words, said):
    """What stands on the command line is read there: there is no file of a name of its own to tell."""
    if not _TEMPORARY.search(said.stderr):
        return None
    return attrs.evolve(said, stderr=_TEMPORARY.sub("", said.stderr), reason=no_temporary_file.__doc__)


def shown_sets(session, _entry, words, said):
    """Sets are enabled where they do not say otherwise, have no limit twice, and those that were refused are not there."""
    if words[0] not in ("-srqs", "-srqsl") or said.rc:
        return None
    if words[0] == "-srqsl":
        kept = [name for name in said.stdout.splitlines() if name not in session.refused]
        text, none = "".join(f"{name}\n" for name in kept), "no resource quota set list defined\n"
    else:
        text = _BLOCK.sub(lambda block: _as_enabled(block[0], session.unsaid), said.stdout)
        text = _SHOWN.sub(
            lambda block: "" if _NAME.findall(block[0])[0] in session.refused else block[0], text
        )
        text, none = _LIMIT.sub(_once_each, text), "No resource quota set found\n"
    here = attrs.evolve(said, stdout=text, reason=shown_sets.__doc__)
    return here if text else attrs.evolve(here, stderr=none, rc=1)


def _as_enabled(block, unsaid):
    name = _NAME.search(block)
    if name is None or name[1] not in unsaid:
        return block
    return block.replace("   enabled      FALSE\n", "   enabled      TRUE\n")


def _once_each(line):
    """Of two limits of one resource, the later one."""
    limits = line[2].split(",")
    kept = [
        limit
        for place, limit in enumerate(limits)
        if limit.partition("=")[0] not in {other.partition("=")[0] for other in limits[place + 1 :]}
    ]
    return line[1] + ",".join(kept)


def _note_unsaid(session, entry, words):
    """Remember which sets come from texts that do not say whether they are enabled."""
    if words[:1] not in (["-Arqs"], ["-Mrqs"]) or entry["rc"] or len(words) < 2:
        return
    file = session.cwd / words[1]
    for block in _BLOCK.findall(file.read_text() if file.exists() else ""):
        name = _NAME.search(block)
        if name is not None:
            (session.unsaid.discard if _ENABLED.search(block) else session.unsaid.add)(name[1])


DEPARTURES = (
    deletes_all,
    usage,
    adds_all_or_none,
    reads_as_printed,
    refuses_by_grammar,
    replaces_the_list,
    does_all_or_none,
    bare_limits,
    shortcuts,
    no_temporary_file,
    shown_sets,
)
