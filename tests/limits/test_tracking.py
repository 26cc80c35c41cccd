"""Usage counted match by match, and what becomes of it where the configuration changes."""

import pytest

from negotiator.ledger import LARGEST, LedgerError
from negotiator.queues.checks.limits import SubjectKind
from negotiator_limits import Tracking
from yunikorn_pool import read
from yunikorn_tracking import YuniKornTracking

SUE = ("sue", ["dev"], "root.a.b", "app")


def queues(*limits, at="a"):
    """A configuration whose queue root.a, or root, has limits."""
    own = {name: list(limits) if name == at else [] for name in ("root", "a")}
    return read(
        {
            "queues": [
                {
                    "name": "root",
                    "limits": own["root"],
                    "queues": [{"name": "a", "parent": True, "limits": own["a"]}, {"name": "c"}],
                }
            ]
        }
    ).partition.root


def limit(users=(), groups=(), applications=None, **resources):
    """A limit as people write it."""
    entry = {"users": list(users), "groups": list(groups), "maxapplications": applications}
    return {key: value for key, value in {**entry, "maxresources": resources}.items() if value}


def tracking(*limits, at="a", kind=Tracking):
    return kind(queues(*limits, at=at))


def root_usage(tracked, group):
    """What a group uses over all."""
    return dict(tracked.group_usage(group).resources)


def test_a_denial_says_what_forbids_it():
    """The limit that is nearest to the leaf comes first, the user's before the group's."""
    tracked = tracking(limit(["sue"], ["dev"], memory="10"), at="root")
    assert tracked.try_increase(*SUE, {"memory": 10}) is None
    denial = tracked.try_increase(*SUE, {"vcore": 1, "memory": 1})
    assert str(denial).startswith(
        "user sue has memory 10 in root and would have memory 11: the limit of user sue"
    )
    assert (denial.needed, denial.used, denial.limit, denial.label.source.line) == (1, 10, 10, 6)


def test_a_denial_of_an_application_says_so():
    """It counts those that run; an application that runs already is none more."""
    tracked = tracking(limit(["*"], applications=1))
    assert tracked.try_increase(*SUE, {"memory": 1}) is None
    assert tracked.try_increase(*SUE, {"memory": 1}) is None
    denial = tracked.try_increase(*SUE[:3], "second", {"memory": 1})
    assert (denial.label.rule, denial.needed, denial.used, denial.limit) == (
        "limit of user * at root.a",
        1,
        1,
        1,
    )
    assert tracked.can_run(*SUE)
    assert not tracked.can_run(*SUE[:3], "second")


@pytest.mark.parametrize(
    ("usage", "code"),
    [
        ({"memory": -1}, "negative_amount"),
        ({"memory": 1, "vcore": 1.5}, "bad_amount"),
        ({"memory": True}, "bad_amount"),
        ({"memory": LARGEST + 1}, "overflow"),
    ],
)
@pytest.mark.parametrize("call", ["increase", "try_increase", "decrease"])
def test_what_is_no_amount_is_refused_whole(call, usage, code):
    """With a word for the reason; no counter has changed."""
    tracked = tracking(limit(["sue"], ["dev"], vcore="1"))
    tracked.increase(*SUE, {"memory": 3, "vcore": 1})
    before = tracked.usage()
    with pytest.raises(LedgerError) as raised:
        getattr(tracked, call)(*(SUE if call != "decrease" else (SUE[0], *SUE[2:])), usage)
    assert raised.value.code == code
    assert tracked.usage() == before


def test_a_sum_that_cannot_be_counted_is_refused_whole():
    """Neither the user nor the group has it, and nothing was wrapped around."""
    tracked = tracking(limit(groups=["dev"], applications=9))
    tracked.increase("bob", ["dev"], "root.c", "other", {"memory": 1})
    tracked.increase("bob", ["dev"], "root.a.b", "other", {"memory": LARGEST - 5})
    before = tracked.usage()
    with pytest.raises(LedgerError, match="can't be counted"):
        tracked.increase("bob", ["dev"], "root.a.b", "app", {"memory": 5})
    assert tracked.try_increase("bob", ["dev"], "root.a.b", "app", {"memory": 5}).limit == LARGEST
    assert tracked.usage() == before


def test_less_than_nothing_is_paid_back():
    """More can be taken away than there was; limits count from below zero then."""
    tracked = tracking(limit(["sue"], memory="10"))
    tracked.increase(*SUE, {"memory": 2})
    tracked.decrease("sue", "root.a.b", "app", {"memory": 5})
    assert tracked.user_usage("sue").resources == {"memory": -3}
    assert tracked.headroom(*SUE) == {"memory": 13}
    denial = tracked.try_increase(*SUE, {"memory": 14})
    assert (denial.needed, denial.used, denial.limit) == (14, -3, 10)
    assert tracked.try_increase(*SUE, {"memory": 13}) is None
    assert tracked.headroom(*SUE) == {"memory": 0}


def test_where_a_user_has_no_usage_nothing_is_taken_away():
    """Neither there nor in the queues above."""
    tracked = tracking()
    tracked.increase(*SUE, {"memory": 5})
    before = tracked.usage()
    for queue in ("root.c", "root.a.other", "elsewhere"):
        tracked.decrease("sue", queue, "app", {"memory": 5}, remove_app=True)
    tracked.decrease("nobody", "root.a.b", "app", {"memory": 5}, remove_app=True)
    assert tracked.usage() == before


def test_where_a_group_has_no_usage_nothing_is_taken_from_it():
    """The user may have some there, of another application."""
    tracked = tracking(limit(groups=["dev"], applications=9))
    tracked.increase(*SUE, {"memory": 5})
    tracked.increase("sue", [], "root.c", "other", {"memory": 5})
    tracked.decrease("sue", "root.c", "app", {"memory": 2})
    assert tracked.user_usage("sue").resources == {"memory": 8}
    assert root_usage(tracked, "dev") == {"memory": 5}


def test_a_match_of_nobody_is_not_counted():
    """Without a user, a queue or an application there is nothing to count, and nothing is allowed."""
    tracked = tracking()
    for missing in range(4):
        asked = tuple("" if place == missing else part for place, part in enumerate(SUE))
        if missing != 1:
            tracked.increase(*asked, {"memory": 1})
            with pytest.raises(ValueError, match="one of them is missing"):
                tracked.try_increase(*asked, {"memory": 1})
    assert tracked.usage() == {}


def test_queues_are_found_whatever_their_case():
    """Paths are in lower case everywhere."""
    tracked = tracking(limit(["sue"], memory="10"))
    tracked.increase("sue", [], "ROOT.A.b", "app", {"memory": 4})
    assert tracked.headroom("sue", [], "root.a.B", "app") == {"memory": 6}


def test_an_application_keeps_its_group():
    """The one that it had when it was first seen, if only by a question; also none."""
    tracked = tracking(limit(groups=["dev"], applications=9))
    tracked.can_run(*SUE)
    tracked.headroom("bob", [], "root.a", "other")
    tracked.update(queues(limit(groups=["ops", "dev"], applications=9)))
    for user, app in (("sue", "app"), ("bob", "other")):
        tracked.increase(user, ["ops", "dev"], "root.a", app, {"memory": 1})
    assert tracked.app_group("sue", "app") == "dev"
    assert tracked.app_group("bob", "other") == ""
    assert tracked.resolve_group(["dev", "ops"], "root.a") == "ops"


def test_usage_of_a_group_outlasts_its_limits():
    """Where they are taken away and come back, the group has what its applications use, and no more."""
    tracked = tracking(limit(groups=["dev"], memory="50"))
    tracked.increase(*SUE, {"memory": 5})
    tracked.update(queues())
    assert tracked.group_usage("dev") is None
    assert tracked.app_group("sue", "app") == ""
    tracked.increase(*SUE, {"memory": 5})
    tracked.update(queues(limit(groups=["dev"], memory="50")))
    assert root_usage(tracked, "dev") == {"memory": 10}
    tracked.decrease("sue", "root.a.b", "app", {"memory": 10}, remove_app=True)
    assert root_usage(tracked, "dev") == {}


def test_an_application_whose_group_lost_its_limits_moves_with_all_it_uses():
    """When it is seen again, and only then; the group that it leaves has nothing of it."""
    tracked = tracking(limit(groups=["dev"], memory="50"))
    tracked.increase(*SUE, {"memory": 5})
    tracked.increase("sue", ["dev"], "root.a.c", "app", {"memory": 2, "vcore": 7})
    tracked.decrease("sue", "root.a.c", "app", {"memory": 3})
    tracked.update(queues(limit(groups=["ops"], memory="50"), limit(groups=["*"], memory="6")))
    assert root_usage(tracked, "*") == {}
    assert tracked.try_increase(*SUE, {"memory": 3}).used == 4
    assert tracked.try_increase(*SUE, {"memory": 2}) is None
    assert root_usage(tracked, "*") == {"memory": 6, "vcore": 7}
    assert [node.applications for node in tracked.group_usage("*").walk()] == [("app",)] * 4
    tracked.update(queues(limit(groups=["dev"], memory="50")))
    assert root_usage(tracked, "dev") == {}


def test_a_wildcard_reaches_users_who_are_known():
    """In all its queues; others where they are seen. A tracker that it reached stays while the limit is there."""
    tracked = tracking()
    tracked.increase(*SUE, {"memory": 5})
    tracked.increase("bob", [], "root.c", "app", {"memory": 5})
    tracked.update(queues(limit(["*"], memory="9")))
    assert [node.path for node in tracked.user_usage("bob").walk()] == ["root", "root.a", "root.c"]
    tracked.decrease("bob", "root.c", "app", {"memory": 5}, remove_app=True)
    tracked.update(queues())
    tracked.increase("eve", [], "root.c", "app", {"memory": 5})
    tracked.update(queues(limit(["*"], memory="9")))
    assert tracked.headroom(*SUE) == {"memory": 4}
    tracked.decrease("sue", "root.a.b", "app", {"memory": 5}, remove_app=True)
    assert tracked.trackers(SubjectKind.USER) == ["eve", "sue"]
    tracked.decrease("eve", "root.c", "app", {"memory": 5}, remove_app=True)
    tracked.update(queues())
    assert tracked.trackers(SubjectKind.USER) == []


def test_trackers_exist_as_soon_as_a_limit_names_them():
    """The wildcard is a group, and no user."""
    tracked = tracking(limit(["sue"], ["dev"], memory="9"), limit(["*"], ["*"], memory="9"))
    assert tracked.trackers(SubjectKind.USER) == ["sue"]
    assert tracked.trackers(SubjectKind.GROUP) == ["*", "dev"]
    assert tracked.user_usage("*") is None
    assert tracked.user_usage("sue").children[0].holding.resources == {"memory": 9}


def test_a_group_that_could_not_be_counted_takes_nobody_in():
    """The move is refused whole: the application goes on where it was."""
    tracked = tracking(limit(groups=["dev", "big"], applications=9))
    tracked.increase(*SUE, {"memory": 5, "vcore": 3})
    tracked.increase("bob", ["big"], "root.a", "other", {"memory": LARGEST - 4})
    tracked.update(queues(limit(groups=["big"], applications=9)))
    before = tracked.usage()
    with pytest.raises(LedgerError, match="group big would use more than can be counted"):
        tracked.can_run("sue", ["big"], "root.a.b", "app")
    assert tracked.usage() == before


def test_less_than_can_be_counted_is_refused():
    """Nothing has changed then."""
    tracked = tracking(limit(["sue"], vcore="1"))
    tracked.increase(*SUE, {"memory": 5, "vcore": 1})
    tracked.decrease("sue", "root.a.b", "app", {"memory": LARGEST})
    before = tracked.usage()
    with pytest.raises(LedgerError, match="less than can be counted"):
        tracked.decrease("sue", "root.a.b", "app", {"vcore": 1, "memory": 6})
    assert tracked.usage() == before


def test_an_application_that_never_ran_can_be_given_up():
    """Its group is chosen anew when it is seen again."""
    tracked = tracking(limit(groups=["dev"], applications=9), limit(groups=["ops"], applications=9))
    tracked.can_run(*SUE)
    tracked.decrease("sue", "root.a.b", "app", {}, remove_app=True)
    assert tracked.app_group("sue", "app") == ""
    tracked.increase("sue", ["ops"], "root.a.b", "app", {"memory": 1})
    assert tracked.app_group("sue", "app") == "ops"


def test_more_users_than_are_kept_in_mind_are_counted_alike(monkeypatch):
    """What is laid out for one user and queue is made anew where there are too many."""
    monkeypatch.setattr("negotiator_limits.tracking.KEPT", 2)
    tracked = tracking(limit(["*"], memory="3"))
    for _ in range(2):
        for number in range(5):
            assert tracked.try_increase(f"user{number}", [], "root.a", "app", {"memory": 1}) is None
    assert all(tracked.headroom(f"user{number}", [], "root.a", "app") == {"memory": 1} for number in range(5))


def test_what_is_over_a_lowered_limit_stops_only_what_adds_to_it():
    """Other resources, and nothing more of the same, are still allowed."""
    tracked = tracking(limit(["sue"], memory="9"))
    tracked.increase(*SUE, {"memory": 9})
    tracked.update(queues(limit(["sue"], memory="5")))
    assert tracked.headroom(*SUE) == {"memory": -4}
    assert tracked.try_increase(*SUE, {"memory": 0, "vcore": 7}) is None
    assert tracked.try_increase(*SUE, {"memory": 1, "vcore": 7}).label.resource == "memory"
    assert tracked.user_usage("sue").resources == {"memory": 9, "vcore": 7}


def test_two_users_with_applications_of_one_name_are_told_apart():
    """The group runs it until both have ended."""
    tracked = tracking(limit(groups=["dev"], applications=1))
    for user in ("sue", "bob"):
        assert tracked.try_increase(user, ["dev"], "root.a", "app", {"memory": 1}) is None
    tracked.decrease("sue", "root.a", "app", {"memory": 1}, remove_app=True)
    assert tracked.group_usage("dev").applications == ("app",)
    tracked.decrease("bob", "root.a", "app", {"memory": 1}, remove_app=True)
    assert tracked.group_usage("dev").applications == ()


def test_the_end_of_an_application_is_not_that_of_another_of_its_name():
    """Though one of the same group and name runs in the queue where it is told to end."""
    tracked = tracking(limit(groups=["dev"], applications=9), at="root")
    tracked.increase("sue", ["dev"], "root.a", "app", {"memory": 1})
    tracked.increase("sue", ["dev"], "root.c", "second", {"memory": 1})
    tracked.increase("bob", ["dev"], "root.c", "app", {"memory": 1})
    tracked.decrease("sue", "root.c", "app", {"memory": 1}, remove_app=True)
    assert tracked.group_usage("dev").children[1].applications == ("app", "second")


def test_an_application_in_two_queues_ends_in_one_of_them():
    """It goes on in the other, and comes back to the queues above with its next match there."""
    tracked = tracking(limit(["sue"], memory="9"))
    for queue in ("root.a.b", "root.c"):
        tracked.increase("sue", [], queue, "app", {"memory": 1})
    tracked.decrease("sue", "root.a.b", "app", {"memory": 1}, remove_app=True)
    assert {node.path: node.applications for node in tracked.user_usage("sue").walk()} == {
        "root": (),
        "root.a": (),
        "root.c": ("app",),
    }
    tracked.increase("sue", [], "root.c", "app", {"memory": 1})
    assert tracked.user_usage("sue").applications == ("app",)


def test_yunikorn_takes_from_the_queues_above():
    """All but the nearest, where the queue of a decrease has no usage."""
    tracked = tracking(kind=YuniKornTracking)
    tracked.increase(*SUE, {"memory": 5})
    tracked.decrease("sue", "root.a.other", "app", {"memory": 2})
    assert {node.path: node.resources["memory"] for node in tracked.user_usage("sue").walk()} == {
        "root": 3,
        "root.a": 5,
        "root.a.b": 5,
    }


def test_yunikorn_forgets_what_a_group_uses():
    """Where a limit of it is removed; what its applications ask for next is counted, and all is taken away."""
    limits = queues(limit(groups=["dev"], memory="50"))
    tracked = YuniKornTracking(limits)
    tracked.increase(*SUE, {"memory": 5})
    tracked.update(queues())
    assert tracked.app_group("sue", "app") == ""
    tracked.update(limits)
    assert root_usage(tracked, "dev") == {}
    tracked.increase(*SUE, {"memory": 4})
    assert root_usage(tracked, "dev") == {"memory": 4}
    assert tracked.can_run(*SUE)
    assert tracked.group_usage("dev").applications == ("app",)
    tracked.decrease("sue", "root.a.b", "app", {"memory": 9}, remove_app=True)
    assert root_usage(tracked, "dev") == {"memory": -5}
    assert tracked.group_usage("dev").applications == ()


def test_yunikorn_takes_nothing_from_a_group_that_an_application_has_left():
    """It has none until it is seen again; then its queues above have it too."""
    limits = queues(limit(groups=["dev"], memory="50"))
    tracked = YuniKornTracking(limits)
    tracked.increase(*SUE, {"memory": 5})
    tracked.increase("bob", ["dev"], "root.c", "other", {"memory": 2})
    tracked.update(queues())
    tracked.update(limits)
    tracked.decrease("sue", "root.a.b", "app", {"memory": 5}, remove_app=True)
    assert root_usage(tracked, "dev") == {}
    assert tracked.app_group("sue", "app") == ""
    assert tracked.usage()[SubjectKind.USER, "bob"]["root.c"].resources == {"memory": 2}
