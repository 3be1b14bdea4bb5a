"""Texts made to break a reader: each ends, within bounds, and in no exception."""

import pytest

from core.migration.marked_text import MAX_NESTED, JsonError, json_entries, toml_entries, yaml_entries
from tests.core.migration.text_files import found


@pytest.mark.parametrize(
    "piece",
    [
        "[",
        "{",
        '"',
        "'",
        "\\",
        "#",
        "/*",
        "<<A\n",
        "- ",
        "a:\n",
        "a: {",
        "${",
        "`",
        "(",
        "|",
        "\t",
        "= ",
        '"""',
        "&a ",
        ": ",
    ],
)
def test_texts_of_one_sign_end(piece):
    """A hundred kilobytes of it, for every kind: no error, and next to no hits."""
    text = piece * (100_000 // len(piece))
    for path in (
        "a.cu",
        "requirements.txt",
        "setup.cfg",
        "Dockerfile",
        "a.sh",
        "a.yaml",
        "a.json",
        "a.toml",
        "uv.lock",
    ):
        assert len(found(path, text)) <= 1


def test_nesting_is_bounded_in_every_reader():
    with pytest.raises(JsonError):
        list(json_entries("[" * 100_000 + "]" * 100_000))
    deep = "\n".join(" " * i + "a:" for i in range(2000))
    assert max(len(entry.path) for entry in yaml_entries(deep)) <= MAX_NESTED + 1
    assert all(len(entry.path) <= MAX_NESTED + 1 for entry in toml_entries("a = " + "[" * 100_000))


@pytest.mark.parametrize("text", ['{"a" 1}', '{"a": 1', "[1 2]", "]", '{"a": }}', "true", ""])
def test_what_is_no_json_has_no_hits(text):
    assert found("a.json", text) == []


def test_a_setup_that_does_not_parse_has_no_hits():
    assert found("setup.py", "setup(install_requires=['apex'") == []
