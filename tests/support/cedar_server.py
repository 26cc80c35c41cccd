"""The server's side of a handshake, for tests: it agrees on a key, and may lie at each step."""

import threading

from negotiator_live.security.cipher import AesGcmCipher, KeyExchange
from negotiator_live.wire.ads import quoted


class HandshakeServer:
    """Answers DC_AUTHENTICATE on a channel; ``policy`` and ``result`` replace attributes of its two answers.

    ``wishes`` is the ad that the client sent.
    """

    def __init__(self, channel, policy=None, result=None, authenticate=None):
        self.channel, self.authenticate = channel, authenticate
        exchange = KeyExchange()
        self.exchange = exchange
        yes = dict.fromkeys(("Encryption", "Integrity"), '"YES"')
        self.policy = {
            "Authentication": '"NO"',
            **yes,
            "CryptoMethods": '"AES"',
            "ECDHPublicKey": quoted(exchange.public),
        }
        self.policy |= policy or {}
        self.result = {
            "ReturnCode": '"AUTHORIZED"',
            "Sid": '"host:1:2:3"',
            "User": '"me@here"',
            "ValidCommands": '"5,12"',
        }
        self.result |= result or {}
        self.wishes, self.error = None, None

    def __enter__(self):
        self.thread = threading.Thread(target=self._run)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.thread.join()

    def _run(self):
        try:
            self.serve()
        except Exception as error:  # noqa: BLE001 - what the client does is tested, not this
            self.error = error
            self.channel.close()

    def serve(self):
        """Answer a handshake, in this thread."""
        channel = self.channel
        assert channel.get_int() == 60010
        self.wishes = channel.get_ad()
        channel.end_received()
        channel.put_ad({name: text for name, text in self.policy.items() if text is not None})
        channel.end_message()
        if self.authenticate is not None:
            self.authenticate(channel)
        key = self.exchange.agreed_key(self.wishes.string("ECDHPublicKey"))
        channel.encrypt(AesGcmCipher(key, channel.packets.digests))
        channel.put_ad({name: text for name, text in self.result.items() if text is not None})
        channel.end_message()
        self.key = key.reveal()
