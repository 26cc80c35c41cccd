"""Pages in a real browser: which there are, and what a page tells about itself."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

from axe_playwright_python.sync_playwright import Axe

#: As root in a container; and nothing is fetched but what a page requests.
ARGUMENTS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
#: Elements that are wider than the window, or whose contents are cut off.
TOO_WIDE = """() => [...document.querySelectorAll('body *')]
    .filter(each => each.getBoundingClientRect().right > window.innerWidth + 0.5 && !each.closest('.skip'))
    .map(each => each.outerHTML.slice(0, 120))"""
#: What the keyboard has to reach, in the order of the page, each with a number for ``FOCUSED``.
FOCUSABLE = """() => [...document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex="0"]')]
    .filter(each => each.checkVisibility({visibilityProperty: true}) && !each.disabled && each.type !== 'hidden')
    .map((each, number) => { each.dataset.stop = number; return each.outerHTML.slice(0, 120); })"""
#: The number of the element that has the focus, -1 if none has it; whether it is seen (of a text area, where one writes), and marked.
FOCUSED = """() => {
    const found = document.activeElement, box = found.getBoundingClientRect(), style = getComputedStyle(found);
    const bottom = found.matches('textarea') ? box.top + 30 : box.bottom;
    return [
        Number(found.dataset.stop ?? -1),
        box.width > 0 && box.left >= 0 && box.right <= innerWidth + 0.5 && box.top >= 0 && bottom <= innerHeight + 0.5,
        style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2,
    ];
}"""
_LINKS = "found => found.map(each => each.href)"


def crawled(page, address):
    """Return the paths of all pages in the navigation, and of one of each kind of page that the pages link to."""
    page.goto(f"{address}/pool")
    waiting = list(dict.fromkeys(page.eval_on_selector_all("header nav a[href]", _LINKS)))
    kinds, paths = {_kind(each) for each in waiting}, []
    while waiting:
        url = urlsplit(waiting.pop(0))
        paths.append(url.path + (f"?{url.query}" if url.query else ""))
        page.goto(f"{address}{paths[-1]}")
        for link in page.eval_on_selector_all("header nav a[href], main a[href]", _LINKS):
            if link.startswith(f"{address}/pool") and _kind(link) not in kinds:
                kinds.add(_kind(link))
                waiting.append(link)
    return paths


def _kind(link):
    """Return what the addresses of pages of a kind have in common: ``/pool/queues/*``, ``/pool/applications?user``."""
    url = urlsplit(link)
    path = re.sub(
        r"^(/pool/[^/]+)/(.*)", lambda found: found[1] + re.sub("[^/]+", "*", f"/{found[2]}"), url.path
    )
    return path, *sorted(parse_qs(url.query))


def violations(page, rules=None):
    """Return the rules of axe-core that a page violates, with the first element that does."""
    options = {"resultTypes": ["violations"]} | ({"runOnly": rules} if rules else {})
    found = Axe().run(page, options=options).response["violations"]
    return [f"{page.url}: {each['help']}: {each['nodes'][0]['html'][:200]}" for each in found]


class Complaints:
    """What a browser complains about: errors on its console, violations of the content policy, answers of 4xx and 5xx."""

    def __init__(self, page):
        self.found = []
        page.on("console", lambda line: self.found.append(f"{page.url}: {line.text}"))
        page.on("pageerror", lambda error: self.found.append(f"{page.url}: {error}"))
        page.on(
            "response",
            lambda answer: self.found.extend(
                [f"{answer.url}: {answer.status}"] if answer.status >= 400 else []
            ),
        )
