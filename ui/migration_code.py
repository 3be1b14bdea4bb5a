"""The reader's code: a zip file, several files, pasted text or the example; read beside the page, never kept."""

from __future__ import annotations

from typing import Literal, get_args

import streamlit as st

from core.migration.finding import Scan
from core.migration.source_file import MAX_ARCHIVE_BYTES, MB
from core.migration.sources import example_files, pasted_files, zip_files
from ui import controls
from ui.frame import View, escape, small
from ui.migration_job import Files, Job

Source = Literal["zip", "files", "paste", "example"]
JOB = "migration_job"
SHORT_SECONDS = 2.0  # what takes no longer is shown at once
LOOK_SECONDS = 0.7  # between two looks at a scan that goes on
MOST_MB = MAX_ARCHIVE_BYTES // MB
MOST_PASTED = 400_000  # characters
MOST_SKIPPED = 6  # entries that are named, of those not read


def found() -> Scan | None:
    """What the last scan of this session found; ``None`` without one, and while one goes on."""
    job: Job | None = st.session_state.get(JOB)
    return job.found if job is not None and job.ended else None


def draw(view: View) -> None:
    """Ways to give code, and what became of it."""
    t = view.t
    names: dict[Source, str] = {
        "zip": t("Zip file"),
        "files": t("Several files"),
        "paste": t("Paste"),
        "example": t("Our example"),
    }
    job: Job | None = st.session_state.get(JOB)
    with st.container(key="migration_code", gap="xsmall"):
        source: Source | None = st.segmented_control(
            t("Your code"),
            get_args(Source),
            key="migration_source",
            format_func=names.__getitem__,
            default="zip",
            label_visibility="collapsed",
        )
        said = t("It is read here, never run, and forgotten when you close the page; nothing of it is stored.")
        st.markdown(small(said))
        if source == "zip":
            _zip(view)
        elif source == "files":
            _files(view)
        elif source == "paste":
            _paste(view)
        elif source == "example":
            _example(view)
        if job is None:
            return
        if job.ended:
            _outcome(view, job)
        else:
            st.fragment(_watch, run_every=LOOK_SECONDS)(view, job)


def _begin(name: str, files: Files) -> None:
    """Start a scan in place of the one before; a short one ends before the page is drawn."""
    before: Job | None = st.session_state.get(JOB)
    if before is not None:
        before.stop()
    job = st.session_state[JOB] = Job(name).start(files, controls.desk().catalogue)
    job.wait(SHORT_SECONDS)


def _forget() -> None:
    before: Job | None = st.session_state.pop(JOB, None)
    if before is not None:
        before.stop()


def _zip(view: View) -> None:
    def begin() -> None:
        file = st.session_state.get("migration_zip")
        if file is None:
            _forget()
        else:
            data = bytes(file.getvalue())
            _begin(file.name, lambda: zip_files(data))

    st.file_uploader(
        view.t("A zip file of the code"),
        type=["zip"],
        key="migration_zip",
        on_change=begin,
        max_upload_size=MOST_MB,
        label_visibility="collapsed",
    )


def _files(view: View) -> None:
    t = view.t

    def begin() -> None:
        files = st.session_state.get("migration_files") or []
        if not files:
            _forget()
        else:
            name = files[0].name if len(files) == 1 else t.n("{n:int} file", "{n:int} files", len(files))
            _begin(name, lambda: pasted_files((file.name, bytes(file.getvalue())) for file in files))

    st.file_uploader(
        t("Files of the code"),
        type=None,  # a Dockerfile has no ending; what holds nothing to look for is said in a sentence
        accept_multiple_files=True,
        key="migration_files",
        on_change=begin,
        max_upload_size=MOST_MB,
        label_visibility="collapsed",
    )


def _paste(view: View) -> None:
    t = view.t

    def begin() -> None:
        text = str(st.session_state.get("migration_text") or "")
        if text.strip():
            _begin(t("Pasted code"), lambda: pasted_files([("", text)]))
        else:
            _forget()

    st.text_area(
        t("Code"), key="migration_text", height=160, max_chars=MOST_PASTED, label_visibility="collapsed",
        placeholder=t("Code, for example a training loop"),
    )  # fmt: skip
    st.button(t("Read it"), key="migration_read", on_click=begin)


def _example(view: View) -> None:
    t, files = view.t, example_files()
    names = ", ".join(name for name, _ in files)
    st.markdown(small(t("A small PyTorch trainer for several GPUs, written for this page: {names}.", names=names)))

    def begin() -> None:
        _begin(t("The example"), lambda: pasted_files(files))

    st.button(t("Read the example"), key="migration_example", on_click=begin)


def _watch(view: View, job: Job) -> None:
    """How far a scan is, with a way to stop it."""
    if job.ended:
        st.rerun()
    t = view.t
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if job.waiting:
            said = t("{name} waits for other readers’ code to be read.", name=job.name)
        elif not job.files:
            said = t.n("{name}: {n:int} file taken in.", "{name}: {n:int} files taken in.", job.listed, name=job.name)
        else:
            said = t("{name}: {n:int} of {of:int} files read.", name=job.name, n=job.files, of=job.listed)
        st.markdown(f":small[:material/hourglass_top: {escape(said)}]", width="content")
        st.button(t("Stop"), key="migration_stop", type="tertiary", icon=":material/stop:", on_click=job.stop)


def _outcome(view: View, job: Job) -> None:
    """What was read, refused and left out."""
    t, scan = view.t, job.found
    if scan is None:
        said = t("{name} could not be read.", name=job.name)
        if job.problem is not None:
            said = t.message(job.problem)
        elif not job.failed:
            said = t("Stopped before a file was read.")
        st.markdown(f":small[:red[:material/error:] {escape(said)}]")
        return
    read = t.n("{n:int} file", "{n:int} files", scan.files)
    lines = t.n("{n:int} line", "{n:int} lines", scan.lines)
    said = t("{name}: {files}, {lines} read.", name=job.name, files=read, lines=lines)
    if scan.stopped:
        said += " " + t("It was stopped; the rest was not read.")
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f":small[{escape(said)}]", width="content")
        st.button(t("Forget it"), key="migration_forget", type="tertiary", icon=":material/close:", on_click=_forget)
    with st.container(gap="xxsmall"):
        for entry in scan.skipped[:MOST_SKIPPED]:
            said = t.message(entry.reason)
            st.markdown(small(t("Not read: {path} ({why})", path=entry.path, why=said) if entry.path else said))
        if len(scan.skipped) > MOST_SKIPPED:
            st.markdown(small(t("And {n:int} more.", n=len(scan.skipped) - MOST_SKIPPED)))
