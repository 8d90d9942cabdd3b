"""What all tables share: one metadata, and names of constraints that migrations can rely on."""

from __future__ import annotations

from sqlalchemy import MetaData
from sqlmodel import SQLModel


class Row(SQLModel):
    """Base of the tables: keeps them in a metadata of their own."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
