"""This module makes the store that the option ``--store`` names."""

from pathlib import Path

from ..errors import InvalidInput
from ..storing.address import Address
from ..storing.store import Store


def store_at(url: str, namespace: str | None = None) -> Store:
    """Returns the store at the URL. Raises InvalidInput if the folder of its file does not exist,
    because the path is then probably misspelt."""
    address = Address.of(url)
    folder = Path(address.target).parent
    if address.dialect == "sqlite" and not folder.is_dir():
        raise InvalidInput(
            f"--store {address.shown!r} is in the folder {str(folder)!r}, which does not exist; make "
            "that folder, or give another path"
        )
    return Store(url, namespace)
