"""The report of a recorded pool, and settings with accounting groups."""

from pathlib import Path

from negotiator_fairshare.accounts import AccountSettings
from negotiator_fairshare.accounts.log_records import read_log
from negotiator_fairshare.groups.records import GroupFigures
from negotiator_fairshare.groups.settings import ConfiguredGroup
from negotiator_fairshare.groups.tree import GroupTree
from negotiator_fairshare.userprio.report import report_of

DATA = Path(__file__).parents[1] / "fairshare" / "data"


def settings_with(*groups):
    tree = GroupTree.of_groups([ConfiguredGroup(name) for name in groups])
    return AccountSettings(group_of=tree.group_of, groups=tuple(tree.nodes))


def recorded():
    """The pool of ``data/Accountantnew.log``: its report, with the quotas that the negotiator had."""
    figures = {
        "<none>": GroupFigures(
            effective_quota=0.3333332000000002, subtree_quota=3.3333332, sort_key=3.4e38, surplus="byquota"
        ),
        "group_a": GroupFigures(
            effective_quota=3.0, config_quota=3.0, subtree_quota=3.0, sort_key=0.4444443333333334
        ),
        "group_a.x": GroupFigures(effective_quota=1.0, config_quota=1.0, subtree_quota=1.0),
    }
    accounts = read_log(DATA / "Accountantnew.log").accounts
    return report_of(accounts, settings_with("group_a", "group_a.x"), figures)
