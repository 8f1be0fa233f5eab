"""The real model with its first layers alone. It says nothing of use, but it has the same tokens, and the
runtime keeps of a prompt what it would keep of the whole model's: so it counts the same, and faster."""

from importlib import import_module
from pathlib import Path
from typing import Any


def with_layers(gguf: Path, layers: int, to: Path) -> Path:
    """Writes the weights with this many layers, and returns their file."""
    formats: Any = import_module("gguf")
    whole = formats.GGUFReader(str(gguf))
    name = "general.architecture"
    architecture = whole.fields[name].contents()
    writer = formats.GGUFWriter(str(to), architecture)
    for key, field in whole.fields.items():
        if key.startswith("GGUF.") or key == name:
            continue
        value = layers if key == f"{architecture}.block_count" else field.contents()
        kind, inner = field.types[0], field.types[-1]
        writer.add_key_value(key, value, kind, inner if kind == formats.GGUFValueType.ARRAY else None)
    for tensor in whole.tensors:
        if layer_of(tensor.name) < layers:
            writer.add_tensor(tensor.name, tensor.data, raw_dtype=tensor.tensor_type)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return to


def layer_of(tensor: str) -> int:
    """The number of a tensor's layer, from 0; -1 for what belongs to none."""
    parts = tensor.split(".")
    return int(parts[1]) if parts[0] == "blk" else -1
