"""Random configurations, matches and reloads, charged through the hooks and the ledger, compared with a model."""

from collections import defaultdict

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from negotiator.queues import QueueConfig, QueueLimit
from negotiator.queues.checks.limits import SubjectKind
from yunikorn_replay import Replay

LEAVES = ("root.a.x", "root.a.made", "root.b")
CONFIGURED = ("root", "root.a", "root.a.x", "root.b")
MEMBERS = {"sue": ["dev", "ops"], "bob": ["ops"], "eve": []}
USERS = st.sampled_from(sorted(MEMBERS))
APPS = st.sampled_from(["one", "two"])
USAGE = st.dictionaries(st.sampled_from(["memory", "vcore"]), st.integers(0, 3))
AMOUNTS = st.dictionaries(st.sampled_from(["memory", "vcore"]), st.integers(0, 6), max_size=2)


def names(*known):
    """Some names, each with a limit of its own, the wildcard last."""
    named = st.lists(st.sampled_from(known), unique=True, max_size=2)
    return st.tuples(named, st.booleans()).map(lambda drawn: drawn[0] + ["*"] * drawn[1])


@st.composite
def configurations(draw):
    """By queue, the limits of users and of groups: (resources, applications) by name."""
    amounts = st.tuples(AMOUNTS, st.integers(0, 2))
    queues = {}
    for path in CONFIGURED:
        users, groups = draw(names("sue", "bob")), draw(names("dev", "ops"))
        queues[path] = (
            {name: draw(amounts) for name in users},
            {name: draw(amounts) for name in groups},
        )
    return queues


def root_of(queues):
    """The configuration as the program has it."""

    def queue(path, *children):
        users, groups = queues[path]
        limits = [QueueLimit((name,), (), *amounts, "") for name, amounts in users.items()]
        limits += [QueueLimit((), (name,), *amounts, "") for name, amounts in groups.items()]
        return QueueConfig(path, not children, limits=tuple(limits), children=children)

    return queue("root", queue("root.a", queue("root.a.x")), queue("root.b"))


def up(path):
    parts = path.split(".")
    return [".".join(parts[:count]) for count in range(len(parts), 0, -1)]


class Model:
    """All events, recounted for each question."""

    def __init__(self, queues):
        self.queues = queues
        self.group = {}  # of an application, from when it was first seen
        self.used = defaultdict(int)  # by application, leaf and resource
        self.running = defaultdict(set)  # by application the leaves

    def limited(self):
        return {name for _, groups in self.queues.values() for name in groups}

    def see(self, app, leaf):
        if app not in self.group or (self.group[app] and self.group[app] not in self.limited()):
            self.group[app] = self.resolved(app[0], leaf) or self.group.get(app, "")

    def resolved(self, user, leaf):
        for path in up(leaf) if MEMBERS[user] else []:
            groups = self.queues.get(path, ({}, {}))[1]
            for name in groups:
                if name in MEMBERS[user] or name == "*":
                    return name
        return ""

    def limit(self, kind, name, path):
        users, groups = self.queues.get(path, ({}, {}))
        if kind is SubjectKind.GROUP:
            return groups.get(name, ({}, 0))
        return users.get(name) or users.get("*") or ({}, 0)

    def apps(self, kind, name):
        mine = (
            (lambda app: app[0] == name)
            if kind is SubjectKind.USER
            else (lambda app: self.group[app] == name)
        )
        return [app for app in self.group if mine(app)]

    def usage(self, kind, name, path):
        apps, total = self.apps(kind, name), defaultdict(int)
        for (app, leaf, resource), amount in self.used.items():
            if app in apps and path in up(leaf):
                total[resource] += amount
        return {resource: amount for resource, amount in total.items() if amount}

    def applications(self, kind, name, path):
        return {app for app in self.apps(kind, name) if any(path in up(leaf) for leaf in self.running[app])}

    def levels(self, app, leaf):
        holders = [(SubjectKind.USER, app[0])] + [(SubjectKind.GROUP, self.group[app])] * bool(
            self.group[app]
        )
        return [(kind, name, path) for kind, name in holders for path in up(leaf)]

    def headroom(self, app, leaf):
        left = defaultdict(list)
        for kind, name, path in self.levels(app, leaf):
            for resource, most in self.limit(kind, name, path)[0].items():
                left[resource].append(most - self.usage(kind, name, path).get(resource, 0))
        return {resource: min(each) for resource, each in left.items()} or None

    def can_run(self, app, leaf):
        for level in self.levels(app, leaf):
            running = {name for _, name in self.applications(*level)}
            most = self.limit(*level)[1]
            if most and app[1] not in running and len(running) >= most:
                return False
        return True

    def add(self, app, leaf, usage, sign=1):
        for resource, amount in usage.items():
            self.used[app, leaf, resource] += sign * amount


def nodes(root):
    """Yield each queue of a usage tree with its path."""
    yield root["queuePath"], root
    for child in root.get("children", ()):
        yield from nodes(child)


class Limits(RuleBasedStateMachine):
    """One partition under random use."""

    @initialize(queues=configurations())
    def begin(self, queues):
        self.model = Model(queues)
        self.replay = Replay(root_of(queues))

    @rule(queues=configurations())
    def reload(self, queues):
        self.model.queues = queues
        self.replay.configure(root_of(queues))

    @rule(user=USERS, name=APPS, leaf=st.sampled_from(LEAVES), usage=USAGE)
    def increase(self, user, name, leaf, usage):
        self.model.see((user, name), leaf)
        self.replay.increase(user, MEMBERS[user], leaf, name, usage)
        self.charged((user, name), leaf, usage)

    @rule(user=USERS, name=APPS, leaf=st.sampled_from(LEAVES), usage=USAGE)
    def try_increase(self, user, name, leaf, usage):
        app = (user, name)
        self.model.see(app, leaf)
        left = self.model.headroom(app, leaf) or {}
        fits = all(not amount or amount <= left.get(resource, amount) for resource, amount in usage.items())
        allowed = fits and self.model.can_run(app, leaf)
        assert self.replay.try_increase(user, MEMBERS[user], leaf, name, usage) is allowed
        if allowed:
            self.charged(app, leaf, usage)

    @rule(user=USERS, name=APPS, leaf=st.sampled_from(LEAVES))
    def ask(self, user, name, leaf):
        app = (user, name)
        self.model.see(app, leaf)
        subject = (user, MEMBERS[user], leaf, name)
        assert self.replay.headroom(*subject) == self.model.headroom(app, leaf)
        assert self.replay.can_run(*subject) == self.model.can_run(app, leaf)

    @precondition(lambda self: any(self.model.running.values()))
    @rule(data=st.data(), usage=USAGE)
    def decrease(self, data, usage):
        """Perhaps by more than there is."""
        app, leaf = self.one(data)
        self.replay.decrease(app[0], leaf, app[1], usage)
        self.model.add(app, leaf, usage, -1)

    @precondition(lambda self: any(self.model.running.values()))
    @rule(data=st.data())
    def end(self, data):
        """With all that the application uses in the queue."""
        app, leaf = self.one(data)
        left = {name: self.model.used[app, leaf, name] for name in ("memory", "vcore")}
        owed = {name: -amount for name, amount in left.items() if amount < 0}
        self.replay.increase(app[0], MEMBERS[app[0]], leaf, app[1], owed)
        self.model.see(app, leaf)
        self.charged(app, leaf, owed)
        rest = {name: max(0, amount) for name, amount in left.items()}
        self.replay.decrease(app[0], leaf, app[1], rest, remove_app=True)
        self.model.add(app, leaf, rest, -1)
        self.model.running[app].discard(leaf)
        if not self.model.running[app]:
            del self.model.group[app], self.model.running[app]

    def one(self, data):
        """An application, and a leaf in which it runs."""
        pairs = [(app, leaf) for app, paths in self.model.running.items() for leaf in LEAVES if leaf in paths]
        return data.draw(st.sampled_from(sorted(pairs)))

    def charged(self, app, leaf, usage):
        self.model.add(app, leaf, usage)
        self.model.running[app].add(leaf)

    @invariant()
    def usage_is_what_happened(self):
        if not hasattr(self, "model"):
            return
        trees = [(SubjectKind.USER, user, self.replay.tree("users", user)) for user in MEMBERS]
        trees += [
            (SubjectKind.GROUP, group, self.replay.tree("groups", group)) for group in ("dev", "ops", "*")
        ]
        for kind, name, root in trees:
            nodes_by_path = dict(nodes(root)) if root else {}
            for path in {*CONFIGURED, *LEAVES}:
                node = nodes_by_path.get(path)
                if kind is SubjectKind.GROUP and name not in self.model.limited():
                    assert node is None
                    continue
                assert (node or {}).get("resourceUsage", {}) == self.model.usage(kind, name, path)
                running = {app for _, app in self.model.applications(kind, name, path)}
                assert set((node or {}).get("runningApplications", ())) == running
                if node:
                    limit = (node.get("maxResources", {}), node.get("maxApplications", 0))
                    assert limit == self.model.limit(kind, name, path)

    @invariant()
    def groups_are_kept(self):
        for app, group in getattr(self, "model", Model({})).group.items():
            assert self.replay.app_group(*app) == (group if group in self.model.limited() else "")


TestLimits = Limits.TestCase
TestLimits.settings = settings(max_examples=60, stateful_step_count=30)
