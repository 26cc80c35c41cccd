"""A placement rule: the queue of the job's project."""

from negotiator.plugin import PlacementRule, QueueTarget, hookimpl


def queue_of_project(application, rule):
    project = application.tags.get("project")
    return QueueTarget.child(project) if project and rule.lets_through(project) else None


@hookimpl
def negotiator_placement_rules():
    yield PlacementRule(
        name="project",
        target=queue_of_project,
        absent="the job has no project",
        tags=lambda value: ["Project"],
    )
