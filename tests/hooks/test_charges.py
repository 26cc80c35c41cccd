"""Charges that plugins declare: invalid records are refused, valid ones are charged by the core."""

import pytest

import pools
from negotiator.hooks import specs
from negotiator.hooks.hook import per_plugin
from negotiator.plugin import CounterUsage
from negotiator.records import Mode, Verdict
from negotiator.testing import cycle_record, queues, request, table

SLOTS = table("Cpus = 1\n\nCpus = 2\n\nCpus = 3")
USED = CounterUsage({}, {}, {})

HEADER = "import attrs, numpy as np\nfrom negotiator.plugin import *\nfrom negotiator.records import Mode\n"
LABEL = "Quota(rule='r', text='jobs')"


def charge(**changed):
    """Return a Charge as text, with one field changed."""
    fields = {"counter": "('a',)", "amount": "1", "limit": "2", "label": LABEL} | changed
    return f"Charge({', '.join(f'{name}={value}' for name, value in fields.items())})"


def key_charge(**changed):
    """Return a KeyCharge as text, with one field changed."""
    fields = {"counter": "('a',)", "keys": "['x', 'y']", "limit": "2", "label": LABEL} | changed
    return f"KeyCharge({', '.join(f'{name}={value}' for name, value in fields.items())})"


def grouping(codes, keys="[('a',), ('b',)]"):
    """Return a Charge on a Grouping, as text."""
    return charge(counter=f"Grouping({codes}, {keys})")


def quota(field):
    """Return a Charge for a Quota as text, with one field changed."""
    return charge(label=f"Quota(**(dict(rule='r', text='t') | dict({field})))")


def charges_of(plugins, answer):
    """Return the answer of a plugin to a request of two jobs over three slots."""
    plugins.write("p.py", f"@hookimpl\ndef negotiator_charges(): return {answer}\n", HEADER)
    return plugins.load().ask(
        specs.negotiator_charges,
        request=request(count=2),
        slots=SLOTS,
        queues=queues(),
        cycle=cycle_record(),
        settings={},
    )


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        ("3", "a Charge or a KeyCharge, got int"),
        ("type('Mine', (Charge,), {})(('a',), 1, 2)", "a Charge or a KeyCharge, got Mine"),
        (charge(counter="'a'"), "a tuple of strings as counter, got str"),
        (charge(counter="()"), "a tuple of strings as counter, got tuple"),
        (charge(counter="('a', 3)"), "a tuple of strings as counter, got tuple"),
        (key_charge(counter="['a']"), "a tuple of strings as counter, got list"),
        (charge(amount="1.0"), "an integer as amount of a Charge, got float"),
        (charge(amount="True"), "an integer as amount of a Charge, got bool"),
        (charge(amount="None"), "an integer as amount of a Charge, got None"),
        (charge(amount="np.int64(1)"), "an integer as amount of a Charge, got int64"),
        (charge(amount="np.ones(3)"), "3 integers of 64 bits as amount of a Charge, got others"),
        (charge(amount="np.ones(2, np.int64)"), "3 integers of 64 bits as amount of a Charge, got others"),
        (
            charge(amount="np.ones((3, 1), np.int64)"),
            "3 integers of 64 bits as amount of a Charge, got others",
        ),
        (charge(amount="-1"), "0 or more as amount of a Charge, got -1"),
        (charge(amount="np.array([0, -2, 1])"), "0 or more as amount of a Charge, got -2"),
        (charge(amount="2**63"), "at most 2^63 - 1 as amount of a Charge, got more"),
        (charge(limit="'2'"), "an integer as limit of a Charge, got str"),
        (charge(limit="np.ones(3, np.int32)"), "3 integers of 64 bits as limit of a Charge, got others"),
        (key_charge(keys="['x', None]"), "strings as keys of a KeyCharge, got others"),
        (key_charge(limit="2.5"), "an integer as limit of a KeyCharge, got float"),
        (key_charge(keys="['x']"), "a key for each of 2 jobs, got 1"),
        (grouping("np.zeros(2, int)"), "a code for each of 3 slots in a Grouping, got 2"),
        (grouping("np.array([0, 1, 2])"), "codes from -1 to 1 in a Grouping, got others"),
        (grouping("np.array([0, 1, -2])"), "codes from -1 to 1 in a Grouping, got others"),
        (
            grouping("np.zeros(3, int)", "['ab']"),
            "tuples of strings, or a Family, as keys of a Grouping, got others",
        ),
        (grouping("np.zeros(3, int)", "Family('a', ['b'])"), "a tuple of strings as counter, got str"),
        (charge(label="None"), "a Quota as label of a Charge, got None"),
        (charge(label="'r'"), "a Quota as label of a Charge, got str"),
        (quota("rule=''"), "a rule of a Quota, got an empty string"),
        (quota("rule=3"), "a string as rule of a Quota, got int"),
        (quota("text=None"), "a string as text of a Quota, got None"),
        (quota("resource=5"), "a string as resource of a Quota, got int"),
        (quota("scale=0"), "an integer above 0 as scale of a Quota"),
        (quota("scale=0.5"), "an integer above 0 as scale of a Quota"),
        (quota("mode='warn'"), "a Mode as mode of a Quota, got str"),
        (quota("source='a:3'"), "a Source or None as source of a Quota, got str"),
    ],
)
def test_an_invalid_charge_is_a_failure_with_the_expected_value(plugins, record, expected):
    """One invalid record makes the whole answer invalid."""
    answers = charges_of(plugins, f"[{charge()}, {record}]")
    assert answers.records == ()
    assert [failure.message for failure in answers.failures] == [f"wrong answer: expected {expected}"]


@pytest.mark.parametrize(
    "record",
    [
        charge(limit="None"),
        charge(amount="0", limit="-1"),
        charge(amount="np.arange(3)", limit="np.full(3, 7)"),
        key_charge(limit="None"),
        key_charge(keys="('x', 'x', 'more than jobs')"),
        grouping("np.array([0, 1, -1])"),
        grouping("np.zeros(3, np.int8)", "Family(('jobs on',), ['a', 'b'])"),
        quota("resource='memory', scale=1000, mode=Mode.DRYRUN, code='c'"),
        charge(amount="2**63 - 1"),
        charge(amount="np.array([0, 2**63 - 1, 1])"),
    ],
)
def test_a_valid_charge_is_accepted(plugins, record):
    """One value or a column, with or without a limit, on one counter or many."""
    answers = charges_of(plugins, f"[{record}]")
    assert (len(answers.records), answers.failures) == (1, ())


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("3", "a dict, got int"),
        ("('user', 'bob')", "a dict, got tuple"),
        ("{'user': {'bob'}}", "values that JSON has, got Object of type set is not JSON serializable"),
        ("{'used': np.int64(3)}", "values that JSON has, got Object of type int64 is not JSON serializable"),
        (
            "{('root', 'a'): 3}",
            "values that JSON has, got keys must be str, int, float, bool or None, not tuple",
        ),
    ],
)
def test_an_entry_of_a_report_is_a_dict_of_json_values(plugins, entry, expected):
    """Other values are refused when the plugin returns them."""
    plugins.write("p.py", f"@hookimpl\ndef negotiator_usage(): return [{entry}]\n", HEADER)
    answers = plugins.load().ask(
        specs.negotiator_usage,
        report="users",
        used=per_plugin(lambda _: USED),
        queues=queues(),
        settings={},
    )
    assert answers.records == ()
    assert [failure.message for failure in answers.failures] == [f"wrong answer: expected {expected}"]


@pytest.mark.parametrize("number", ["float('nan')", "float('inf')"])
def test_a_number_that_json_lacks_is_refused_in_a_report(plugins, number):
    """Infinity and NaN."""
    plugins.write("p.py", f"@hookimpl\ndef negotiator_usage(): yield {{'used': {number}}}\n", HEADER)
    (failure,) = (
        plugins.load()
        .ask(
            specs.negotiator_usage,
            report="users",
            used=per_plugin(lambda _: USED),
            queues=queues(),
            settings={},
        )
        .failures
    )
    assert failure.message.startswith("wrong answer: expected values that JSON has, got ")


def plugin(*records):
    """Return the text of a plugin that charges each request this way."""
    lines = "".join(f"    yield {record}\n" for record in records)
    reads = "@hookimpl\ndef negotiator_job_attributes(): return []\n"
    return f"{HEADER}{reads}@hookimpl\ndef negotiator_charges(request, slots):\n{lines}"


class TestInACycle:
    """Four jobs of one application, four slots on two machines."""

    def run(self, folder, running=0, jobs=4, **sources):
        """Run one cycle with these plugins; the first jobs are running."""
        bundle = pools.write_bundle(folder / "bundle", plugins=sources)
        ads = [
            pools.job(
                number, **({"JobStatus": "2", "RemoteHost": f'"s{number}@h"'} if number < running else {})
            )
            for number in range(jobs)
        ]
        slots = [
            pools.slot(
                number, Machine=f'"m{number // 2}"', State='"Claimed"' if number < running else '"Unclaimed"'
            )
            for number in range(4)
        ]
        return pools.cycle(pools.snapshot(slots, ads), bundle)

    def quota_reasons(self, result):
        """Return the verdict and the text of each reason of a quota."""
        return [
            (removal.reason.verdict, removal.reason.text)
            for outcome in result.outcomes
            for removal in outcome.removals
            if removal.reason.code == "quota"
        ]

    def test_as_many_are_matched_as_fit(self, tmp_path):
        result = self.run(tmp_path, p=plugin(charge(limit="3")))
        assert len(result.matches) == 3
        assert self.quota_reasons(result) == [(Verdict.WAITING, "jobs: uses 3, needs 1, may have 3")]

    def test_a_charge_that_can_never_fit_is_denied(self, tmp_path):
        result = self.run(tmp_path, p=plugin(charge(amount="5", limit="3")))
        assert self.quota_reasons(result) == [(Verdict.DENIED, "jobs: uses 0, needs 5, may have 3")]

    def test_numbers_are_printed_in_units_for_people(self, tmp_path):
        label = "Quota(rule='r', text='halves', scale=1000)"
        result = self.run(tmp_path, p=plugin(charge(amount="1500", limit="2500", label=label)))
        assert self.quota_reasons(result) == [(Verdict.WAITING, "halves: uses 1.5, needs 1.5, may have 2.5")]

    def test_a_plugin_cannot_charge_the_counters_of_another(self, tmp_path):
        """Two plugins with the same name of a counter have one each."""
        one = plugin(charge(amount="1", limit="4"))
        assert len(self.run(tmp_path, a=one, b=one).matches) == 4

    def test_the_charges_of_all_plugins_apply(self, tmp_path):
        result = self.run(tmp_path, a=plugin(charge(limit="3")), b=plugin(charge(limit="2")))
        assert len(result.matches) == 2

    def test_a_match_that_one_charge_refuses_is_not_charged_at_all(self, tmp_path):
        result = self.run(tmp_path, a=plugin(charge(limit="9")), b=plugin(charge(amount="2", limit="3")))
        assert dict(result.ledger.counters()) == {("a", "a"): 1, ("b", "a"): 2}

    def test_jobs_that_run_count_by_the_same_hook(self, tmp_path):
        result = self.run(tmp_path, running=2, p=plugin(charge(limit="3")))
        assert len(result.matches) == 1
        assert self.quota_reasons(result) == [(Verdict.WAITING, "jobs: uses 3, needs 1, may have 3")]

    def test_running_jobs_count_beyond_the_limit(self, tmp_path):
        result = self.run(tmp_path, running=2, p=plugin(charge(limit="1")))
        assert self.quota_reasons(result) == [(Verdict.WAITING, "jobs: uses 2, needs 1, may have 1")]

    def test_a_grouping_counts_the_slots_of_each_machine_separately(self, tmp_path):
        codes = "np.unique(slots.strings('Machine').astype(str), return_inverse=True)[1]"
        source = plugin(charge(counter=f"Grouping({codes}, Family(('m',), ['m0', 'm1']))", limit="1"))
        assert [match.slot for match in self.run(tmp_path, p=source).matches] == ["s0@h", "s2@h"]

    def test_a_slot_of_code_minus_one_is_not_charged(self, tmp_path):
        codes = "np.array([0, 0, -1, -1])"
        source = plugin(charge(counter=f"Grouping({codes}, [('m0',)])", limit="0"))
        assert [match.slot for match in self.run(tmp_path, p=source).matches] == ["s2@h", "s3@h"]

    def test_a_column_has_an_amount_for_each_slot(self, tmp_path):
        source = plugin(charge(amount="np.array([9, 1, 9, 1])", limit="2"))
        assert [match.slot for match in self.run(tmp_path, p=source).matches] == ["s1@h", "s3@h"]

    def test_a_key_already_in_the_set_costs_nothing(self, tmp_path):
        """All jobs are of one application."""
        source = plugin(key_charge(keys="request.applications", limit="1"))
        assert len(self.run(tmp_path, p=source).matches) == 4
        none = plugin(key_charge(keys="request.applications", limit="0"))
        assert len(self.run(tmp_path / "none", p=none).matches) == 0

    def test_a_charge_without_a_limit_only_counts(self, tmp_path):
        result = self.run(tmp_path, p=plugin(charge(amount="7", limit="None")))
        assert dict(result.ledger.counters()) == {("p", "a"): 28}

    @pytest.mark.parametrize("mode", [Mode.WARN, Mode.DRYRUN])
    def test_charges_that_do_not_enforce_use_shadow_counters_and_give_warnings(self, tmp_path, mode):
        """The first three fit; an enforcing quota on a counter of the same name is not affected."""
        label = f"Quota(rule='r', text='jobs', mode=Mode.{mode.name})"
        result = self.run(tmp_path, running=1, p=plugin(charge(limit="3", label=label), charge(limit="9")))
        assert [len(match.warnings) for match in result.matches] == [0, 0, 1]
        (warning,) = result.matches[2].warnings
        assert (warning.mode, warning.text) == (mode, "jobs: uses 4, needs 1, may have 3")
        for counters in (result.ledger.counters(mode), result.ledger.counters()):
            assert {key: value for key, value in counters if key[0] == "p"} == {("p", "a"): 4}

    def test_a_plugin_that_fails_gives_no_match_and_is_named_once(self, tmp_path):
        source = f"{HEADER}@hookimpl\ndef negotiator_charges(): raise ValueError('no')\n"
        result = self.run(tmp_path, running=1, p=source)
        assert not result.matches
        assert [(failure.plugin, failure.message) for failure in result.failures] == [("p", "ValueError: no")]

    def test_a_job_without_a_limited_amount_gets_no_slot(self, tmp_path):
        """A charge of 0 for a missing amount is refused; without a limit the job is matched."""
        label = "Quota(rule='r', text='t', resource='memory')"
        result = self.run(tmp_path, p=plugin(charge(amount="0", label=label)))
        assert not result.matches
        assert pools.reasons(result) == {"amount_unknown"}
        counted = plugin(charge(amount="0", limit="None", label=label))
        assert len(self.run(tmp_path / "counted", p=counted).matches) == 4
