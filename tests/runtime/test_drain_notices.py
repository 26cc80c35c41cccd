"""When a queue drains, its users and administrators are notified once, and no cycle waits for that."""

import email
import json
import time

import pytest

from queueing import QUEUES, World, app, bundle, records

WITHOUT = QUEUES.replace('          - {name: two, adminacl: "deputy"}\n', "")
ROOT_ADMINS = QUEUES.replace('submitacl: "*"', 'submitacl: "*"\n        adminacl: "chief ops"')


class Site:
    """A negotiator whose queue root.two drains; the program ``tell`` writes what it reads to ``told``."""

    def __init__(self, folder, settings, then=""):
        self.folder, self.told = folder, folder / "told"
        tell = folder / "tell"
        tell.write_text(f"#!/bin/sh\n{{ cat; echo; echo ----; }} >> {self.told}\n{then}\n")
        tell.chmod(0o755)
        self.pool = settings.replace("TELL", str(tell))
        self.world = World(folder, bundle(folder / "b", ROOT_ADMINS, self.pool))
        self.world.jobs = [app(1), app(2, queue="root.two"), app(3, user="ann", queue="root.two")]

    def drain(self):
        self.use(WITHOUT)

    def use(self, queues):
        new = bundle(
            self.folder / "b",
            queues.replace('submitacl: "*"', 'submitacl: "*"\n        adminacl: "chief ops"'),
            self.pool,
        )
        self.world.run.state_manager.use_bundle(new, self.world.now)
        self.world.run.bundle = self.world.bundle = new

    def cycle(self):
        """Run a cycle, and return the ends of commands."""
        self.world.now += 1
        self.world.cycle()
        return self.world.run.notify(finish=True)

    @property
    def messages(self):
        if not self.told.exists():
            return []
        return [each.strip() for each in self.told.read_text().split("----\n") if each.strip()]


@pytest.fixture
def site(tmp_path):
    made = Site(tmp_path, "notify: {command: [TELL]}\n")
    with made.world:
        made.cycle()
        yield made


def test_a_command_reads_who_is_concerned(site):
    """The users with applications in the queue, and the administrators of it and of the queues above."""
    assert site.messages == []
    site.drain()
    (ended,) = site.cycle()
    assert ended.failure == ""
    (message,) = map(json.loads, site.messages)
    assert message == {
        "event": "queue_draining",
        "queue": "root.two",
        "since": message["since"],
        "users": ["ann", "tester"],
        "administrators": ["deputy", "chief", "@ops"],
    }
    (record,) = records(site.folder / "audit", "drain_notice")
    assert (record["queue"], record["users"], record["ok"]) == ("root.two", ["ann", "tester"], True)


def test_each_drain_is_told_once_also_after_a_restart(site):
    """A queue that returns and drains again drains anew."""
    site.drain()
    for _ in range(3):
        site.cycle()
    site.world.stop()
    site.world.start()
    site.use(WITHOUT)
    site.cycle()
    assert len(site.messages) == 1
    site.use(QUEUES)
    site.cycle()
    site.drain()
    site.cycle()
    assert len(site.messages) == 2


def test_no_cycle_waits_for_a_command(tmp_path):
    """It is ended after its deadline, which is reported and recorded; and not started again."""
    site = Site(tmp_path, "notify: {command: [TELL], seconds: 1}\n", then="sleep 60")
    with site.world as world:
        site.cycle()
        site.drain()
        world.cycle()
        before = time.monotonic()
        assert world.run.notify() == ()
        world.cycle()
        assert world.run.notify() == ()
        assert time.monotonic() - before < 0.9
        (ended,) = site.cycle()
        assert ended.failure == "it was ended after 1 s"
        assert str(ended).startswith("not notified of draining root.two: ")
        assert site.cycle() == ()
        assert [each["ok"] for each in world.records("drain_notice")] == [False]


@pytest.mark.parametrize("then", ["exit 1", "missing"])
def test_a_command_that_fails_changes_nothing_else(tmp_path, then):
    """Nor one that can't be started."""
    site = Site(tmp_path, "notify: {command: [TELL]}\n", then)
    with site.world:
        site.cycle()
        if then == "missing":
            (site.folder / "tell").unlink()
        site.drain()
        (ended,) = site.cycle()
        assert ended.failure
        assert site.cycle() == ()


def test_a_mail_goes_to_the_address_and_to_plain_names(tmp_path):
    """Names come from ads: one that is no plain name gets no mail, and can't add a header."""
    site = Site(tmp_path, "notify: {address: ops@example.org, domain: example.org, sendmail: [TELL]}\n")
    names = ["sue", "-oQ/tmp", "a b", "x,y", "two@else.org", "ö"]
    site.world.jobs += [app(10 + number, user=name, queue="root.two") for number, name in enumerate(names)]
    with site.world:
        site.cycle()
        site.drain()
        site.cycle()
    (message,) = map(email.message_from_string, site.messages)
    recipients = {"ops", "deputy", "chief", "sue", "ann", "tester"}
    expected = {*(f"{name}@example.org" for name in recipients), "two@else.org"}
    assert {each.strip() for each in message["Bcc"].split(",")} == expected
    assert message["Subject"] == "queue root.two is draining"
    assert "takes no new application" in message.get_payload()


def test_without_settings_nobody_is_told_and_later_settings_apply_to_queues_that_drain(tmp_path):
    site = Site(tmp_path, "")
    with site.world:
        site.cycle()
        site.drain()
        assert site.cycle() == ()
        site.pool = f"notify: {{command: [{site.folder / 'tell'}]}}\n"
        site.drain()
        site.cycle()
        assert len(site.messages) == 1
