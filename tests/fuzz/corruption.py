"""Ways in which a file goes wrong: seeded, small, and of every format the same."""

from random import Random

_EXTREMES = (0, 1, 0x7F, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 1 << 40)
_EXTREMES += (0x7FFFFFFFFFFFFFFF, 0xFFFFFFFFFFFFFFFF)
_WORDS = (b",", b'"', b"\n", b"\r\n", b"\0", b"nan", b"1e400", b"-0", b"\xef\xbb\xbf", b"\xff\xfe")
_WORDS += (b"'|O'", b"'shape': (", b"999999999999", b"-1", b"L", b"[" * 60, b"{", b"}", b"(", b")")
_WORDS += (
    b"cos\nsystem\n",
    b"(S'true'\ntR.",
    b"\x81",
    b"\x93",
    b"R",
    b"b",
    b"\x82\x01",
    b"Q",
    b".",
)


def corrupted(content: bytes, random: Random) -> bytes:
    """A changed copy, by one to three changes."""
    changed = content
    while changed == content:
        for _ in range(random.choice((1, 1, 1, 2, 3))):
            changed = random.choice(_CHANGES)(changed, random)
    return changed


def _place(content, random):
    """Where formats keep their headers more often than elsewhere: at both ends."""
    size = len(content)
    near = min(size, 200)
    return random.choice(
        (
            random.randrange(size + 1),
            random.randrange(near + 1),
            size - random.randrange(near + 1),
        )
    )


def _flip(content, random):
    return _overwrite(content, random, lambda old: bytes([old[0] ^ (1 << random.randrange(8))]), 1)


def _byte(content, random):
    return _overwrite(content, random, lambda old: random.randbytes(1), 1)


def _extreme(content, random):
    number, size = random.choice(_EXTREMES), random.choice((1, 2, 4, 8))
    order = random.choice(("little", "big"))
    value = (number % (1 << 8 * size)).to_bytes(size, order)
    return _overwrite(content, random, lambda old: value, size)


def _zeros(content, random):
    size = random.choice((2, 16, 512))
    return _overwrite(content, random, lambda old: bytes(len(old)), size)


def _noise(content, random):
    size = random.choice((2, 16, 128))
    return _overwrite(content, random, lambda old: random.randbytes(len(old)), size)


def _overwrite(content, random, value, size):
    start = min(_place(content, random), max(0, len(content) - 1))
    old = content[start : start + size]
    return content[:start] + value(old) + content[start + size :] if old else content


def _truncate(content, random):
    return content[: _place(content, random)]


def _behead(content, random):
    return content[_place(content, random) :]


def _extend(content, random):
    return content + random.choice((b"\0" * 8, b"\n", random.randbytes(24), content))


def _delete(content, random):
    start = _place(content, random)
    return content[:start] + content[start + random.choice((1, 2, 4, 30)) :]


def _insert(content, random):
    start = _place(content, random)
    what = random.choice((*_WORDS, random.randbytes(random.choice((1, 4, 32)))))
    return content[:start] + what + content[start:]


def _repeat(content, random):
    start = _place(content, random)
    part = content[start : start + random.choice((1, 4, 40, 400))]
    return content[:start] + part + content[start:]


def _swap(content, random):
    first, second = sorted((_place(content, random), _place(content, random)))
    return content[:first] + content[second:] + content[first:second]


_CHANGES = (
    *(_flip, _flip, _flip, _byte, _byte, _extreme, _extreme, _zeros, _noise),
    *(_truncate, _behead, _extend, _delete, _insert, _insert, _repeat, _swap),
)
