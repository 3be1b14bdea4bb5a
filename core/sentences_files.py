"""Sentences about scenario files, and about scenarios side by side."""

from __future__ import annotations

from core.sentences import N_

FILE_SENTENCES: dict[str, str] = {
    # A scenario as a file (core.scenario_file)
    "scenario_file_opened": N_("{file} is shown; the browser's Back button brings back what was here."),
    "scenario_file_refused": N_("{file} is no scenario. {problem}"),
    "scenario_file_large": N_("The file has more than the {limit:int} bytes that a scenario can have."),
    "scenario_file_long": N_("The file's values have {size:int} characters, and a scenario at most {limit:int}."),
    "scenario_file_not_utf8": N_(
        "The file is not text in UTF-8; save it as UTF-8, or choose the .toml file that this page saved."
    ),
    "scenario_file_empty": N_('The file holds no value of a scenario; one is written like tokens = "50B".'),
    "scenario_file_not_toml": N_(
        'Line {line:int}: "{given}" cannot be read; write NAME = VALUE, one a line, with words and numbers like "50B" in '
        "quotation marks."
    ),
    "scenario_file_unclosed": N_(
        "The file ends inside a list or a text; close it with the bracket or the quotation mark that is missing."
    ),
    "scenario_file_nested": N_("The file nests too deeply; below its headings it needs only lines of NAME = VALUE."),
    "scenario_file_twice": N_("Line {line:int}: {name} is given a second time; leave one of the two out."),
    "scenario_file_other_group": N_("Line {line:int}: {name} stands under two headings; the last of the two counts."),
    "scenario_file_unknown": N_(
        'Line {line:int}: no value is called "{given}", so it is left out; the nearest is {nearest}.'
    ),
    "scenario_file_more": N_("{n:int} more lines are left out for the like."),
    "scenario_file_table": N_(
        "Line {line:int}: {name} is a table and cannot be used; write it as one line, such as {example}."
    ),
    "scenario_file_date": N_("Line {line:int}: {name} is a date and cannot be used; write it like {example}."),
    "scenario_file_not_finite": N_(
        "Line {line:int}: {name} is {given}, which is no number to work with; write it like {example}."
    ),
    "scenario_file_list": N_("Line {line:int}: {name} is a list and cannot be used; write it like {example}."),
    "scenario_file_entry": N_(
        "Line {line:int}: {name} holds something else than texts, which is left out; write it like {example}."
    ),
    "scenario_file_yes": N_("Line {line:int}: {name} cannot be yes or no; write it like {example}."),
    "scenario_file_moved": N_(
        "The file was made by version {given} of the model; the numbers are those of version {now}."
    ),
    "scenario_file_recorded": N_("It recorded {total:usd} for {focus}, which is not verified."),
}
