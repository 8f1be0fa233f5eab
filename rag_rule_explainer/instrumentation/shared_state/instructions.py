"""This module finds instructions in Python's bytecode."""

import dis
from collections.abc import Iterator
from types import CodeType


def instructions_of(code: CodeType, *names: str) -> Iterator[dis.Instruction]:
    """Yields the instructions that have one of these names, such as ``STORE_ATTR``. Inner functions are
    not searched."""
    # Code is disassembled only if it has such an instruction, because that is slow. In all versions of
    # Python, an instruction is two bytes, of which the first is its number.
    if not {dis.opmap[name] for name in names}.isdisjoint(code.co_code[::2]):
        yield from (each for each in dis.get_instructions(code) if each.opname in names)
