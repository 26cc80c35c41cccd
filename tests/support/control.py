"""A negotiator for tests of the daemon: it notes what is requested."""

import attrs

from negotiator.plugin import AccountChangeKind, CommandError, RequestAnswer, SlotInUse

ACCOUNTS = (
    {"Name": "<none>", "IsAccountingGroup": True, "Priority": 0.0, "LastUpdate": 1_700_000_000},
    {"Name": "ann@example.org", "IsAccountingGroup": False, "Priority": 500.5, "LastUpdate": 1_700_000_000},
    {"Name": 'b"b@example.org', "IsAccountingGroup": False, "Priority": 1e-5, "LastUpdate": 1_700_000_000},
)


@attrs.define
class NotingControl:
    """Implements ``PoolControl``; ``answer`` is the answer to all requests."""

    noted: list = attrs.field(factory=list)
    notices: list = attrs.field(factory=list)
    is_ending: bool = False
    progress: int = 0
    idle: float = 0.0
    answer: RequestAnswer = attrs.field(factory=lambda: RequestAnswer(ok=True, text="done"))

    def start_cycle(self):
        self.noted.append("cycle")

    def accounts(self, *, rollup=False):
        self.noted.append(("accounts", rollup))
        return ACCOUNTS

    def resources(self, submitter):
        assert submitter == "ann@example.org"
        return (SlotInUse("slot2@h@<1.2.3.4:5>", 1_700_000_000), SlotInUse("slot1@h@", 1_700_000_000))

    def change_account(self, by, request, wait=0.0):
        if request.kind is AccountChangeKind.FACTOR and request.value is not None and request.value < 1:
            raise CommandError("setfactor needs a value from 1")
        self.noted.append((by, request, wait > 0))
        return self.answer

    def reload(self, by, wait=0.0):
        self.noted.append(("reload", by, wait))
        return self.answer

    def notice(self, text):
        self.notices.append(text)

    def stop(self):
        self.noted.append("stop")

    def note_progress(self):
        self.progress += 1

    def idle_seconds(self):
        return self.idle
