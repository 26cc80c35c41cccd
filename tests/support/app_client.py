"""A client of an ASGI application in this process, without a socket."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import httpx


class _Transport(httpx.BaseTransport):
    def __init__(self, app):
        self._app = httpx.ASGITransport(app=app)

    def handle_request(self, request):
        async def answer():
            response = await self._app.handle_async_request(request)
            content = b"".join([part async for part in response.aiter_raw()])
            return httpx.Response(response.status_code, headers=response.headers.raw, content=content)

        # A thread of its own: playwright runs a loop in the one of the tests.
        with ThreadPoolExecutor(1) as thread:
            return thread.submit(asyncio.run, answer()).result()


def app_client(app, address="http://localhost"):
    """Return a client that keeps cookies, as a browser does."""
    return httpx.Client(transport=_Transport(app), base_url=address)
