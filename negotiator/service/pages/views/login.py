"""*Log in*: the form for the token, or who is logged in and the form to log out."""

from __future__ import annotations

from typing import Final

import attrs

from negotiator.service.callers import LoggedIn
from negotiator.service.pages.views.elements import BASE, message

_LONGEST: Final = 2000  # characters of an address
#: Names of the fields of forms.
TOKEN, BACK, FORM_VALUE = "token", "back", "form"


@attrs.frozen
class LoginView:
    """The page. ``back`` is where the login leads; ``failure`` is why the last one failed. ``user`` is empty if nobody is logged in."""

    back: str
    failure: str
    can_log_in: bool
    user: str
    role: str
    form_value: str


def login_page(back: str, found: LoggedIn | None, failure: str = "", *, can_log_in: bool = True) -> LoginView:
    """Return the page.

    :param back: a path with its query, as a client gave it.
    :param can_log_in: False if the service has no tokens.
    """
    user, role, form_value = (
        ("", "", "")
        if found is None
        else (message(found.entry.user), str(found.entry.role), found.form_value)
    )
    return LoginView(page_address(back), message(failure), can_log_in, user, role, form_value)


def page_address(text: str) -> str:
    """Return the address of a page if a text is one, else that of the first page: a login leads nowhere else."""
    is_page = text == BASE or text.startswith((f"{BASE}/", f"{BASE}?"))
    is_plain = text.isascii() and text.isprintable() and not set(text) & set("\\ ")
    return text if is_page and is_plain and len(text) <= _LONGEST else BASE
