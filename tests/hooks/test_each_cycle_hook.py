"""Each hook of a negotiation cycle: its arguments and its records."""

from negotiator.hooks import specs
from negotiator.hooks.hook import per_plugin
from negotiator.plugin import (
    AdKind,
    CounterUsage,
    QueueNotice,
    Quota,
)
from negotiator.records import Mode, Verdict
from negotiator.testing import cycle_record, match, queues, request, summary, table

SLOTS = 'Name = "slot1@a"\nMachine = "a"\n\nName = "slot1@b"\nMachine = "b"'


def test_negotiator_gate_ads_gets_kind_table_and_cycle(plugins):
    """A gate gets all ads of a kind at once and returns a mask over them."""
    plugins.write(
        "stale.py",
        """
        @hookimpl
        def negotiator_gate_ads(kind, ads, cycle):
            if kind is AdKind.STARTD:
                stale = cycle.now - ads.numbers("LastHeardFrom", default=0) > 900
                yield Gate(rule="stale", discard=stale, code="stale", text="not heard from")
        """,
    )
    manager = plugins.load()
    ads = table("LastHeardFrom = 5000\n\nLastHeardFrom = 100\n\nMachine = 1")
    answers = manager.ask(
        specs.negotiator_gate_ads, kind=AdKind.STARTD, ads=ads, cycle=cycle_record(now=5010.0), settings={}
    )
    assert answers.records[0].record.discard.tolist() == [False, True, True]
    assert answers.records[0].record.verdict is Verdict.DENIED
    assert answers.records[0].record.mode is Mode.ENFORCE
    assert (
        manager.ask(
            specs.negotiator_gate_ads, kind=AdKind.JOB, ads=ads, cycle=cycle_record(now=5010.0), settings={}
        ).records
        == ()
    )


def test_negotiator_filter_slots_gets_request_slots_and_cycle(plugins):
    """A filter gets one request and all slots."""
    plugins.write(
        "owner.py",
        """
        @hookimpl
        def negotiator_filter_slots(request, slots, settings, cycle):
            owner = request.ad.string("Owner")
            yield Filter(rule="own", allow=slots.strings("Machine") == owner, code="own",
                         text=f"{settings} in cycle {cycle.number}")
        """,
    )
    answers = plugins.load().ask(
        specs.negotiator_filter_slots,
        request=request('Owner = "b"'),
        slots=table(SLOTS),
        cycle=cycle_record(number=4),
        settings={"owner": "s"},
    )
    (stamped,) = answers.records
    assert stamped.record.allow.tolist() == [False, True]
    assert stamped.record.text == "s in cycle 4"


def test_negotiator_score_slots_gets_request_slots_and_cycle(plugins):
    """The scores are numbers, one a slot."""
    plugins.write(
        "scores.py",
        """
        @hookimpl
        def negotiator_score_slots(request, slots, settings, cycle):
            yield Score(f"{settings} {cycle.number}", slots.numbers("Cpus", default=0) * request.count)
        """,
    )
    answers = plugins.load().ask(
        specs.negotiator_score_slots,
        request=request(count=2),
        slots=table("Cpus = 4\n\nMemory = 1"),
        cycle=cycle_record(number=4),
        settings={"scores": "s"},
    )
    assert answers.failures == ()
    (stamped,) = answers.records
    assert stamped.record.rule == "s 4"
    assert stamped.record.values.tolist() == [8.0, 0.0]


def test_negotiator_charges_gets_request_slots_queues_and_cycle(plugins):
    """The charges are returned as the plugin declares them."""
    plugins.write(
        "quota.py",
        """
        @hookimpl
        def negotiator_charges(request, slots, queues, settings, cycle):
            label = Quota(rule=f"{settings} {cycle.number}", text=request.user, resource="memory", scale=1024)
            yield Charge(("memory", request.group), request.resources["memory"], len(slots), label)
            yield KeyCharge((queues.get(request.queue).path,), request.applications, None, label)
        """,
    )
    charged_request = request(count=2, first_job="7.0", queue="root.a", group="dev", resources={"memory": 5})
    manager = plugins.load()
    answers = manager.ask(
        specs.negotiator_charges,
        request=charged_request,
        slots=table(SLOTS),
        queues=queues({"root.a": ""}),
        cycle=cycle_record(number=4),
        order="queues",
        settings={"quota": "mine"},
    )
    assert answers.failures == ()
    charge, key_charge = (stamped.record for stamped in answers.records)
    assert (charge.counter, charge.amount, charge.limit) == (("memory", "dev"), 5, 2)
    assert (key_charge.counter, key_charge.limit) == (("root.a",), None)
    assert key_charge.keys == ("schedd@example.org#7",) * 2
    assert charge.label == Quota(rule="mine 4", text="alice", resource="memory", scale=1024)
    assert (charge.label.code, charge.label.mode) == ("quota", Mode.ENFORCE)
    assert {(each.plugin, each.version) for each in answers.records} == {
        ("quota", manager.plugins[0].version)
    }


def test_negotiator_usage_gives_each_plugin_its_own_counters(plugins):
    """With the name of the report, the queues and its settings; a failure does not affect other plugins."""
    source = """
        @hookimpl
        def negotiator_usage(report, used, queues, settings):
            for key, amount in used.sums.items():
                yield {"of": key[0], "used": amount, "more": [report, len(queues), settings]}
        """
    for name in ("a", "c"):
        plugins.write(f"{name}.py", source)
    plugins.write("b.py", "@hookimpl\ndef negotiator_usage(): raise ValueError('no')\n")
    counted = {
        "a": CounterUsage({("x",): 1}, {}, {}),
        "b": CounterUsage({}, {}, {}),
        "c": CounterUsage({("y",): 2}, {}, {}),
    }
    answers = plugins.load().ask(
        specs.negotiator_usage,
        report="users",
        used=per_plugin(counted.get),
        queues=queues(),
        settings={"c": "mine"},
    )
    assert [(stamped.plugin, stamped.record) for stamped in answers.records] == [
        ("a", {"of": "x", "used": 1, "more": ["users", 1, None]}),
        ("c", {"of": "y", "used": 2, "more": ["users", 1, "mine"]}),
    ]
    assert [(failure.plugin, failure.message) for failure in answers.failures] == [("b", "ValueError: no")]


def test_negotiator_matches_made_gets_the_matches_as_a_tuple(plugins):
    """An observer cannot change them for the next one."""
    plugins.write(
        "a.py",
        """
        @hookimpl
        def negotiator_matches_made(matches):
            matches.clear()
        """,
    )
    output = plugins.write(
        "b.py",
        """
        from pathlib import Path
        @hookimpl
        def negotiator_matches_made(matches, cycle):
            Path(__file__).with_suffix(".txt").write_text(f"{cycle.number}: {[m.job for m in matches]}")
        """,
    ).with_suffix(".txt")
    made = [match(ordinal=1), match(ordinal=2)]
    failures = (
        plugins.load()
        .ask(specs.negotiator_matches_made, matches=tuple(made), cycle=cycle_record(number=3), settings={})
        .failures
    )
    assert [(failure.plugin, failure.message) for failure in failures] == [
        ("a", "AttributeError: 'tuple' object has no attribute 'clear'")
    ]
    assert output.read_text() == "3: ['1.0', '2.0']"
    assert len(made) == 2


def test_negotiator_cycle_ended_gets_the_summary(plugins):
    """An observer cannot change it for the next one."""
    plugins.write("a.py", "@hookimpl\ndef negotiator_cycle_ended(summary): summary.seconds['match'] = 0\n")
    output = plugins.write(
        "b.py",
        """
        from pathlib import Path
        @hookimpl
        def negotiator_cycle_ended(summary, settings, cycle):
            Path(__file__).with_suffix(".txt").write_text(f"{settings} {cycle.number} {summary.pairs} {summary.denials}")
        """,
    ).with_suffix(".txt")
    given = {"summary": summary([match()]), "cycle": cycle_record(number=3), "settings": {"b": "mine"}}
    (failure,) = plugins.load().ask(specs.negotiator_cycle_ended, **given).failures
    assert failure.message == "TypeError: 'mappingproxy' object does not support item assignment"
    assert output.read_text() == "mine 3 (('1.0', 'slot1@a'),) ()"


def test_negotiator_queues_changed_gets_the_changes_as_a_tuple(plugins):
    """Each observer gets all changes; a failure does not affect the others."""
    plugins.write("a.py", "@hookimpl\ndef negotiator_queues_changed(changes): changes.clear()\n")
    output = plugins.write(
        "b.py",
        """
        from pathlib import Path
        @hookimpl
        def negotiator_queues_changed(changes, settings, cycle):
            lines = [f"{settings} {cycle.number} {each.queue} {each.change} {each.owners}" for each in changes]
            Path(__file__).with_suffix(".txt").write_text("\\n".join(lines))
        """,
    ).with_suffix(".txt")
    changes = [QueueNotice("root.a", "draining", 3.0, ("bob",)), QueueNotice("root.b", "created", 4.0)]
    (failure,) = (
        plugins.load()
        .ask(
            specs.negotiator_queues_changed,
            changes=tuple(changes),
            cycle=cycle_record(number=3),
            settings={"b": "mine"},
        )
        .failures
    )
    assert (failure.plugin, failure.hook) == ("a", "negotiator_queues_changed")
    assert failure.message == "AttributeError: 'tuple' object has no attribute 'clear'"
    assert output.read_text() == "mine 3 root.a draining ('bob',)\nmine 3 root.b created ()"
    assert len(changes) == 2
