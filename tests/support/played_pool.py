"""A pool whose collector and schedds a test plays: their side of the protocol, in sessions of its own."""

import socket
import threading
from contextlib import ExitStack, contextmanager

from cedar import EXCHANGE
from cedar_server import HandshakeServer
from negotiator_live.wire.ads import quoted
from negotiator_live.wire.channel import Channel
from negotiator_live.wire.commands import DaemonCommand
from negotiator_live.wire.exchange import Deadline

_SECONDS = 60.0


@contextmanager
def daemon(serve):
    """Serve each connection with ``serve(channel, command)``, in a thread of its own; yield the address ``host:port``."""
    with socket.create_server(("127.0.0.1", 0), backlog=256) as listener:
        threads = []

        def answer(connection):
            with Channel(connection, EXCHANGE, Deadline(_SECONDS)) as channel:
                handshake = HandshakeServer(channel, {"SessionDuration": '"0"'}, {"ValidCommands": '""'})
                try:
                    handshake.serve()
                    serve(channel, handshake.wishes.integer("Command"))
                except Exception:  # noqa: BLE001 - the client closed the connection; what it got is tested
                    return

        def accept():
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                threads.append(threading.Thread(target=answer, args=(connection,)))
                threads[-1].start()

        accepting = threading.Thread(target=accept)
        accepting.start()
        try:
            yield "{}:{}".format(*listener.getsockname())
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            for thread in (accepting, *threads):
                thread.join()


class PlayedSchedd:
    """A schedd with one submitter, which offers these request ads and notes the answers.

    ``matches`` are (claim id, ad) and ``rejections`` texts, as they came. If ``hangs`` is an Event, the schedd answers nothing until
    it is set. ``called`` is set by the first connection.

    ``running`` are its answers to queries for running jobs, one after the other, each a list of ads, or None for a connection that
    is closed; the last one is repeated. ``conditions`` are those of the queries. Only a schedd with such answers advertises itself.
    """

    def __init__(self, name, requests, hangs=None, running=()):
        self.name, self.requests, self.hangs, self.running = name, requests, hangs, running
        self.matches, self.rejections, self.header, self.conditions = [], [], None, []
        self.address = ""
        self.called = threading.Event()

    def __call__(self, channel, command):
        """Negotiate on a connection, or answer a query."""
        self.called.set()
        if command == DaemonCommand.QUERY_JOB_ADS:
            self._answer(channel)
            return
        if self.hangs is not None and not self.hangs.is_set():
            self.hangs.wait(_SECONDS)
            return
        self.header = channel.get_ad()
        channel.end_received()
        waiting = list(self.requests)
        while (command := channel.get_int()) != DaemonCommand.END_NEGOTIATE:
            if command == DaemonCommand.SEND_RESOURCE_REQUEST_LIST:
                count = channel.get_int()
                channel.end_received()
                sent, waiting = waiting[:count], waiting[count:]
                for request in sent:
                    channel.put_int(DaemonCommand.JOB_INFO)
                    channel.put_ad(request)
                    channel.end_message()
                if len(sent) < count:
                    channel.put_int(DaemonCommand.NO_MORE_JOBS)
                    channel.end_message()
            elif command == DaemonCommand.PERMISSION_AND_AD:
                self.matches.append((channel.get_string(), channel.get_ad()))
                channel.end_received()
            else:
                assert command == DaemonCommand.REJECTED_WITH_REASON
                self.rejections.append(channel.get_string())
                channel.end_received()
        channel.end_received()

    def _answer(self, channel):
        self.conditions.append(channel.get_ad()["Requirements"])
        channel.end_received()
        jobs = self.running[min(len(self.conditions), len(self.running)) - 1]
        for ad in [] if jobs is None else [*jobs, {"Owner": "0"}]:
            channel.put_ad(ad)
            channel.end_message()

    def ad(self):
        """Return its own ad."""
        return {"MyType": '"Scheduler"', "Name": quoted(self.name), "MyAddress": quoted(f"<{self.address}>")}

    def submitter(self):
        """Return the submitter ad that the collector has."""
        names = {"Name": "ann@d", "ScheddName": self.name, "MyAddress": f"<{self.address}>"}
        return {
            "MyType": '"Submitter"',
            "IdleJobs": "1",
            **{key: quoted(text) for key, text in names.items()},
        }


class PlayedCollector:
    """A collector with these slots, and the submitters of schedds. It notes all commands in a list, and the ads to merge."""

    def __init__(self, slots, schedds, commands, merged):
        self.slots, self.schedds, self.commands, self.merged = slots, schedds, commands, merged

    def __call__(self, channel, command):
        """Answer a query; an update has no answer."""
        ad = channel.get_ad()
        channel.end_received()
        self.commands.append(command)
        if command == DaemonCommand.MERGE_STARTD_AD:
            self.merged.append(ad)
            while channel.get_int() == DaemonCommand.MERGE_STARTD_AD:  # until the connection ends
                self.merged.append(channel.get_ad())
                channel.end_received()
            return
        if command in {DaemonCommand.UPDATE_NEGOTIATOR_AD, DaemonCommand.INVALIDATE_NEGOTIATOR_ADS}:
            return
        for ad in self._found(command):
            channel.put_int(1)
            channel.put_ad(ad)
        channel.put_int(0)
        channel.end_message()

    def _found(self, command):
        if command == DaemonCommand.QUERY_STARTD_ADS:
            return self.slots
        if command == DaemonCommand.QUERY_STARTD_PVT_ADS:
            private = ("Name", "MyAddress", "MyType")
            return [
                {
                    **{name: slot[name] for name in private},
                    "ClaimId": quoted(f"claim of {slot['Name'][1:-1]}"),
                }
                for slot in self.slots
            ]
        if command == DaemonCommand.QUERY_SCHEDD_ADS:
            return [schedd.ad() for schedd in self.schedds if schedd.running]
        if command == DaemonCommand.QUERY_MULTIPLE_PVT_ADS:
            return [schedd.submitter() for schedd in self.schedds]
        return []


@contextmanager
def played_pool(slots, schedds, commands=None, merged=None):
    """Play these schedds and a collector, which notes its commands and the ads to merge in lists; yield its address."""
    commands, merged = [] if commands is None else commands, [] if merged is None else merged
    with ExitStack() as stack:
        for schedd in schedds:
            schedd.address = stack.enter_context(daemon(schedd))
        collector = stack.enter_context(daemon(PlayedCollector(slots, schedds, commands, merged)))
        # A daemon that hangs is released before its thread is awaited.
        stack.callback(lambda: [schedd.hangs.set() for schedd in schedds if schedd.hangs is not None])
        yield collector
