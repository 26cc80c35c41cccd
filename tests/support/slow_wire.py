"""A wire between two network interfaces, which may be slow and lose frames: for kernels without netem.

``slow_wire.py FAR NEAR`` carries frames until standard input ends, which has lines such as ``0.01 0.05``: the delay in seconds
in each direction, and the part of the frames that is lost. ``slow_wire.py plain INTERFACE`` lets an interface send frames as they
are on a wire: with checksums, and no larger than its MTU.
"""

import array
import contextlib
import fcntl
import heapq
import itertools
import random
import select
import socket
import struct
import sys
import time

ALL = 0x0003  # ETH_P_ALL
SIOCETHTOOL = 0x8946
OFFLOADS = (0x17, 0x1F, 0x24)  # ETHTOOL_STXCSUM, ETHTOOL_STSO, ETHTOOL_SGSO
SO_SNDBUFFORCE, SO_RCVBUFFORCE = 32, 33  # as root, beyond the limit of the system
OUTGOING = 4  # PACKET_OUTGOING: a frame that this program sent itself


def plain(interface):
    """Switch off what an interface leaves to the one at its other end."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        for command in OFFLOADS:
            value = array.array("I", (command, 0))  # struct ethtool_value
            request = struct.pack("16sP", interface.encode(), value.buffer_info()[0])
            fcntl.ioctl(control, SIOCETHTOOL, request)


def carry(names):
    """Carry frames between two interfaces."""
    ends = []
    for name in names:
        end = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ALL))
        end.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 64 << 20)
        end.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, 64 << 20)
        end.bind((name, ALL))
        end.setblocking(False)
        ends.append(end)
    other = dict(zip(ends, reversed(ends), strict=True))
    chance, order, waiting = random.Random(1), itertools.count(), []  # noqa: S311 - losses, not secrets
    delay = loss = 0.0
    while True:
        left = None if not waiting else max(0.0, waiting[0][0] - time.monotonic())
        readable, _, _ = select.select([sys.stdin, *ends], [], [], left)
        if sys.stdin in readable:
            line = sys.stdin.readline()
            if not line:
                return
            delay, loss = map(float, line.split())
        now = time.monotonic()
        for end in ends:
            if end not in readable:
                continue
            for _ in range(64):
                try:
                    frame, address = end.recvfrom(1 << 16)
                except BlockingIOError:
                    break
                if address[2] != OUTGOING and chance.random() >= loss:
                    heapq.heappush(waiting, (now + delay, next(order), other[end], frame))
        while waiting and waiting[0][0] <= time.monotonic():
            *_, end, frame = heapq.heappop(waiting)
            with contextlib.suppress(OSError):  # without room or a link the frame is lost
                end.send(frame)


if __name__ == "__main__":
    if sys.argv[1] == "plain":
        plain(sys.argv[2])
    else:
        carry(sys.argv[1:])
