"""Debian's chromium, driven by playwright, and the service with one configuration file over a busy pool."""

import httpx
import pytest
from playwright.sync_api import sync_playwright

from browsing import ARGUMENTS, crawled
from lively_pool import write_lively_pool
from negotiator.app.token_roles import Role
from negotiator.app.tokens import make_token
from processes import LongCommand
from served_pool import waited_for

CONFIGURATION = """\
bundle: bundle
state: state
audit_log: audit
pool_driver: files
pool: [pool]
every: 3600
web_bind_port: 0
web_tokens: tokens.yaml
"""


@pytest.fixture(scope="session")
def browser(debian_program):
    path = debian_program("chromium", "chromium", "fonts-dejavu-core")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=[*ARGUMENTS])
        yield started
        started.close()


@pytest.fixture(scope="session")
def token(folder):
    """The token of an administrator of the service."""
    (folder / "tokens.yaml").touch(0o600)
    return make_token(folder / "tokens.yaml", "boss", (), Role.SCHEDULER_ADMINISTRATOR, None)


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("served")


@pytest.fixture(scope="session")
def served(folder, token):
    """The address of the pages of ``negotiator serve`` after its first cycle."""
    assert token
    write_lively_pool(folder)
    (folder / "negotiator.yaml").write_text(CONFIGURATION)
    with LongCommand("serve", "--config", "negotiator.yaml", cwd=folder) as serve:
        address = serve.wait_for(r"web .*serving (\S+)/ws/v1/")[1]
        with httpx.Client(base_url=address, timeout=60) as client:
            waited_for(
                lambda: "negotiator_cycles_total 1.0" in client.get("/metrics").text, "the first cycle"
            )
        yield address


@pytest.fixture(scope="session")
def session(browser, served, token):
    """The cookie of a browser in which the administrator is logged in."""
    page = browser.new_page()
    page.goto(f"{served}/pool/login")
    page.fill("input[name=token]", token)
    page.press("input[name=token]", "Enter")
    page.wait_for_url(f"{served}/pool")
    found = page.context.storage_state()
    page.close()
    return found


@pytest.fixture(scope="session")
def paths(browser, served, session):
    """All pages that the navigation leads to."""
    page = browser.new_page(storage_state=session)
    found = crawled(page, served)
    page.close()
    return found


@pytest.fixture
def open_page(browser, session):
    """Return a function that opens a window."""
    opened = []

    def open_window(width=1280, scheme="light", *, logged_in=True):
        looks = {"viewport": {"width": width, "height": 844}, "color_scheme": scheme}
        cookies = {"storage_state": session} if logged_in else {}
        opened.append(browser.new_page(**looks, **cookies))
        return opened[-1]

    yield open_window
    for page in opened:
        page.close()
