"""Position-independent images of object code: an ELF file goes in, an image that runs at any address comes out.

The sections needed at run time are laid out one after another, and their references to each other are resolved. Kernels
refer only to themselves, and by distance (`numba_compile.py` sees to both), so the image needs no linker where it is
loaded and is never written to: the file that holds it is mapped into memory and run.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

# The alignment of images, in files too: vector constants need it.
ALIGNMENT = 64
_X86_64 = 62
_SYMBOLS, _RELOCATIONS, _NO_BITS = 2, 4, 8  # types of sections
_IS_LOADED = 2  # flag of a section
_BY_DISTANCE = {2: 4, 4: 4, 24: 8}  # R_X86_64_PC32, PLT32 and PC64: bytes to fill in
_UNNEEDED = (".eh_frame",)  # unwinding tables: nothing throws


class _Section(NamedTuple):
    name: str
    kind: int
    flags: int
    offset: int
    size: int
    link: int
    info: int
    alignment: int


class NotSelfContained(ValueError):
    """Object code has an external reference, or one that depends on where the code is loaded."""


def flattened(object_code: bytes, entry: str) -> tuple[int, bytes]:
    """The offset of a function, and the image that holds it."""
    if object_code[:6] != b"\x7fELF\x02\x01" or struct.unpack_from("<H", object_code, 18)[0] != _X86_64:
        raise NotSelfContained("This is not ELF object code for x86-64")
    sections = _sections(object_code)
    places: dict[int, int] = {}
    image = bytearray()
    for number, section in enumerate(sections):
        if section.flags & _IS_LOADED and section.name not in _UNNEEDED:
            alignment = max(section.alignment, 1)
            if alignment > ALIGNMENT:
                raise NotSelfContained(f"{section.name} must be aligned to {alignment} bytes")
            image += bytes(-len(image) % alignment)
            places[number] = len(image)
            is_empty = section.kind == _NO_BITS
            image += bytes(section.size) if is_empty else object_code[section.offset : section.offset + section.size]
    (table,) = (section for section in sections if section.kind == _SYMBOLS)
    symbols = _symbols(object_code, table, sections[table.link])
    for section in sections:
        if section.kind == _RELOCATIONS and section.info in places:
            _fill_in(image, object_code, section, places, symbols)
    (value,) = (places[number] + value for name, number, value in symbols if name == entry and number in places)
    return value, bytes(image)


def _sections(object_code: bytes) -> list[_Section]:
    (start,) = struct.unpack_from("<Q", object_code, 40)
    size, count, names = struct.unpack_from("<HHH", object_code, 58)
    found = [struct.unpack_from("<IIQQQQIIQQ", object_code, start + size * number) for number in range(count)]
    text = found[names][4]
    return [
        _Section(_name(object_code, text + name), kind, flags, offset, length, link, info, alignment)
        for name, kind, flags, _, offset, length, link, info, alignment, _ in found
    ]


def _symbols(object_code: bytes, table: _Section, names: _Section) -> list[tuple[str, int, int]]:
    """The name, section number and offset of each symbol."""
    entries = struct.iter_unpack("<IBBHQQ", object_code[table.offset : table.offset + table.size])
    return [(_name(object_code, names.offset + name), number, value) for name, _, _, number, value, _ in entries]


def _name(object_code: bytes, start: int) -> str:
    return object_code[start : object_code.index(0, start)].decode()


def _fill_in(
    image: bytearray,
    object_code: bytes,
    relocations: _Section,
    places: dict[int, int],
    symbols: list[tuple[str, int, int]],
) -> None:
    """Fill in the distances from one section's code to others."""
    entries = object_code[relocations.offset : relocations.offset + relocations.size]
    for offset, what, addend in struct.iter_unpack("<QQq", entries):
        name, number, value = symbols[what >> 32]
        size = _BY_DISTANCE.get(what & 0xFFFFFFFF)
        if size is None or number not in places:
            raise NotSelfContained(f"The code refers to {name or number} by {what & 0xFFFFFFFF}")
        at = places[relocations.info] + offset
        distance = places[number] + value + addend - at
        image[at : at + size] = distance.to_bytes(size, "little", signed=True)
