"""This module makes the store that the option ``--store`` names, and its namespace."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import InvalidInput
from ..settings import Settings
from ..storing.address import Address
from ..storing.store import Store
from .models import endpoint
from .terminal import say

if TYPE_CHECKING:
    from .requests import AskingOptions


def store_at(url: str, namespace: str | None = None) -> Store:
    """Returns the store at the URL. ``namespace``: None for a store without a namespace. Raises
    InvalidInput if the folder of its file does not exist, because the path is then probably misspelt."""
    address = Address.of(url)
    folder = Path(address.target).parent
    if address.dialect == "sqlite" and not folder.is_dir():
        raise InvalidInput(
            f"--store {address.shown!r} is in the folder {str(folder)!r}, which does not exist; make "
            "that folder, or give another path"
        )
    return Store(url, namespace)


def with_a_namespace(settings: Settings, asking: "AskingOptions") -> Settings:
    """Returns the settings. If their store has no namespace, it gets one that names the model, such as
    "gpt-4o, temperature 0", and the namespace is printed. Settings without a store are returned
    unchanged."""
    store = settings.store
    if store is None or store.namespace is not None:
        return settings
    namespace = namespace_of(asking)
    say(f"answers are stored under the namespace {namespace!r}")
    return replace(settings, store=replace(store, namespace=namespace))


def namespace_of(asking: "AskingOptions") -> str:
    """Returns a namespace that contains the model, its endpoint and its temperature, so that answers of
    other models are not taken from the store. Example: "gpt-4o, temperature 0"."""
    place = endpoint(asking.base_url) if asking.model else None
    temperature = None if asking.temperature is None else f"temperature {asking.temperature:g}"
    parts = (asking.model or "offline reader", place, temperature)
    return ", ".join(part for part in parts if part)
