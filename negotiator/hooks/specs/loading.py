"""The hooks that are called once when a bundle is loaded: what a plugin declares."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from negotiator.hooks.checks import declarations
from negotiator.hooks.hook import AnswerShape, OnFailure, hookspec

if TYPE_CHECKING:
    from negotiator.hooks.declarations import Constraint, Section
    from negotiator.hooks.order_type import RequestOrderType
    from negotiator.hooks.placement import PlacementRule
    from negotiator.hooks.pool_source import PoolSource
    from negotiator.queues import QueueTree


@hookspec(
    "Section", check=declarations.checked_section, shape=AnswerShape.ONE, on_failure=OnFailure.REFUSE_BUNDLE
)
def negotiator_section() -> Section:  # type: ignore[empty-body]
    """Declare the part of ``pool.yaml`` that this plugin owns.

    Called once when a bundle is loaded, before anything of it is used. A failure refuses the bundle.

    Example::

        @attrs.frozen
        class Maintenance:
            maintenance_calendar: Path

        @hookimpl
        def negotiator_section():
            return Section(schema=Maintenance)

    :return: one section; its keys must not belong to another plugin.
    """


@hookspec("Constraint", check=declarations.checked_constraint, on_failure=OnFailure.REFUSE_BUNDLE)
def negotiator_constraints(settings: Any) -> Iterable[Constraint]:  # type: ignore[empty-body]
    """Return the expressions that are ANDed to the Requirements of slots and jobs.

    Called once when a bundle is loaded. A failure refuses the bundle.

    Example::

        @hookimpl
        def negotiator_constraints(settings):
            yield Constraint(
                rule="no-gpu-waste",
                side=ConstraintSide.JOB,
                expression=parse("(TARGET.GPUs ?: 0) == 0 || MY.RequestGPUs > 0"),
                text="slots with GPUs are for jobs that request GPUs",
            )

    :param settings: this plugin's part of the bundle.
    :return: the constraints, in the order in which they are to be counted.
    """


@hookspec("attribute names", check=declarations.checked_attribute, on_failure=OnFailure.REFUSE_BUNDLE)
def negotiator_job_attributes(settings: Any) -> Iterable[str]:  # type: ignore[empty-body]
    """Name the job attributes that this plugin reads in filters, scores and charges, and of the requests of its orders.

    Jobs that are equal in these (and in all attributes that expressions refer to) are one request, and policies are
    called once for it. A plugin that filters or scores slots or charges and does not implement this hook switches that off: every
    job is then a request of its own. To read an attribute of a request that is not declared is a failure of the hook.

    Called once when a bundle is loaded. A failure refuses the bundle.

    Example::

        @hookimpl
        def negotiator_job_attributes():
            return ["Owner", "JobUniverse"]

    :param settings: this plugin's part of the bundle.
    :return: attribute names; an empty list means that no job attribute is read.
    """


@hookspec("attribute names", check=declarations.checked_attribute, on_failure=OnFailure.REFUSE_BUNDLE)
def negotiator_gate_attributes(settings: Any) -> Iterable[str]:  # type: ignore[empty-body]
    """Name the job attributes that this plugin reads in ``negotiator_gate_ads``.

    The schedds of a live pool offer jobs that are equal in all significant attributes as one. A plugin with gates that does
    not implement this hook makes every job a request of its own there. To read an attribute of jobs that is not declared is a
    failure of the gate, in pools of files too.

    Called once when a bundle is loaded. A failure refuses the bundle.

    Example::

        @hookimpl
        def negotiator_gate_attributes():
            return ["Project"]

    :param settings: this plugin's part of the bundle.
    :return: attribute names; an empty list means that no attribute of jobs is read.
    """


@hookspec("hook names", check=declarations.checked_hook_name, on_failure=OnFailure.REFUSE_BUNDLE)
def negotiator_unused_hooks(queues: QueueTree, settings: Any) -> Iterable[str]:  # type: ignore[empty-body]
    """Name the hooks of this plugin that have nothing to do under the bundle, so that no cycle calls them.

    A hook may be named if each answer of it would be empty, for any request: ``negotiator_filter_slots``,
    ``negotiator_score_slots`` and ``negotiator_charges``. Do not name a hook whose charges have no limit but are reported as usage.

    Called once when a bundle is loaded. A cycle whose queues differ from those of the bundle, since one still drains or
    has the settings of a template, calls ``negotiator_charges`` all the same. A failure refuses the bundle.

    Example::

        @hookimpl
        def negotiator_unused_hooks(queues):
            if not any(queue.config.max for queue in queues):
                yield "negotiator_charges"

    :param queues: the queues as the bundle configures them.
    :param settings: this plugin's part of the bundle.
    :return: names of hooks that this plugin implements; an empty list means that all are called.
    """


@hookspec(
    "object", check=declarations.checked_policy, shape=AnswerShape.ONE, on_failure=OnFailure.REFUSE_BUNDLE
)
def negotiator_policy(queues: QueueTree, settings: Any) -> object:
    """Make the object that the other hooks of this plugin are passed as ``policy``: a place for what is computed once.

    Called once when a bundle is loaded, after its settings and queues were checked. An object with a method
    ``begin_cycle(slots, cycle)`` is asked once for the slots of each cycle: the hooks that are called with slots are passed what it
    returned. It is called with the admitted slots, and with others where what runs is judged. A failure of
    ``negotiator_policy`` refuses the bundle; one of ``begin_cycle`` is that of the hook that needs it.

    Example::

        @attrs.frozen
        class LargeHosts:
            most: int

            def begin_cycle(self, slots, cycle):
                hosts, codes = np.unique(slots.strings("Machine").astype(str), return_inverse=True)
                large = np.bincount(codes)[codes] > self.most
                return Filter(rule="large-hosts", allow=~large, code="large_host", text="the host has too many slots")


        @hookimpl
        def negotiator_policy():
            return LargeHosts(most=64)


        @hookimpl
        def negotiator_filter_slots(policy):
            yield policy

    :param queues: the queues as the bundle configures them.
    :param settings: this plugin's part of the bundle.
    :return: any object. It must not change while it is used: cycles and questions may use it at the same time.
    """


@hookspec("PlacementRule", check=declarations.checked_placement_rule, on_failure=OnFailure.REFUSE_BUNDLE)
def negotiator_placement_rules() -> Iterable[PlacementRule]:  # type: ignore[empty-body]
    """Add types of placement rules, for use in ``placementrules:`` of ``queues.yaml``.

    Called once when a bundle is loaded. A failure refuses the bundle. The core does what all rules have in common:
    filter, parent rule, ``create``, invalid names, and the access of the user to the queue.

    Example::

        def by_project(application, rule):
            project = application.tags.get("project")
            return QueueTarget.child(project) if project else None

        @hookimpl
        def negotiator_placement_rules():
            yield PlacementRule(name="project", target=by_project, tags=lambda value: ["Project"])

    :return: the types; a name that is already used is refused.
    """


@hookspec("RequestOrderType", check=declarations.checked_order, on_failure=OnFailure.REFUSE_BUNDLE)
def negotiator_orders() -> Iterable[RequestOrderType]:  # type: ignore[empty-body]
    """Add ways to decide whose turn it is, for the key ``order:`` of ``pool.yaml``.

    Called once when a bundle is loaded. A failure refuses the bundle. In each cycle ``make`` is called with an
    ``OrderContext``, and returns an allocator: ``next`` returns the request of the next turn, ``feedback`` gets its outcome.

    Example::

        class LastFirst(RequestOrder):
            def __init__(self, settings, control):
                self.left = list(context.requests)

            def next(self):
                return self.left.pop() if self.left else None

            def feedback(self, feedback):
                pass

        @hookimpl
        def negotiator_orders():
            yield RequestOrderType(name="last_first", make=LastFirst)

    :return: the ways; a name that is already used is refused.
    """


@hookspec("PoolSource", check=declarations.checked_pool_source, on_failure=OnFailure.REFUSE_BUNDLE)
def negotiator_pool_sources() -> Iterable[PoolSource]:  # type: ignore[empty-body]
    """Add types of live pools, for the key ``source:`` of ``pool.yaml`` and ``negotiator serve``.

    Called once when a bundle is loaded. A failure refuses the bundle. ``open`` returns a ``LivePool``, whose ``fetch``,
    ``deliver`` and ``cycle_ended`` are called in each cycle: if ``fetch`` raises an exception there is no cycle, if ``deliver``
    does, it is unknown who has the matches, and they stay charged until ``claim_timeout``.

    Example::

        class Spool(LivePool):
            def __init__(self, settings, control):
                self.folder = Path("/var/spool/pool")

            def fetch(self, ads):
                for file in sorted(self.folder.glob("*.ads")):
                    ads.add(file.name, [file.read_text()])

            def deliver(self, decisions):
                for match in decisions.matches:
                    (self.folder / f"{match.id}.match").write_text(f"{match.job} {match.slot}")
                    yield Delivery(match, DeliveryStatus.DELIVERED)

        @hookimpl
        def negotiator_pool_sources():
            yield PoolSource(name="spool", open=Spool)

    :return: the types; a name that is already used is refused.
    """
