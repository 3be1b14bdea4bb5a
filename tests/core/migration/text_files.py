"""What the rules for texts find in one file, for their tests."""

from core.migration.source_file import SourceFile, kind_of
from core.migration.text_rules import text_hits


def found(path, text):
    """Lines and patterns, sorted, as the scan counts them: one of each."""
    file = SourceFile(path, text, kind_of(path))
    assert file.kind != "other"
    return sorted({(hit.line, hit.pattern_id) for hit in text_hits(file)})


def patterns(path, text):
    return {pattern for _, pattern in found(path, text)}
