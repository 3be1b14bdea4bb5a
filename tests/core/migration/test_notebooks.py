"""The code of notebooks: as Python, with the lines of the file, whatever else the file holds."""

import ast
import json

import pytest

from core.migration.notebooks import NotebookError, notebook_text
from core.migration.sources import pasted_files


def notebook(*sources, indent=1, **extra):
    """A notebook of code cells as Jupyter writes it: a line of the file for each line of code."""
    cells = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": source} for source in sources]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4} | extra, indent=indent)


def test_every_line_of_code_knows_its_line_in_the_file():
    raw = notebook(["import torch\n", "x = torch.ones(3)\n", "\n", 'x.cuda() # "é"'], ["y = x.item()"])
    text, line_of = notebook_text(raw)
    for number, line in enumerate(text.split("\n"), start=1):
        if line:
            assert json.dumps(line)[1:-1] in raw.split("\n")[line_of(number) - 1]
    assert [line for line in text.split("\n") if line] == [
        "import torch",
        "x = torch.ones(3)",
        'x.cuda() # "é"',
        "y = x.item()",
    ]


def test_a_cell_in_one_text_has_the_one_line_it_is_on():
    raw = notebook("a = 1\nb = 2\n")
    text, line_of = notebook_text(raw)
    (at,) = [i for i, line in enumerate(raw.split("\n"), start=1) if "a = 1" in line]
    assert text.split("\n")[:2] == ["a = 1", "b = 2"]
    assert line_of(1) == line_of(2) == at


def test_pieces_that_are_parts_of_lines_are_joined():
    assert notebook_text(notebook(["x = ", "1\ny", " = 2\n", "z = 3"]))[0] == "x = 1\ny = 2\nz = 3\n"


def test_text_and_raw_cells_are_no_code():
    cells = [{"cell_type": kind, "source": ["torch.cuda"]} for kind in ("markdown", "raw")]
    cells += [{"source": ["x = 1"], "cell_type": "code", "outputs": [{"text": ["torch.cuda"]}]}]
    assert notebook_text(json.dumps({"cells": cells, "nbformat": 4}))[0] == "x = 1\n"


def test_notebooks_of_format_3():
    cells = [{"cell_type": "code", "input": ["x = 1"]}, {"cell_type": "code", "input": "y = 2"}]
    raw = json.dumps({"worksheets": [{"cells": cells}], "nbformat": 3})
    assert notebook_text(raw)[0] == "x = 1\n\ny = 2\n"


@pytest.mark.parametrize(
    "cell",
    [
        ["%matplotlib inline\n", "x = 1"],
        ["!pip install \\\n", "  apex\n", "x = 1"],
        ["torch.ones?\n", "x = 1"],
        ["files = !ls\n", "x = 1"],
        ["v = %env HOME\n", "x = 1"],
        ["if True:\n", "    !ls\n", "x = 1"],
        ["%%time\n", "x = 1"],
        ["%%writefile train.py\n", "x = 1"],
        ["a = 7 % 3\n", "x = 1"],
    ],
)
def test_magics_and_shell_lines_leave_the_rest_to_parse(cell):
    text, _ = notebook_text(notebook(cell))
    names = {n.id for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Name)}
    assert "x" in names
    assert "pip" not in text


@pytest.mark.parametrize("magic", ["%%bash", "%%html", "%%javascript", "%%writefile run.sh"])
def test_cells_in_other_languages_are_blank(magic):
    text, _ = notebook_text(notebook([magic + "\n", "import torch\n"], ["x = 1"]))
    assert text.split() == ["x", "=", "1"]


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        ("", "skip_notebook"),
        ("[1, 2]", "skip_notebook"),
        ('{"a": 1}', "skip_notebook"),
        ('{"cells": [', "skip_notebook"),
        ("[" * 100_000, "skip_notebook"),
        ('{"cells": [' + '{"source": [' * 100_000, "skip_notebook"),
        (notebook("x", metadata={"language_info": {"name": "R"}}), "skip_notebook_language"),
        (notebook("x", metadata={"kernelspec": {"language": "julia"}}), "skip_notebook_language"),
    ],
)
def test_what_is_no_notebook_of_python_is_said_to_be_none(raw, code):
    with pytest.raises(NotebookError) as refused:
        notebook_text(raw)
    assert refused.value.code == code
    (skipped,) = pasted_files([("a.ipynb", raw)])
    assert (skipped.path, skipped.reason.code) == ("a.ipynb", code)


def test_a_picture_in_one_long_line_is_no_hindrance():
    cells = [{"cell_type": "code", "source": ["x = 1"], "outputs": [{"data": {"image/png": "A" * 3_000_000}}]}]
    (file,) = pasted_files([("a.ipynb", json.dumps({"cells": cells, "nbformat": 4}))])
    assert (file.text, file.kind) == ("x = 1\n", "notebook")


def test_many_small_pieces_make_one_line():
    """A line in 200,000 pieces is joined once, not 200,000 times."""
    (skipped_or_file,) = pasted_files([("a.ipynb", notebook(["a"] * 200_000, indent=None))])
    assert skipped_or_file.text == "a" * 200_000 + "\n"
