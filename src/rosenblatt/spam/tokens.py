"""The tokens of a message, which the filter counts.

Words keep their case and their exclamation marks (`FREE!!`); unknown words are looked up in plainer
forms (`plainer`). Digits become `#`, so that all prices and years are alike. Tokens from other
places than the text have a prefix: `subject:free`, `from:example.com`, `url:example.com`,
`hidden:poem`, `attachment:.exe`.

Regular expressions and `Counter` do most of the work, in C; headers and links are often repeated
and therefore cached. `mail_loops` finds the same tokens in bytes, for many messages.

>>> from rosenblatt.spam.message import parse
>>> sorted(tokens(parse(b"Subject: Hi\\n\\nWIN $1000 now! http://a.example/x")))[:4]
['$####', 'WIN', 'header:subject', 'now!']
"""

import re
import string
from collections import Counter
from functools import lru_cache

from .html import lowered
from .message import Message

VERSION = 1  # counts of tokens of another version cannot be used
LONGEST = 24  # characters of a word; longer ones are ignored
MOST_LINKS = 200
MOST_WORDS = 8  # of one header
LONGEST_PATH = 200  # characters of a link


def any_of(letters: str) -> str:
    """Return the class of some ASCII characters and all others beyond ASCII.

    It lists the characters that are not in it, which compiles faster.

    >>> re.findall(any_of("abc"), "a.é")
    ['a', 'é']
    """
    others = (chr(code) for code in range(128) if chr(code) not in letters)
    return f"[^{re.escape(''.join(others))}]"


LOWER, DIGITS = string.ascii_lowercase, string.digits
WORD = re.compile(any_of(f"{string.ascii_letters}#$_'-") + "{2,}!{0,3}")
GENERAL = bytes.maketrans(DIGITS.encode(), b"#" * 10)
# Only ASCII has blanks, digits and case; all other characters are letters, as in `mail_loops`.
URL = re.compile(r"(?:http|ftp|HTTP)s?://([^\s/<>\"'?#]{1,100})([^\s<>\"']*)", re.A)
NAME = re.compile(any_of(f"{LOWER}{DIGITS}_.+-") + "+")
PATH_WORD = re.compile(any_of(f"{string.ascii_letters}_") + "{2,24}")
MAIL_HOST = re.compile(f"@({any_of(f'{LOWER}{DIGITS}_.-')}+)")
# Where a message came from and where it goes: names and addresses as they are.
ADDRESSES = frozenset(["from", "to", "cc", "reply-to", "return-path", "message-id"])
# Headers that were added after delivery, by other filters, or by mailing lists to every message:
# fifty tokens of the route of a message would outweigh its text.
IGNORED = frozenset(
    ("errors-to", "precedence", "sender", "mailing-list", "status", "date", "content-length")
    + ("lines", "delivered-to")
)
IGNORED_STARTS = (
    "x-rosenblatt", "x-spam", "x-bogosity", "x-uid", "x-keywords", "x-status", "x-mozilla",
    "x-evolution", "x-gmail", "x-virus", "x-beenthere", "x-mailman", "x-egroups", "x-list",
    "x-original", "list-",
)  # fmt: skip


def tokens(message: Message) -> Counter[str]:
    """Return the number of occurrences of each token in a message."""
    found = [*header_tokens(message), *words("\n".join(message.texts))]
    for page in message.pages:
        found += [f"hidden:{word}" for word in words(page.hidden)]
        found += [f"html:{tag[:12]}" for tag in page.tags]
        found += ["html:comment"] * page.n_comments
        for host, path in URL.findall(" ".join(page.links)):
            found += link_tokens(host, path[:LONGEST_PATH])
    found += [f"attachment:{kind}" for kind in message.attachments]
    if message.truncated:
        found.append("message:long")
    return Counter(found)


def words(text: str) -> list[str]:
    """Return the words of a text, and the tokens of its links.

    >>> words("it's FREE!!, in 1999 a " + "x" * 40)
    ["it's", 'FREE!!', 'in', '####']
    """
    links: list[str] = []
    if "://" in text:
        before, *rest = URL.split(text, MOST_LINKS)
        for host, path in zip(rest[::3], rest[1::3], strict=True):
            links += link_tokens(host, path[:LONGEST_PATH])
        text = " ".join([before, *rest[2::3]])
    found = [word for word in WORD.findall(_general(text)) if len(word) <= LONGEST]
    return found + links


def _general(text: str) -> str:
    """Return a text with `#` for each digit; `translate` is faster for bytes."""
    return text.encode().translate(GENERAL).decode()


def plainer(token: str) -> list[str]:
    """Return plainer forms of a token, the nearest first, to look up if it was never seen.

    >>> plainer("subject:FREE!!")
    ['subject:FREE', 'subject:Free', 'subject:free', 'FREE!!', 'FREE', 'Free', 'free']
    """
    place, colon, word = token.rpartition(":")
    bare = word.rstrip("!")
    forms = [word, bare, bare.capitalize(), bare.lower()]
    if colon:
        forms = [f"{place}:{form}" for form in forms] + forms
    return [form for form in dict.fromkeys(forms) if form != token]


def header_tokens(message: Message) -> list[str]:
    """Return the tokens of all headers."""
    found: list[str] = []
    for name, value in message.headers:
        if name == "subject":
            found.append("header:subject")
            found += [f"subject:{word}" for word in words(value)]
        elif len(value) < 500:
            found += tokens_of_header(name, value)
    return found


@lru_cache(20_000)
def tokens_of_header(name: str, value: str) -> tuple[str, ...]:
    """Return the tokens of a header other than the subject.

    >>> tokens_of_header("from", "<ann@mail.example>")
    ('header:from', 'from:ann', 'from:mail.example', 'from:@mail.example', 'from:@example')
    """
    if name in IGNORED or name.startswith(IGNORED_STARTS):
        return ()
    name = name[:30]
    value = lowered(value)
    found = NAME.findall(value)[:MOST_WORDS]
    if name not in ADDRESSES:
        found = [_general(word) for word in found]
    found = [f"{name}:{word}" for word in found if len(word) <= 2 * LONGEST]
    hosts = MAIL_HOST.findall(value) if name in ADDRESSES else []
    domains = [f"{name}:@{domain}" for host in hosts for domain in _domains(host)]
    return (f"header:{name}", *found, *domains)


@lru_cache(20_000)
def link_tokens(host: str, path: str) -> list[str]:
    """Return the tokens of a link: its host, the domains that it belongs to, words of its path.

    >>> link_tokens("user@www.Shop.example:80", "/buy?id=17")
    ['url:www.shop.example', 'url:shop.example', 'url:example', 'url:/buy', 'url:/id']
    """
    host = lowered(host.rpartition("@")[2].partition(":")[0])
    parts = _domains(host) + [f"/{word}" for word in PATH_WORD.findall(path)[:20]]
    return [f"url:{part}" for part in parts]


def _domains(host: str) -> list[str]:
    """Return a host and the domains that it belongs to, at most four.

    >>> _domains("a.b.example")
    ['a.b.example', 'b.example', 'example']
    """
    labels = host.strip(".").split(".")[-4:]
    return [".".join(labels[k:]) for k in range(len(labels))]
