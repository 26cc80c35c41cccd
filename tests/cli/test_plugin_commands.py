"""Commands of plugins and their program context; the plugin is the example of docs/hooks.md."""

import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import attrs
import pytest
from click.testing import CliRunner

from commands import invoke
from distributions import install
from negotiator.app.context import ProgramContext
from negotiator.audit.verify import verify
from negotiator.bundle import load_bundle
from negotiator.cli import main
from negotiator.plugin import (
    BundleError,
    Caller,
    ChangeStatus,
    CommandError,
    CommandTargets,
    InvalidCallError,
    PoolError,
    StateError,
)
from negotiator.runtime.state import StateStore
from pools import NOW, slot, write_ads
from queueing import ME, World, app, records, write

DOCUMENT = Path(__file__).parents[2] / "docs" / "hooks.md"
PARTS = re.search(r"^## Files of a plugin\n(.*)^## Testing", DOCUMENT.read_text(), re.MULTILINE | re.DOTALL)[
    1
]
PLUGIN = "\n\n".join(re.findall(r"^```python\n(.*?)^```", PARTS, re.MULTILINE | re.DOTALL))
# A dropped-in plugin can't add commands: the tests call those of the example themselves.
DROPPED_IN = re.sub(
    r"^@hookimpl\ndef negotiator_commands.*?(?=^\S|\Z)", "", PLUGIN, flags=re.MULTILINE | re.DOTALL
)
POOL = "scheduleracl: boss wheel\nplugins: {folders: [plugins]}\n"
BOSS, ALICE = ProgramContext(lambda: ("boss", ())), ProgramContext(lambda: ("alice", ("users",)))


@pytest.fixture
def site(tmp_path):
    """Return a bundle with a dropped-in plugin and one file of it."""
    write(tmp_path / "bundle", pool=POOL)
    plugins = tmp_path / "bundle" / "plugins"
    plugins.mkdir()
    (plugins / "closing_days.py").write_text(DROPPED_IN)
    (tmp_path / "bundle" / "site.days").write_text("20270101\n")
    scope = {"__name__": "closing_days"}
    exec(compile(PLUGIN, "closing_days", "exec", dont_inherit=True), scope)  # noqa: S102 - our own documentation
    places = CommandTargets(
        bundle=tmp_path / "bundle", state=tmp_path / "state", audit_log=tmp_path / "audit", pool=()
    )
    return SimpleNamespace(folder=tmp_path, places=places, **scope)


def options(site):
    places = site.places
    return ["--bundle", places.bundle, "--state", places.state, "--audit-log", places.audit_log]


def run(site, command, *words, who=BOSS, env=None, given=True):
    """Run a command of the plugin, as any caller."""
    return invoke(command, [*words, *(options(site) if given else ())], who, env=env)


def days(site):
    """Return every file of the plugin and its backups, with their texts."""
    return {path.name: path.read_text() for path in (site.folder / "bundle").glob("*.days*")}


def acts(site):
    return [
        (each["action"], each["user"], each["ok"], each["note"])
        for each in records(site.folder / "audit", "admin")
    ]


def waiting(site):
    with StateStore.open(site.folder / "state") as store:
        return [(each.by, each.action, each.note) for each in store.waiting()]


def test_a_command_reads_the_files_of_its_plugin(site):
    done = run(site, site.closing_days)
    assert (done.exit_code, done.output) == (0, "site.days: 20270101\n")


def test_a_command_changes_a_file_of_its_plugin_for_an_administrator(site):
    """The file, the backup of the old one, and the record are written, although no negotiator is running."""
    done = run(site, site.close_on, "20270115", "20270116", "--note", "a holiday")
    assert (done.exit_code, done.output) == (0, "closed on 2 days\n")
    (backup,) = set(days(site)) - {"site.days"}
    assert re.fullmatch(r"site\.days\.\d{8}T\d{6}Z~", backup)
    assert days(site) == {"site.days": "20270115\n20270116\n", backup: "20270101\n"}
    ((act, by, ok, note),) = acts(site)
    assert (act, by, ok) == ("change", "boss", True)
    digest = load_bundle(site.folder / "bundle").digest
    assert note == f"site.days was written, the old one is saved as {backup}; digest {digest} (a holiday)"
    assert verify(site.folder / "audit").fault is None
    assert waiting(site) == []


def test_groups_of_the_caller_count(site):
    carol = ProgramContext(lambda: ("carol", ("users", "wheel")))
    assert run(site, site.close_on, "20270115", who=carol).exit_code == 0
    assert acts(site)[0][:3] == ("change", "carol", True)


def test_a_denied_change_is_recorded(site):
    done = run(site, site.close_on, "20270115", who=ALICE)
    assert (done.exit_code, done.output) == (1, "alice: denied: scheduleracl does not have alice\n")
    assert days(site) == {"site.days": "20270101\n"}
    assert acts(site) == [("change", "alice", False, "change of site.days denied: nothing was written")]


def test_invalid_contents_are_refused_as_a_whole(site):
    """With the place of the error; nothing is written, saved or recorded."""
    done = run(site, site.close_on, "20270115", "easter")
    assert done.exit_code == 1
    assert "boss: invalid: with this site.days the bundle has errors: nothing was changed\n" in done.output
    assert "site.days:2:1: error: invalid date (write 20270115)\n" in done.output
    assert days(site) == {"site.days": "20270101\n"}
    assert acts(site) == waiting(site) == []


def test_a_running_negotiator_records_the_change(site):
    """The command does not wait for it; the file is written, and the request is pending."""
    with StateStore.open(site.folder / "state") as running:
        assert running.hold_lock()
        outcome = BOSS.change(site.places, "site.days", b"20270115\n", "a holiday")
        denied = ALICE.change(site.places, "site.days", b"20270116\n")
    assert (outcome.status, outcome.recorded, outcome.error, outcome.exit_code) == (
        ChangeStatus.DONE,
        False,
        None,
        0,
    )
    assert (denied.status, denied.recorded, denied.exit_code) == (ChangeStatus.DENIED, False, 1)
    assert (site.folder / "bundle" / "site.days").read_text() == "20270115\n"
    assert not (site.folder / "audit").exists()
    by_boss, by_alice = waiting(site)
    assert (by_boss[:2], "(a holiday)" in by_boss[2]) == (("boss", "change"), True)
    assert by_alice == ("alice", "change", "change of site.days denied: nothing was written")


def test_without_the_state_nothing_is_changed(site):
    site.places.state.write_text("")
    done = run(site, site.close_on, "20270115")
    assert done.exit_code == 6
    assert "state: cannot open the state: not a folder: nothing was changed\n" in done.output
    assert days(site) == {"site.days": "20270101\n"}


def test_without_the_state_a_denied_attempt_is_still_denied(site):
    site.places.state.write_text("")
    outcome = ALICE.change(site.places, "site.days", b"")
    assert (outcome.status, outcome.exit_code) == (ChangeStatus.DENIED, 1)
    assert "cannot open the state" in str(outcome.error)


def test_a_change_is_recorded_later_if_it_cannot_be_now(site):
    site.places.audit_log.write_text("")
    outcome = BOSS.change(site.places, "site.days", b"20270115\n")
    assert (outcome.status, outcome.recorded, outcome.exit_code) == (ChangeStatus.DONE, False, 3)
    assert str(outcome.error).endswith("the change will be recorded as soon as that is possible")
    site.places.audit_log.unlink()
    assert BOSS.change(site.places, "site.days", b"20270116\n").recorded
    assert [act[1:3] for act in acts(site)] == [("boss", True)] * 2


def test_a_file_may_be_superseded_by_another(site):
    """It is renamed as old files are, in the same change."""
    done = run(site, site.close_on, "20270115", "--in-place-of", "old.days")
    assert (done.exit_code, "invalid file name 'old.days'" in done.output) == (2, True)
    (site.folder / "bundle" / "old.days").write_text("20260101\n")
    outcome = BOSS.change(site.places, "site.days", b"20270115\n", superseded=("old.days",))
    site_copy, old_copy = outcome.backups
    assert days(site) == {
        "site.days": "20270115\n",
        site_copy.name: "20270101\n",
        old_copy.name: "20260101\n",
    }
    assert f"; old.days was superseded, and is saved as {old_copy.name}" in acts(site)[0][3]
    assert load_bundle(site.folder / "bundle").digest == outcome.digest


def test_superseded_files_are_checked_as_removed(site):
    """Their errors do not count; a file that refers to them is an error."""
    (site.folder / "bundle" / "old.days").write_text("20260101\n")
    (site.folder / "bundle" / "pool.yaml").write_text(POOL + "groups: {map: old.days}\n")
    outcome = BOSS.change(site.places, "site.days", b"20270115\n", superseded=("old.days",))
    assert outcome.status is ChangeStatus.INVALID
    assert "'old.days'" in outcome.problems[0].message
    assert set(days(site)) == {"site.days", "old.days"}


@pytest.mark.parametrize("old", ["site.days", "link.days"])
def test_the_written_file_cannot_be_superseded(site, old):
    (site.folder / "bundle" / "link.days").symlink_to("site.days")
    with pytest.raises(CommandError, match="cannot be retired: it is the file to write"):
        BOSS.change(site.places, "site.days", b"20270115\n", superseded=(old,))


def test_the_target_of_a_link_cannot_be_superseded(site):
    """The link would dangle, and the bundle could no longer be read."""
    (site.folder / "bundle" / "old.days").write_text("20260101\n")
    (site.folder / "bundle" / "link").symlink_to("old.days")
    with pytest.raises(CommandError, match="/link is a link to it; remove that first"):
        BOSS.change(site.places, "site.days", b"20270115\n", superseded=("old.days",))
    outcome = BOSS.change(site.places, "site.days", b"20270115\n", superseded=("old.days", "link"))
    assert outcome.status is ChangeStatus.DONE
    assert load_bundle(site.folder / "bundle").digest == outcome.digest


@pytest.mark.parametrize("name", ["", "a/b.days", "../x.days", ".x.days", "x.days~", "new.txt", "a\x1b.days"])
def test_an_invalid_file_name_is_refused(site, name):
    with pytest.raises(InvalidCallError, match="invalid file name"):
        BOSS.change(site.places, name, b"")


def test_a_new_file_is_created(site):
    outcome = BOSS.change(site.places, "more.days", b"20270115\n")
    assert (outcome.status, outcome.backups) == (ChangeStatus.DONE, ())
    assert days(site)["more.days"] == "20270115\n"


def test_a_note_too_long_for_the_audit_log_is_refused(site):
    with pytest.raises(InvalidCallError, match="501 characters: at most 500 are allowed"):
        BOSS.change(site.places, "site.days", b"", "x" * 501)


def test_the_access_policy_decides_who_may_configure(site):
    allowed = BOSS.may_configure(site.places)
    assert (allowed.allowed, allowed.text, allowed.rule) == (
        True,
        "scheduleracl has user boss",
        "scheduleracl",
    )
    assert not ALICE.may_configure(site.places).allowed
    assert not (site.folder / "audit").exists()


def test_a_broken_bundle_is_reported_and_its_owner_may_correct_it(site):
    """No one else is known to be allowed, since the bundle cannot be read."""
    (site.folder / "bundle" / "site.days").write_text("never\n")
    done = run(site, site.closing_days)
    assert done.exit_code == 1
    assert "site.days:1:1: error: invalid date\n  never\n  ^\n" in done.output
    with pytest.raises(BundleError) as raised:
        BOSS.bundle(site.places)
    assert [str(each) for each in raised.value.problems] == [
        "site.days:1:1: error: invalid date (write 20270115)"
    ]
    assert BOSS.may_configure(site.places).allowed
    assert ALICE.change(site.places, "site.days", b"20270115\n").status is ChangeStatus.DENIED
    assert BOSS.change(site.places, "site.days", b"20270115\n").status is ChangeStatus.DONE


OWN_POLICY = """
from negotiator.plugin import Access, AccessDecision, hookimpl

@hookimpl
def negotiator_access(questions):
    return [Access(AccessDecision.GRANT, rule="mine", text="mine") for _ in questions]
"""


def test_plugins_of_the_caller_do_not_decide_who_may_change_the_bundle(site):
    """Neither by additional plugins nor by disabling those of the bundle."""
    own = site.folder / "own"
    own.mkdir()
    (own / "own.py").write_text(OWN_POLICY)
    (site.folder / "bundle" / "pool.yaml").write_text("plugins: {folders: [plugins]}\n")
    places = attrs.evolve(site.places, plugins_dirs=(own,), disable=("access",))
    assert not ALICE.may_configure(places).allowed
    assert ALICE.change(places, "site.days", b"20270115\n").status is ChangeStatus.DENIED
    assert days(site) == {"site.days": "20270101\n"}


def test_a_setuid_process_does_not_give_the_owners_rights(site, monkeypatch):
    """The caller of a setuid program does not get the rights of its owner."""
    (site.folder / "bundle" / "site.days").write_text("never\n")
    monkeypatch.setattr(os, "getuid", lambda: os.geteuid() + 1)
    assert not BOSS.may_configure(site.places).allowed


def test_the_built_in_bundle_cannot_be_changed():
    with pytest.raises(InvalidCallError, match="--bundle FOLDER"):
        BOSS.change(CommandTargets(), "pool.yaml", b"")


def test_settings_of_a_disabled_plugin_are_an_error(site):
    done = run(site, site.closing_days, "--disable", "closing_days")
    assert (done.exit_code, "the bundle has no settings of plugin closing_days" in done.output) == (1, True)


def test_the_caller_is_the_user_of_the_process(monkeypatch):
    """Not the user of the environment, which the caller controls."""
    for name in ("USER", "LOGNAME", "USERNAME", "SUDO_USER", "NEGOTIATOR_USER", "NEGOTIATOR_CALLER"):
        monkeypatch.setenv(name, "boss")
    caller = ProgramContext().caller()
    assert (type(caller), caller.name) == (Caller, ME)


def test_options_may_be_set_in_the_environment(site):
    places = site.places
    env = {"BUNDLE": places.bundle, "STATE": places.state, "AUDIT_LOG": places.audit_log}
    env = {f"NEGOTIATOR_{name}": str(path) for name, path in env.items()}
    assert run(site, site.close_on, "20270115", env=env, given=False).exit_code == 0
    assert acts(site)[0][:3] == ("change", "boss", True)
    done = run(site, site.closing_days, "--bundle", site.folder, env=env, given=False)
    assert "not a policy bundle: none of pool.yaml" in done.output


def test_installed_commands_get_the_program_context(site):
    """The caller is the owner of the process."""
    (site.folder / "bundle" / "pool.yaml").write_text("scheduleracl: boss\n")
    install(site.folder, "closing_days", "closing_days", source=PLUGIN)
    words = [sys.executable, "-m", "negotiator"]
    env = os.environ | {"PYTHONPATH": str(site.folder)}
    for command, expected in (("close-on", "closed on 1 days\n"), ("closing-days", "site.days: 20270115\n")):
        more = [command, *(["20270115"] if command == "close-on" else []), *map(str, options(site))]
        done = subprocess.run([*words, *more], env=env, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (0, expected, "")
    assert acts(site)[0][:3] == ("change", ME, True)


def test_admin_change_accepts_files_of_plugins(site):
    """New ones as well; the caller is that of the site."""
    words = ["admin", "change", "more.days", "-", *map(str, options(site))]
    denied = CliRunner().invoke(main, words, obj=ALICE, input="20270115\n")
    assert (denied.exit_code, denied.output) == (1, "error: denied: scheduleracl does not have alice\n")
    done = CliRunner().invoke(main, words, obj=BOSS, input="20270115\n")
    assert (done.exit_code, done.stderr) == (0, "")
    assert days(site)["more.days"] == "20270115\n"
    assert [act[1:3] for act in acts(site)] == [("alice", False), ("boss", True)]


def test_the_pool_of_run_may_be_set_in_the_environment(site):
    """Several paths, as in PATH; the command line takes precedence."""
    for number in (1, 2):
        write_ads(site.folder / f"p{number}.ads", slot(number, MyType='"Machine"'))
    env = {"NEGOTIATOR_POOL": os.pathsep.join(str(site.folder / f"p{number}.ads") for number in (1, 2))}
    both = CliRunner().invoke(main, ["run", "--no-audit"], env=env)
    one = CliRunner().invoke(main, ["run", "--no-audit", str(site.folder / "p1.ads")], env=env)
    assert [re.search(r"\d slots?", each.stdout)[0] for each in (both, one)] == ["2 slots", "1 slot"]


CHARGING = """
from negotiator.plugin import Charge, Quota, hookimpl

@hookimpl
def negotiator_charges(request):
    label = Quota(rule="cores", text="cores")
    yield Charge(counter=("cores", request.user), amount=2, limit=9, label=label)

@hookimpl
def negotiator_job_attributes():
    return ["Owner"]
"""


@pytest.fixture
def counted(site):
    """Return a site with a plugin that counts, two running jobs, and a third match that the pool does not show yet."""
    (site.folder / "bundle" / "plugins" / "counting.py").write_text(CHARGING)
    jobs = [app(1, JobStatus="2"), app(2, JobStatus="2", user="sue")]
    more = (slot(number, MyType='"Machine"') for number in range(2))
    write_ads(site.folder / "pool.ads", *jobs, *more)
    world = World(site.folder, load_bundle(site.folder / "bundle"))
    with world:
        world.slots, world.jobs = [slot()], [app(3)]
        assert len(world.cycle().matches) == 1
    return site


def test_the_usage_of_a_plugins_quotas_is_counted(counted):
    """The jobs of the pool; and with a state the matches that it does not show yet."""
    places = attrs.evolve(counted.places, pool=(counted.folder / "pool.ads",), now=NOW, state=None)
    found = BOSS.plugin_usage(places, "counting")
    assert (dict(found.counters.sums), found.failures) == ({("cores", "tester"): 2, ("cores", "sue"): 2}, ())
    assert (len(found.slots), found.queues.get("root.one").path) == (2, "root.one")
    found = BOSS.plugin_usage(attrs.evolve(places, state=counted.folder / "state"), "counting")
    assert dict(found.counters.sums) == {("cores", "tester"): 4, ("cores", "sue"): 2}
    others = BOSS.plugin_usage(places, "limits").counters.sums  # the counters of one plugin only
    assert {key[0] for key in others} == {"user"}


def test_the_matches_of_the_state_that_last_are_read(counted):
    targets = attrs.evolve(counted.places, state=counted.folder / "state")
    (match,) = BOSS.stored_matches(targets).matches
    assert (match.submitter, match.job, match.slot, match.at) == ("tester@d", "3.0", "s0@h", NOW)
    assert not match.shown


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"pool": ()}, InvalidCallError),
        ({"pool": (Path("nowhere"),)}, PoolError),
        ({"state": Path("nowhere")}, StateError),
    ],
)
def test_usage_without_a_readable_pool_or_state_is_an_error(counted, changed, error):
    places = attrs.evolve(counted.places, pool=(counted.folder / "pool.ads",), now=NOW)
    with pytest.raises(error):
        BOSS.plugin_usage(attrs.evolve(places, **changed), "counting")
