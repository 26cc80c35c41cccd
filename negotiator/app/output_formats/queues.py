"""The outputs of ``negotiator place``, ``queues``, ``usage`` and ``access``."""

from __future__ import annotations

from typing import Any, Final, NotRequired, TypeAlias, TypedDict

from negotiator.app.output_formats.cycles import PlacementStepValues, PlacementValues


class PlaceOne(TypedDict):
    """The placement of one application, and the queues that would be created for it."""

    placed: bool
    text: str
    user: str
    groups: list[str]
    groups_left_out: int
    requested_queue: str
    tags: dict[str, str]
    forced: bool
    queue: str
    code: str
    steps: list[PlacementStepValues]
    steps_left_out: int
    created: list[str]


class PlaceNothing(TypedDict):
    """The answer if no plugin brings placement rules."""

    placed: None
    text: str


class QueueChangeValues(TypedDict):
    """A change of a queue."""

    queue: str
    change: str
    time: str


class PlacePool(TypedDict):
    """The placements of the jobs of a pool: the rejected applications first."""

    jobs: int
    admitted: int
    already_placed: int
    held: int
    placements: list[PlacementValues]
    queues: list[QueueChangeValues]


#: The answers of ``negotiator place``.
PLACE: Final = (PlaceOne, PlaceNothing, PlacePool)


class QueueTemplate(TypedDict):
    """The first settings of queues that placement rules create below a queue."""

    maxApplications: NotRequired[int]
    maxResource: NotRequired[dict[str, int]]
    guaranteedResource: NotRequired[dict[str, int]]
    properties: NotRequired[dict[str, str]]


class QueueOutput(TypedDict):
    """A queue and those below it, as YuniKorn's REST interface has them; a key is missing if its value is zero or empty."""

    queuename: str
    partition: str
    isLeaf: bool
    isManaged: bool
    currentPriority: int
    prioritySorting: bool
    preemptionEnabled: bool
    isPreemptionFence: bool
    isPriorityFence: bool
    status: NotRequired[str]
    maxResource: NotRequired[dict[str, int]]
    guaranteedResource: NotRequired[dict[str, int]]
    allocatedResource: NotRequired[dict[str, float]]
    properties: NotRequired[dict[str, str]]
    sortingPolicy: NotRequired[str]
    priorityOffset: NotRequired[int]
    preemptionDelay: NotRequired[str]
    parent: NotRequired[str]
    template: NotRequired[QueueTemplate]
    maxRunningApps: NotRequired[int]
    runningApps: NotRequired[int]
    childNames: NotRequired[list[str]]
    children: NotRequired[list[QueueOutput]]


#: The entries of a report of a plugin, whose keys the plugin decides.
Usage: TypeAlias = list[dict[str, Any]]


class AccessAnswerValues(TypedDict):
    """Whether something is granted, and the rule that decides; ``source`` is ``file:line:column``, null if unknown."""

    granted: bool
    decision: str
    plugin: str
    version: str
    rule: str
    text: str
    source: str | None


class QueueAccess(TypedDict):
    """What a user may do in a queue."""

    queue: str
    exists: bool
    submit: NotRequired[AccessAnswerValues]
    administer: NotRequired[AccessAnswerValues]
    configure: NotRequired[AccessAnswerValues]
    configure_queues: NotRequired[AccessAnswerValues]


class SchedulerAccess(TypedDict):
    """What a user may do with the whole scheduler."""

    configure: NotRequired[AccessAnswerValues]


class AccessOutput(TypedDict):
    """The permissions of a user."""

    user: str
    groups: list[str]
    queues: list[QueueAccess]
    scheduler: SchedulerAccess
