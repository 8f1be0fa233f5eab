"""This module examines whether a store can be written."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from ...errors import RagRuleError
from .diagnosis import Diagnosis, split_advice

if TYPE_CHECKING:
    from ...storing.address import Address


def examined_store(url: str) -> Diagnosis:
    """Returns the findings about a store. The check leaves nothing behind and changes nothing that is
    stored."""
    # Imported only here, because it loads SQLAlchemy, which the other checks do not need.
    from ...storing.address import Address

    try:
        address = Address.of(url)
        path = Path(address.target) if address.dialect == "sqlite" else None
        if path is not None and not path.exists():
            return _new(path)
        return Diagnosis("store", "ok", _existing(address))
    except RagRuleError as error:
        return Diagnosis("store", "problem", *split_advice(str(error)))
    except OSError as error:
        advice = "check the path and the rights to its folder, or give another path"
        return Diagnosis("store", "problem", f"{url} cannot be used: {error.strerror}", advice)


def _new(path: Path) -> Diagnosis:
    """Returns the diagnosis for a file that does not exist yet. To find out whether it can be made, makes
    a store in a temporary folder beside it, and removes the folder."""
    from ...storing.address import Address
    from ...storing.database import Database

    with TemporaryDirectory(prefix=".rag-rules-doctor-", dir=path.absolute().parent) as folder:
        Database(Address.of(str(Path(folder) / path.name))).prepare()
    return Diagnosis("store", "ok", f"{path} is not there yet, and can be made")


def _existing(address: "Address") -> str:
    from sqlalchemy import delete, false, func, select

    from ...storing.database import Database
    from ...storing.schema import answers, version_of

    database = Database(address)
    with database.as_store_failed(), database.connect() as connection:
        if version_of(connection, database.shown) is None:
            return f"{database.shown} is reached, and is still empty"
        # This statement deletes nothing, but it fails if the store cannot be written.
        connection.execute(delete(answers).where(false()))
        held = connection.execute(select(func.count()).select_from(answers)).scalar_one()
        connection.rollback()
    return f"{database.shown} can be written; it has {held:,} answers"
