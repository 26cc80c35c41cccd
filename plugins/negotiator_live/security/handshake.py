"""Begins a command in a session, a new one or one that is resumed.

Both sides then encrypt everything: HTCondor does so whenever there is a key for AES. Source: ``condor_secman.cpp``
(``SecManStartCommand``).
"""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Mapping
from typing import Final

from negotiator.plugin import printable
from negotiator_live.security.authentication import Credentials, authenticate, is_required
from negotiator_live.security.cipher import AesGcmCipher, KeyExchange, SessionKey
from negotiator_live.security.errors import (
    AuthenticationError,
    AuthorizationError,
    SecurityPolicyError,
    UnknownSessionError,
)
from negotiator_live.security.policy import ClientPolicy, Requirement, wire_name
from negotiator_live.security.sessions import SecuritySession
from negotiator_live.versions import VERSION
from negotiator_live.wire.ads import WireAd, quoted
from negotiator_live.wire.channel import Channel
from negotiator_live.wire.commands import DaemonCommand, authorization
from negotiator_live.wire.errors import malformed
from negotiator_live.wire.exchange import Deadline

_AUTHORIZED: Final = ("", "AUTHORIZED")
_YES: Final = "YES"
_FEATURES: Final = ("Authentication", "Encryption", "Integrity")
_LEEWAY: Final = 60  # seconds that a session ends earlier here than at the daemon
_COMMAND: Final = re.compile(r"\b\d{1,9}\b", re.ASCII)
_SECONDS: Final = re.compile(r"\d{1,9}", re.ASCII)
_LONGEST_SESSION: Final = 10 * 86400


def begin_session(channel: Channel, policy: ClientPolicy, credentials: Credentials) -> SecuritySession | None:
    """Begin the command of the channel's exchange in a new session; return it, None if it has no key.

    What follows is the command's own message.

    :raises DaemonError: the daemon denies the command, offers less than the policy requires, or does not answer as it should.
    """
    exchange = KeyExchange()
    answer = _negotiate(channel, {**_wishes(policy, credentials), "ECDHPublicKey": quoted(exchange.public)})
    _check(channel, policy, answer)
    if answer.string("Authentication") == _YES:
        _authenticate(channel, policy, credentials, answer)
    key = _agreed_key(channel, exchange, answer)
    if key is None and (
        Requirement.REQUIRED in (policy.encryption, policy.integrity)
        or _YES in map(answer.string, _FEATURES[1:])
    ):
        raise SecurityPolicyError(
            channel.exchange,
            "no key for AES was agreed on",
            f"allow AES in SEC_DEFAULT_CRYPTO_METHODS of the {channel.exchange.daemon}; versions before 9.0 have none",
        )
    _use(channel, key)
    result = channel.get_ad()
    channel.end_received()
    user = result.string("User")
    _check_authorized(channel, result.string("ReturnCode"), user)
    if key is None:
        return None
    commands = frozenset(map(int, _COMMAND.findall(result.string("ValidCommands"))))
    return SecuritySession(result.string("Sid"), key, user, commands, _lifetime(policy, answer))


def resume_session(channel: Channel, session: SecuritySession) -> None:
    """Begin the command of the channel's exchange in a session that the daemon knows.

    :raises UnknownSessionError: the daemon does not know it any more.
    :raises DaemonError: the daemon denies the command, or does not answer as it should.
    """
    answer = _negotiate(
        channel,
        {
            "OutgoingNegotiation": '"REQUIRED"',
            "Authentication": '"NO"',
            "Encryption": '"YES"',
            "Integrity": '"YES"',
            "Enact": '"YES"',
            "UseSession": '"YES"',
            "Sid": quoted(session.id),
            "CryptoMethods": '"AES"',
            "ResumeResponse": "true",
            "Nonce": quoted(base64.b64encode(os.urandom(33)).decode("ascii")),
        },
    )
    code = answer.string("ReturnCode")
    if code == "SID_NOT_FOUND":
        raise UnknownSessionError(channel.exchange, "the session is unknown there")
    _check_authorized(channel, code, session.user)
    _use(channel, session.key)


def _negotiate(channel: Channel, ad: Mapping[str, str]) -> WireAd:
    """Send what this side wants of the session; return the daemon's answer."""
    channel.put_int(DaemonCommand.DC_AUTHENTICATE)
    address = quoted(str(channel.exchange.address))
    command = str(int(channel.exchange.command))
    channel.put_ad({**ad, "RemoteVersion": quoted(VERSION), "ConnectSinful": address, "Command": command})
    channel.end_message()
    answer = channel.get_ad()
    channel.end_received()
    return answer


def _wishes(policy: ClientPolicy, credentials: Credentials) -> dict[str, str]:
    # Old daemons authenticate whenever they encrypt: they read Authentication, others AuthenticationNew.
    strongest = max((policy.authentication, policy.encryption, policy.integrity), key=list(Requirement).index)
    methods = ",".join(map(wire_name, credentials.usable(policy.methods, credentials.tokens.find("", ()))))
    return {
        "AuthMethods": quoted(methods),
        "CryptoMethods": '"AES"',
        "OutgoingNegotiation": '"REQUIRED"',
        "Authentication": quoted(strongest),
        "AuthenticationNew": quoted(policy.authentication),
        "Encryption": quoted(policy.encryption),
        "Integrity": quoted(policy.integrity),
        "Enact": '"NO"',
        "Subsystem": '"NEGOTIATOR"',
        "ServerPid": str(os.getpid()),
        "SessionDuration": quoted(str(policy.session_seconds)),
        "SessionLease": str(policy.lease_seconds),
        "NewSession": '"YES"',
        "NegotiatedSession": "true",
    }


def _check(channel: Channel, policy: ClientPolicy, answer: WireAd) -> None:
    """Raise if the daemon's answer is less than this side requires, or no answer at all."""
    required = (policy.authentication, policy.encryption, policy.integrity)
    for feature, requirement in zip(_FEATURES, required, strict=True):
        action = answer.string(feature)
        if action not in {_YES, "NO"}:
            raise malformed(channel.exchange, f"the answer to the handshake has no valid {feature}")
        if requirement is Requirement.REQUIRED and action != _YES:
            raise SecurityPolicyError(
                channel.exchange,
                f"the daemon refuses {feature.lower()}, which is required here ({feature.lower()}: REQUIRED)",
                f"set SEC_DEFAULT_{feature.upper()} of the {channel.exchange.daemon} to more than NEVER",
            )


def _authenticate(channel: Channel, policy: ClientPolicy, credentials: Credentials, answer: WireAd) -> None:
    if authenticate(channel, credentials, policy.methods, answer):
        return
    if policy.authentication is Requirement.REQUIRED or is_required(answer):
        offered = printable(answer.string("AuthMethodsList") or "none that this side has")
        domain = printable(answer.string("TrustDomain"))
        raise AuthenticationError(
            channel.exchange,
            f"no authentication method succeeded (both sides have: {offered})",
            f"for FS, run on the daemon's host; for IDTOKENS, put a token of trust domain {domain} made by"
            " condor_token_create where this side reads tokens; the daemon's log has its reason"
            + "".join(f"; {each}" for each in credentials.tokens.problems()),
        )


def _agreed_key(channel: Channel, exchange: KeyExchange, answer: WireAd) -> SessionKey | None:
    public = answer.string("ECDHPublicKey")
    if not public:
        return None
    if answer.string("CryptoMethods").partition(",")[0].strip() != "AES":
        raise SecurityPolicyError(
            channel.exchange,
            "the daemon chose an encryption other than AES",
            f"allow AES in SEC_DEFAULT_CRYPTO_METHODS of the {channel.exchange.daemon}",
        )
    key = exchange.agreed_key(public)
    if key is None:
        raise malformed(channel.exchange, "the public key of the daemon is invalid")
    return key


def _use(channel: Channel, key: SessionKey | None) -> None:
    if key is not None:
        channel.encrypt(AesGcmCipher(key, channel.packets.digests))
    channel.packets.end_handshake()
    channel.packets.answered = False  # a connection that is closed now was denied the command


def _check_authorized(channel: Channel, code: str, user: str) -> None:
    if code in _AUTHORIZED:
        return
    exchange = channel.exchange
    level = authorization(exchange.command)
    name = printable(user) or "unauthenticated@unmapped"
    raise AuthorizationError(
        exchange,
        f"{printable(code)}: {name} is not authorized there",
        f"the command needs {level} authorization: add {name} to ALLOW_{level} in the configuration of the"
        f" {exchange.daemon}; its {exchange.daemon.log} has the reason",
    )


def _lifetime(policy: ClientPolicy, answer: WireAd) -> Deadline:
    text = answer.string("SessionDuration")
    seconds = int(text) if _SECONDS.fullmatch(text) else policy.session_seconds
    lease = answer.integer("SessionLease")
    shortest = min(seconds, lease if lease and lease > 0 else seconds, _LONGEST_SESSION)
    return Deadline(max(shortest - _LEEWAY, shortest // 2))
