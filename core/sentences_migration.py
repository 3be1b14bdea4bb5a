"""Every sentence about moving code to other chips: what was read and refused, days, payback, risks.

English source of the translations, as :mod:`core.sentences`; each part of the model has its own block.
"""

from __future__ import annotations

from core.sentences import N_

MIGRATION_SENTENCES: dict[str, str] = {
    # Does it pay (core.migration.decide, core.migration.answer)
    "verdict_move_never": N_(
        "**Do not move for cost: work that costs {bill:usd} a month on {today} would cost {there:usd} on {target}.** {why}"
    ),
    "verdict_move_no_bill": N_("**There is no bill to save on.** {why}"),
    "verdict_move_pays": N_(
        '**Moving to {target} {months} of use: it saves {saving:usd} a month at {speed}.** The path "{path}" takes about {days} and {cost:usd}; by month {horizon:int} it has paid in {chance:pct} of simulated cases.'
    ),
    "verdict_move_late": N_(
        '**Moving to {target} saves {saving:usd} a month at {speed}, too little to pay back by month {horizon:int}.** The path "{path}" takes about {days} and {cost:usd}; {chance:pct} of simulated cases pay back by then, and the middle case {months}.'
    ),
    "verdict_move_unknown": N_("**Whether a move pays cannot be said here.** {problem}"),
    "speed_reached_first_try": N_("first-try speed"),
    "speed_reached_tuned": N_("tuned speed"),
    "speed_reached_vendor": N_("vendor-recipe speed"),
    "months_few": N_("pays back after {n:.1f} months"),
    "months_many": N_("pays back after {n:int} months"),
    "months_decades": N_("pays back after more than {years:int} years"),
    "months_never": N_("never pays back"),
    "days_of_work": N_("{n:int} engineer-days"),
    "days_of_work_few": N_("{n:.1f} engineer-days"),
    "migration_dearer": N_(
        "At {price:ratio} the hourly price for {time:ratio} the hours, it pays only if {today} rises above {rises:rate} or {target} falls below {falls:rate}."
    ),
    "migration_no_bill": N_(
        "The versions of a year cost nothing on {today} as the scenario stands; see Versions/yr and credits at left."
    ),
    "migration_no_today": N_("No NVIDIA GPU here has a price and holds the model; add one at left, such as H100 SXM."),
    "migration_no_target": N_("No TPU here has a price and holds the model; add one at left, such as TPU v5p."),
    "migration_same": N_("{today} is both where the work runs and where it is to go; choose another of the two."),
    "migration_unpriced": N_("What a month would cost on both platforms is not known, so only a trial can be advised."),
    "migration_chance": N_(
        "By month {months:int} it has paid for itself in {chance:pct} of simulated cases; the middle case {median}."
    ),
    "migration_trial": N_("Before any rewrite, spend {days:int} days on a trial with a written end: {path}."),
    "migration_unread": N_("No code was read: the days are those of typical code of this size."),
    "migration_from_jax": N_(
        "JAX code runs on {target} nearly as it is: the days here are those of moving PyTorch code."
    ),
    "migration_from_maxtext": N_("MaxText runs on {target} as it is: the days here are those of moving PyTorch code."),
    "migration_from_nothing": N_("There is no code to move yet: the days here are those of moving PyTorch code."),
    "migration_found_nothing": N_(
        "Nothing that ties it to a GPU was found in the code that was read (files: {files:int}); the days left are for setting up, comparing and tuning."
    ),
    "migration_high": N_(
        "Small ports by one person have taken fewer days: the public reports lie at about the low end (P10) of this range, or below it."
    ),
    "migration_alternative": N_(
        "Not in these figures: a move you could really make helps you bargain where you are; one buyer reportedly got about {share:pct} off, here {usd:usd} a month."
    ),
    "migration_sunset": N_("{path} is no path to begin on: {status}."),
    "migration_blocker": N_("{what} ({n:int} places, first {first}) does not run on a TPU as it is."),
    "migration_blocker_one": N_("{what} ({first}) does not run on a TPU as it is."),
    "blocker_custom_cuda": N_("CUDA code of your own"),
    "blocker_triton": N_("Triton"),
    "blocker_bitsandbytes": N_("bitsandbytes"),
    "blocker_deepspeed": N_("DeepSpeed"),
    "blocker_moe_kernels": N_("Mixture-of-experts routing with kernels or dynamic sizes"),
    "blocker_varlen_attention": N_("Attention over variable lengths"),
    # What is read and what is left out (core.migration.source_file, core.migration.archives, core.migration.sources)
    "skip_many": N_("{n:int} files are not read, {first} among them: {why}."),
    "skip_vendored": N_("filled by tools or others; such folders here: {names}"),
    "skip_others": N_("Files of kinds that hold nothing to look for ({kinds}), left out: {n:int}."),
    "skip_others_plain": N_("Files of kinds that hold nothing to look for, left out: {n:int}."),
    "skip_other": N_("of a kind that holds nothing to look for"),
    "skip_rest_files": N_("{limit:int} files are read, the most; {n:int} more left out, {first} the first of them."),
    "skip_rest_files_unknown": N_("{limit:int} files are read, the most; {first} and what follows are not."),
    "skip_rest_bytes": N_("{limit:int} MB are read, the most; {n:int} more left out, {first} the first of them."),
    "skip_rest_bytes_unknown": N_("{limit:int} MB are read, the most; {first} and what follows are not."),
    "skip_binary": N_("binary, not text"),
    "skip_encoding": N_("not text in UTF-8"),
    "skip_line": N_("a line is longer than {limit:int} MB"),
    "skip_large": N_("larger than {limit:int} MB"),
    "skip_large_notebook": N_("a notebook larger than {limit:int} MB"),
    "skip_notebook": N_("not a notebook, though called one"),
    "skip_notebook_language": N_("a notebook in another language than Python"),
    "skip_symlink": N_("a symbolic link, and those are never followed"),
    "skip_special": N_("a device, pipe or socket, not a file"),
    "skip_unreadable": N_("the system does not let it be read"),
    "skip_deep": N_("more than {limit:int} folders deep"),
    "skip_nested": N_("an archive inside what is read; unpack it, or give it alone"),
    "skip_traversal": N_("its name points outside the archive"),
    "skip_encrypted": N_("encrypted; pack it without a password"),
    "skip_damaged": N_("damaged, or not what the archive says it is"),
    "skip_packing": N_("packed in a way that is not read; deflate is"),
    "skip_ratio": N_("it expands more than {limit:int} times, as no code does"),
    "skip_twice": N_("the archive holds the name twice; the first is read"),
    "archive_large": N_(
        "The archive has {size:int} MB, and {limit:int} MB is the most; leave out data, checkpoints and environments."
    ),
    "archive_entries": N_(
        "The archive lists more than {limit:int} files; leave out environments and packages such as node_modules."
    ),
    "archive_damaged": N_("This is no whole zip archive: it is damaged, cut short or of another kind; pack it again."),
    "archive_encrypted": N_("Every file in the archive is encrypted; pack it without a password."),
    "archive_empty": N_("The archive holds no files."),
    # What an option of a move may be (core.migration.limits)
    "limit_number": N_("a number from {low} to {high}"),
    "limit_whole": N_("a whole number from {low} to {high}"),
    "limit_choice": N_("one of {choices}"),
    # The command scan (core.cli_scan)
    "scan_no_path": N_("{path} is not there; name a folder, a file or a .zip archive."),
    "scan_special": N_("{path} is no folder and no file; name a folder, a file or a .zip archive."),
    "scan_one_skipped": N_("{path}: {why}."),
    "scan_counted": N_("Places found: {n:int}. Files read: {files:int}, lines: {lines:int}."),
    "scan_nothing": N_(
        "Nothing that ties the code to an NVIDIA GPU was found. Files read: {files:int}, lines: {lines:int}."
    ),
    "scan_left_out": N_("Not read:"),
    "scan_blocks": N_("Blocks the move"),
    "scan_heavy": N_("Heavy"),
    "scan_moderate": N_("Moderate"),
    "scan_light": N_("Light"),
    "scan_more": N_("and {n:int} more; --json lists all"),
    "scan_pattern": N_("{id}  {what} ({n:int}): {places}. {remedy}."),
    "scan_no_files": N_("No file was read."),
    "scan_guarded": N_("Under a check for a device, counted in no days"),
    "scan_days": N_(
        "Engineer-days on the way to each until {until}, P10 / P50 / P90; skill {skill:.1f}, {agents}, size: {size}."
    ),
    "scan_until_runs": N_("it runs"),
    "scan_until_loss_parity": N_("its loss matches"),
    "scan_until_target_mfu": N_("its loss matches at tuned speed"),
    "scan_until_production": N_("it is in production"),
    "scan_agents_none": N_(
        "no coding agents (the Migration page begins at {page:pct} of the days, --assistance {page:.1f})"
    ),
    "scan_agents": N_("{share:pct} of the days left with coding agents"),
    "scan_number": N_("{option} is a number from {low:.1f} to {high:.1f}; {given:.6g} is not."),
    # Python that cannot be read (core.migration.scan)
    "scan_unparsed": N_(
        "{n:int} of {of:int} Python files could not be parsed: what is listed is a part of what is there."
    ),
    "skip_not_python": N_("not Python 3: line {line:int} cannot be parsed"),
    "skip_nested_code": N_("code nested too deep to parse"),
}
