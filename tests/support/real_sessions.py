"""Clients of a real pool for tests: by the file system, by a token, and a negotiation with its schedd."""

import time

from negotiator_live.collector import SUBMITTERS_WITH_CAPABILITIES, Collector
from negotiator_live.security.authentication import Credentials
from negotiator_live.security.client import SecureClient
from negotiator_live.security.methods import FilesystemMethod
from negotiator_live.security.policy import ClientPolicy, Requirement
from negotiator_live.security.sessions import SecuritySession
from negotiator_live.wire.addresses import DaemonAddress
from negotiator_live.wire.commands import DaemonCommand
from negotiator_live.wire.exchange import DaemonKind, Deadline, Exchange
from secret_file import write_secret

REQUIRED = Requirement.REQUIRED
STRICT = ClientPolicy(REQUIRED, REQUIRED, REQUIRED)
PATIENCE = 60.0
SUBMIT = "executable = /bin/sleep\narguments = 1\nlog = /dev/null\nrequest_memory = 1\nrequest_disk = 1M\nqueue 3\n"


def by_filesystem(pool):
    """Return a client that authenticates as condor by the file system of the pool's root folder."""
    users = (line.split(":") for line in (pool.root / "etc" / "passwd").read_text().splitlines())
    owner = next(int(user[2]) for user in users if user[0] == "condor")
    return SecureClient(STRICT, Credentials(FilesystemMethod(root=pool.root, owner=owner)))


def by_token(pool, folder, identity):
    file = folder / "token"
    write_secret(file, pool.inside("run", "condor_token_create", "-identity", identity))
    return SecureClient(STRICT, Credentials.with_token_file(file))


def ads_of(text):
    """Return the ads of a text in long form."""
    ads = text.split("\n\n")[:-1]
    return [dict(line.split(" = ", 1) for line in ad.splitlines()) for ad in ads]


def requests_of(pool, address):
    """Negotiate with the schedd of the pool's tester in the session of its capability; return its requests, twice."""
    pool.submit(SUBMIT)
    client, end, submitters = by_filesystem(pool), time.monotonic() + PATIENCE, []
    while not submitters and time.monotonic() < end:
        time.sleep(0.5)
        submitters = ads_of("".join(Collector(address, client).query(SUBMITTERS_WITH_CAPABILITIES)))
    (submitter,) = submitters
    schedd = DaemonAddress.parse(submitter["MyAddress"].strip('"'))
    exchange = Exchange(
        DaemonKind.SCHEDD, submitter["ScheddName"].strip('"'), schedd, DaemonCommand.NEGOTIATE
    )
    capability = SecuritySession.of_capability(submitter["Capability"].strip('"').replace('\\"', '"'))
    header = {
        "Owner": submitter.get("OriginalName", submitter["Name"]),
        "AutoClusterAttrs": '"JobUniverse,RequestCpus,RequestDisk,RequestMemory"',
        "SubmitterTag": submitter.get("SubmitterTag", '""'),
        "NegotiatorName": '"test"',
    }
    rounds = []
    with SecureClient().open(exchange, Deadline(20), capability) as channel:
        channel.put_ad(header)
        channel.end_message()
        rounds.append(_requests(channel))
        assert not channel.has_ended
        channel.begin(exchange, Deadline(20))  # the connection is used again
        channel.put_int(DaemonCommand.NEGOTIATE)
        channel.put_ad(header)
        channel.end_message()
        rounds.append(_requests(channel))
    return schedd, rounds


def _requests(channel):
    """Fetch the requests of a schedd and end the negotiation."""
    requests = []
    channel.put_int(DaemonCommand.SEND_RESOURCE_REQUEST_LIST)
    channel.put_int(10)
    channel.end_message()
    while (answer := channel.get_int()) == DaemonCommand.JOB_INFO:
        requests.append(channel.get_ad())
        channel.end_received()
    assert answer == DaemonCommand.NO_MORE_JOBS
    channel.end_received()
    channel.put_int(DaemonCommand.END_NEGOTIATE)
    channel.end_message()
    return requests
