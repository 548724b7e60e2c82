"""A saved session."""

from typing import Annotated, TypeAlias

from pydantic import AfterValidator, AwareDatetime

from cephtui.models.base import SCHEMA_VERSION, Line, Model, Name


class Session(Model):
    """The runs of a console session, or of several that were resumed, in one directory."""

    schema_version: int = SCHEMA_VERSION
    session: Name
    created_at: AwareDatetime
    cephtui_version: Line
    """The version of the program that made the session; each run has its own."""


def _distinct(tags: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(tag for tag in tags if tag))


Tags: TypeAlias = Annotated[tuple[Line, ...], AfterValidator(_distinct)]


class SessionNotes(Model):
    """What the user has noted of a session."""

    schema_version: int = SCHEMA_VERSION
    note: Line = ""
    tags: Tags = ()
    baseline: int | None = None
    """The number of the run that others are compared with."""
