"""Messages of the SpamAssassin corpus, and how to spoil them."""

import functools
import tarfile

import pytest

from tests.conftest import DATA

PIECES = (
    b"", b"://", b"http://", b"@", b"..", b"=?utf-8?q?=C3=A9?=", b"<!--", b"-->", b"<style>",
    b"\xc3\xa9", b"\xff", b"\0", b"\r\n", b"\n\n", b"!!!!", b"--", b"&amp;", b"hidden", b"size=1",
)  # fmt: skip


@functools.cache
def corpus():
    """All messages, ham and spam, in bytes."""
    found = []
    for name in ("easy_ham", "spam"):
        with tarfile.open(DATA / "spamassassin" / f"{name}.tar.gz") as archive:
            found += [archive.extractfile(file).read() for file in archive if file.isfile()]
    return found


needs_corpus = pytest.mark.skipif(
    not (DATA / "spamassassin").exists(), reason="the SpamAssassin corpus is not here"
)


def mutated(raw, other, chance):
    """A message with pieces cut out, doubled, or replaced by noise or by pieces of another."""
    raw = bytearray(raw[:20_000])
    for _ in range(chance.choice([1, 3, 10])):
        a = chance.randrange(len(raw) + 1)
        b = min(len(raw), a + chance.choice([0, 1, 2, 5, 50, 300]))
        c = chance.randrange(len(other))
        noise = bytes(chance.randrange(256) for _ in range(chance.choice([1, 2, 6])))
        piece = other[c : c + chance.choice([1, 3, 30, 200])]
        raw[a:b] = chance.choice([bytes(raw[a:b]) * 2, noise, piece, chance.choice(PIECES)])
    return bytes(raw)
