"""A plugin reads of jobs what it declared; anything else is an error that names the attribute, and nothing is matched by it."""

import pytest

from negotiator.errors import PluginFailureError
from negotiator.plugin import (
    AdKind,
    Filter,
    Gate,
    RequestOrder,
    RequestOrderType,
    Side,
    evaluate_table,
    hookimpl,
    parse,
)
from negotiator.testing import call, cycle, request, table
from negotiator.testing.calls import PluginFailedError

SLOTS = 'Name = "a"\nCpus = 4\n\nName = "b"\nCpus = 8'

#: Ways to read the attribute Project of a request.
READS = {
    "get": lambda ad, _: ad.get("Project"),
    "in": lambda ad, _: "Project" in ad,
    "default": lambda ad, _: ad.string("Project", default="none"),
    "evaluate": lambda ad, _: ad.evaluate("Project"),
    "case": lambda ad, _: ad.string("PROJECT"),
    "project": lambda ad, _: ad.project(["project"]),
    "copy": lambda ad, _: ad.with_items([("x", parse("MY.Project"))]).evaluate("x"),
    "replaced": lambda ad, _: ad.replaced({"x": 1}).string("Project"),
    "of the job": lambda ad, slots: evaluate_table(
        parse("isUndefined(MY.Project) || TARGET.Cpus > 2"), slots, ad, side=Side.TARGET
    ),
    "of the slot": lambda ad, slots: evaluate_table(parse('TARGET.Project =?= "x"'), slots, ad),
    "unscoped": lambda ad, slots: evaluate_table(parse("Project ?: true"), slots, ad),
    "by a function": lambda ad, slots: evaluate_table(parse("strcat(TARGET.Project, 1)"), slots, ad),
}


def policy(read, declared=("Owner", "RequestCpus"), *, swallow=False):
    class Policy:
        @hookimpl
        def negotiator_job_attributes(self):
            return declared

        @hookimpl
        def negotiator_filter_slots(self, request, slots):
            try:
                read(request.ad, slots)
            except Exception:
                if not swallow:
                    raise
            yield Filter(rule="all", allow=slots.numbers("Cpus") > 0, code="all", text="all")

    return Policy()


def error_of(plugin, job='Owner = "alice"\nRequestCpus = 1\nProject = "x"'):
    with pytest.raises(PluginFailedError) as failed:
        call(plugin, "negotiator_filter_slots", request=request(job), slots=table(SLOTS))
    return str(failed.value)


@pytest.mark.parametrize("way", READS)
@pytest.mark.parametrize(
    "job", ['Project = "x"\nOwner = "alice"', 'Owner = "alice"'], ids=["present", "absent"]
)
def test_every_way_to_read_an_undeclared_attribute_is_an_error(way, job):
    message = error_of(policy(READS[way]), job)
    assert "negotiator_filter_slots: UndeclaredReadError: " in message
    assert '"project"' in message.lower()
    assert "plugin tested does not declare it" in message
    assert "to negotiator_job_attributes" in message


@pytest.mark.parametrize("way", READS)
def test_declared_attributes_are_read_in_each_of_these_ways(way):
    job = 'Owner = "alice"\nProject = "x"'
    (answer,) = call(
        policy(READS[way], ["project"]), "negotiator_filter_slots", request=request(job), slots=table(SLOTS)
    )
    assert answer.rule == "all"


def test_the_error_names_the_attribute_as_the_plugin_spells_it():
    assert 'add "Project" to negotiator_job_attributes' in error_of(policy(READS["of the slot"]))


def test_an_error_that_the_plugin_catches_is_an_error_all_the_same():
    assert "UndeclaredReadError" in error_of(policy(READS["get"], swallow=True))


def test_iteration_shows_the_declared_attributes_and_those_that_they_refer_to():
    seen = []
    plugin = policy(lambda ad, _: seen.append((sorted(ad), len(ad), ad.integer("RequestCpus"))))
    job = 'Owner = "alice"\nRequestCpus = MinCpus * 2\nMinCpus = 3\nProject = "x"'
    call(plugin, "negotiator_filter_slots", request=request(job), slots=table(SLOTS))
    assert seen == [(["MinCpus", "Owner", "RequestCpus"], 3, 6)]


def test_a_declared_attribute_may_lead_through_the_slot_back_to_the_job():
    slots = table('Name = "a"\nBound = TARGET.Project')
    found = []
    plugin = policy(
        lambda ad, slots: found.extend(
            evaluate_table(parse("MY.RequestCpus"), slots, ad, side=Side.TARGET).values([0])
        )
    )
    job = 'RequestCpus = TARGET.Bound\nProject = "x"'
    call(plugin, "negotiator_filter_slots", request=request(job), slots=slots)
    assert found == ["x"]


def test_a_plugin_that_declares_nothing_reads_everything():
    class Policy:
        @hookimpl
        def negotiator_filter_slots(self, request, slots):
            project = request.ad.string("Project")
            yield Filter(rule="x", allow=slots.numbers("Cpus") > (4 if project else 0), code="x", text="x")

    result = cycle(SLOTS, 'Project = "x"\n\nRequestCpus = 1', plugins=[Policy()])
    assert set(result.pairs) == {("1.0", "b"), ("1.1", "a")}


def test_in_a_cycle_the_request_gets_no_match_whatever_other_plugins_declare():
    class Other:
        @hookimpl
        def negotiator_job_attributes(self):
            return ["Project"]

        @hookimpl
        def negotiator_filter_slots(self, request):
            request.ad.string("Project")
            return []

    result = cycle(SLOTS, 'Project = "x"', plugins=[policy(READS["get"]), Other()])
    assert result.pairs == ()
    (failure,) = result.failures
    assert (failure.plugin, failure.hook) == ("Policy", "negotiator_filter_slots")
    assert 'add "Project" to negotiator_job_attributes' in failure.message
    assert "plugin_error" in result.denials[0].codes


def test_charges_and_observers():
    seen = []

    class Policy:
        @hookimpl
        def negotiator_job_attributes(self):
            return []

        @hookimpl
        def negotiator_charges(self, request):
            request.ad.integer("RequestGpus")
            return []

        @hookimpl
        def negotiator_cycle_ended(self, summary):
            seen.extend(summary.denials)

    result = cycle(SLOTS, "RequestCpus = 1", plugins=[Policy()])
    (failure,) = result.failures
    assert (failure.hook, '"RequestGpus"' in failure.message) == ("negotiator_charges", True)
    assert len(seen) == 1


def gate(read):
    class Gates:
        @hookimpl
        def negotiator_gate_attributes(self):
            return ["Owner", "Colour"]

        @hookimpl
        def negotiator_gate_ads(self, kind, ads):
            if kind is AdKind.JOB:
                read(ads)
            elif kind is AdKind.STARTD:  # only jobs are limited
                yield Gate(rule="few", discard=ads.numbers("Cpus") > 4, code="few", text="too large")

    return Gates()


@pytest.mark.parametrize(
    "read",
    [
        lambda ads: ads.strings("Project"),
        lambda ads: ads.column("Project"),
        lambda ads: ads.numbers("Project", default=0),
        lambda ads: ads.ad(0).string("Project"),
        lambda ads: [ad.get("Project") for ad in ads.ads],
        lambda ads: ads.take([0]).strings("Project"),
        lambda ads: ads.evaluate("Project"),
        lambda ads: evaluate_table(parse('MY.Project == "x"'), ads),
        lambda ads: evaluate_table(parse("MY.Project == 1 && MY.Owner == 1"), ads),
        lambda ads: ads.expressions("Project"),
        lambda ads: ads.group(["Project"]),
        lambda ads: ads.frozen().strings("Project"),
    ],
)
def test_a_gate_reads_the_declared_attributes_of_jobs_only(read):
    result = cycle(SLOTS, 'Project = "x"', plugins=[gate(read)])
    assert result.pairs == ()
    (failure,) = result.failures
    assert failure.hook == "negotiator_gate_ads"
    assert '"project"' in failure.message.lower()
    assert "to negotiator_gate_attributes" in failure.message


def test_a_gate_sees_the_declared_attributes_of_jobs_and_all_of_slots():
    seen = []
    plugin = gate(lambda ads: seen.append((ads.names(), list(ads.strings("Colour")), sorted(ads.ad(0)))))
    result = cycle(SLOTS, 'Project = "x"\nColour = strcat(First, "d")\nFirst = "re"', plugins=[plugin])
    assert result.pairs == (("1.0", "a"),)
    assert seen == [({"owner", "colour", "first"}, ["red"], ["Colour", "First", "Owner"])]


def order(read, declared):
    class Order(RequestOrder):
        def __init__(self, context):
            self.left = list(context.requests)

        def next(self):
            if not self.left:
                return None
            queued = self.left.pop()
            read(queued.request.ad)
            return queued

        def feedback(self, feedback):
            pass

    class Plugin:
        if declared is not None:

            @hookimpl
            def negotiator_job_attributes(self):
                return declared

        @hookimpl
        def negotiator_orders(self):
            yield RequestOrderType(name="tested", make=Order)

    return Plugin()


@pytest.mark.parametrize("declared", [None, ["Owner"]])
def test_an_order_that_reads_an_undeclared_attribute_ends_the_cycle(declared):
    plugin = order(lambda ad: ad.string("Project"), declared)
    with pytest.raises(PluginFailureError, match='add "Project" to negotiator_job_attributes'):
        cycle(SLOTS, 'Project = "x"', {"pool.yaml": "order: tested"}, [plugin])


def test_an_order_reads_what_it_declared():
    seen = []
    plugin = order(lambda ad: seen.append(ad.string("Project")), ["Project"])
    result = cycle(SLOTS, 'Project = "x"\n\nProject = "y"', {"pool.yaml": "order: tested"}, [plugin])
    assert sorted(seen) == ["x", "y"]
    assert len(result.pairs) == 2
