"""What every test in the browser rests on."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

    from tests.browser.conftest import Profile, Server


def test_nothing_of_a_reader_is_left_for_the_next(
    server: Server, desktop_profile: Profile, request: pytest.FixtureRequest
) -> None:
    """Tests share a browser profile, so each must find it empty."""
    kept = "[localStorage.length, sessionStorage.length, document.cookie.includes('a=1')]"
    with desktop_profile.context(request) as context:
        page = context.new_page()
        page.goto(f"{server.url}/_stcore/health")
        page.evaluate("localStorage.a = sessionStorage.a = document.cookie = 'a=1'")
        assert page.evaluate(kept) == [1, 1, True]
    with desktop_profile.context(request) as context:
        page = context.new_page()
        page.goto(f"{server.url}/_stcore/health")
        assert page.evaluate(kept) == [0, 0, False]
