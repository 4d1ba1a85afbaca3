"""The token counts of one message as bytes: ids in order, as differences, in base 128.

A difference takes one byte below 64 and two below 8,192; its lowest bit shows whether the token
occurs more than once, and then the number of times follows.
"""

import zlib
from array import array
from collections.abc import Mapping

MORE = 0x80  # this number goes on in the next byte


def packed(counts: Mapping[int, int]) -> bytes:
    """Counts by id as bytes.

    >>> packed({5: 1, 300: 2}).hex(), unpacked(packed({5: 1, 300: 2}))
    ('0acf0402', {5: 1, 300: 2})
    """
    found, before = bytearray(), 0
    for number in sorted(counts):
        n = counts[number]
        _write(found, 2 * (number - before) + (n > 1))
        if n > 1:
            _write(found, n)
        before = number
    return bytes(found)


def _write(found: bytearray, number: int) -> None:
    while number >= MORE:
        found.append(number & 0x7F | MORE)
        number >>= 7
    found.append(number)


def unpacked(data: bytes) -> dict[int, int]:
    """Counts by id of what `packed` wrote."""
    found: dict[int, int] = {}
    number = shift = before = 0
    repeated = False
    for byte in data:
        number |= (byte & 0x7F) << shift
        if byte & MORE:
            shift += 7
            continue
        if repeated:
            found[before], repeated = number, False
        else:
            before += number >> 1
            found[before], repeated = 1, bool(number & 1)
        number = shift = 0
    return found


def unpacked_1(data: bytes) -> dict[int, int]:
    """Counts by id as stores of schema 1 kept them: ids, then ids with counts above one."""
    numbers = array("I", zlib.decompress(data))
    end = len(numbers) - 1 - 2 * numbers[-1]
    found = dict.fromkeys(numbers[:end], 1)
    found.update(zip(numbers[end:-1:2], numbers[end + 1 : -1 : 2], strict=True))
    return found


UNPACKED = {1: unpacked_1, 2: unpacked}  # by the schema of the store
