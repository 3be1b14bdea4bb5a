"""The look-up of known vulnerabilities: it passes unchecked only when nobody answers, and says so."""

from __future__ import annotations

import json

import pytest

from scripts import audit

REFUSED = (
    "Traceback (most recent call last):\n"
    "urllib3.exceptions.ProxyError: ('Unable to connect to proxy', …)\n"
    "requests.exceptions.ProxyError: HTTPSConnectionPool(host='127.0.0.1', port=9): Max retries exceeded"
)
BUSY = (
    "requests.exceptions.HTTPError: 503 Server Error: for url: …\n\n"
    "The above exception was the direct cause of the following exception:\n\n"
    "pip_audit._service.interface.ServiceError"
)
UNTRUSTED = "requests.exceptions.SSLError: HTTPSConnectionPool(…): certificate verify failed: no local issuer"
BLOCKED = "ERROR:pip_audit._cli:Tip: your network may be blocking this service. Try another service with `-s SERVICE`"


def answer(*rows: dict[str, object]) -> str:
    return json.dumps({"dependencies": rows, "fixes": []})


SOUND: dict[str, object] = {"name": "a", "version": "1", "vulns": []}
UNKNOWN: dict[str, object] = {"name": "b", "skip_reason": "not found"}
BROKEN: dict[str, object] = {"name": "c", "version": "2", "vulns": [{"id": "PYSEC-1", "fix_versions": ["2.1"]}]}


@pytest.mark.parametrize("errors", [REFUSED, BUSY, UNTRUSTED, BLOCKED])
def test_no_answer_from_an_unreachable_source_passes_and_says_so(errors: str) -> None:
    code, lines = audit.judge("", errors)
    assert code == 0
    assert lines[0].startswith("NOT CHECKED: ")


@pytest.mark.parametrize(
    "errors",
    [
        "",
        "pip-audit: error: unrecognized arguments: --bogus",
        "ERROR:pip_audit._cli:invalid requirements input: constraints.txt",
        "ModuleNotFoundError: No module named 'requests'",
        "requests.exceptions.HTTPError: 403 Client Error: Forbidden",
    ],
)
def test_any_other_run_without_an_answer_fails(errors: str) -> None:
    code, lines = audit.judge("", errors)
    assert code == 1
    assert "NOT CHECKED" not in lines[0]


def test_a_source_that_knows_none_of_the_packages_has_checked_nothing() -> None:
    assert audit.judge(answer(UNKNOWN, UNKNOWN), "") == (
        0,
        ["NOT CHECKED: the source that answers here knows none of the 2 packages"],
    )


def test_a_vulnerable_package_fails_and_is_named() -> None:
    code, lines = audit.judge(answer(SOUND, UNKNOWN, BROKEN), "")
    assert code == 1
    assert lines == [
        "c 2: PYSEC-1, fixed in 2.1",
        "known vulnerabilities: 1, in 2 packages looked up",
        "NOT CHECKED, unknown to the source: b",
    ]


def test_packages_without_a_known_vulnerability_pass() -> None:
    assert audit.judge(answer(SOUND), "") == (0, ["known vulnerabilities: 0, in 1 packages looked up"])


def test_an_empty_answer_fails() -> None:
    assert audit.judge(answer(), "")[0] == 1


def test_arguments_that_pip_audit_refuses_fail(capsys: pytest.CaptureFixture[str]) -> None:
    assert audit.main(["--no-such-argument"]) == 1
    assert "--no-such-argument" in capsys.readouterr().out
