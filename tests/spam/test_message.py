"""Messages are taken apart as Python's own parser does, and nothing that arrives can break it."""

import codecs
import email
import email.policy
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.spam import Mail, SpamFilter, marked
from rosenblatt.spam import message as messages
from rosenblatt.spam.html import lowered, read_page
from rosenblatt.spam.message import check_mail, decode, from_base64, parse
from rosenblatt.spam.store import digest_of
from rosenblatt.spam.tokens import plainer, tokens
from tests.spam.messages import ham

MULTIPART = b"""From: a@b.example
Subject: =?utf-8?b?R3LDvMOfZQ==?= =?utf-8?q?_aus_K=C3=B6ln?=
Content-Type: multipart/mixed; boundary="x y"

preamble
--x y
Content-Type: text/plain; charset=iso-8859-1
Content-Transfer-Encoding: quoted-printable

caf=E9 =
folded
--x y
Content-Type: text/html; charset=utf-8
Content-Transfer-Encoding: base64

PHA+SGVsbG8gPGI+d29ybGQ8L2I+PC9wPjxhIGhyZWY9Imh0dHA6Ly94LmV4YW1wbGUvYnV5Ij4=
--x y
Content-Type: application/octet-stream; name="run.EXE"

MZ
--x y--
epilogue
"""


def test_parts_encodings_and_attachments():
    found = parse(MULTIPART)
    assert found.header("subject") == "Grüße aus Köln"
    assert found.texts[0].split() == ["café", "folded"]
    assert found.texts[1].split() == ["Hello", "world"]
    assert found.pages[0].links == ["http://x.example/buy"]
    assert found.attachments == ["application/octet-stream", ".exe"]


def test_texts_and_headers_are_those_of_the_standard_library():
    for raw in (MULTIPART, MULTIPART.replace(b"\n", b"\r\n"), *ham(5)):
        peer = email.message_from_bytes(raw, policy=email.policy.default)
        plain = [
            part.get_content() for part in peer.walk() if part.get_content_type() == "text/plain"
        ]
        ours = parse(raw)
        assert [text.split() for text in ours.texts[: len(plain)]] == [t.split() for t in plain]
        assert ours.header("subject") == str(peer["subject"])
        assert [name for name, _ in ours.headers] == [name.lower() for name in peer]


@given(st.binary(max_size=300), st.randoms(use_true_random=False))
def test_any_bytes_are_read(noise, chance):
    """Mutated mail: pieces cut out, doubled and replaced by noise."""
    raw = bytearray(MULTIPART)
    for _ in range(4):
        a, b = sorted(chance.randrange(len(raw) + 1) for _ in range(2))
        raw[a:b] = chance.choice([b"", bytes(raw[a:b]) * 2, noise])
    for mail in (bytes(raw), noise, b"Content-Type: text/html\n\n" + noise):
        assert all(isinstance(token, str) and token for token in tokens(parse(mail)))


def test_bombs_are_bounded():
    deep = b"".join(
        b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (k, k) for k in range(200)
    )
    assert parse(deep + b"\n\nhello").texts == []
    many = b"Content-Type: multipart/mixed; boundary=b\n\n" + b"--b\n\nhi\n" * 5000
    assert len(parse(many).texts) < messages.MOST_PARTS
    long = parse(b"Subject: x\n\n" + b"word " * 400_000)
    assert long.truncated
    assert len(long.texts[0]) <= messages.MOST_BYTES
    assert tokens(long)["message:long"] == 1
    assert len(parse(b"A: b\n" * 10_000 + b"\nx").headers) <= messages.MOST_HEADERS


def test_pages_that_never_close_take_no_longer():
    """Each opening looked for its end to the end of the page: the square of its length."""
    for start in ("<head ", "<!-- ", "<style>", "href  = ", "<p "):
        page = read_page(start * 40_000)
        assert page.visible.strip() in ("", (start * 40_000).strip())


@given(st.text("<>/!-abp =\"'&;sizehdncolr#f:1", max_size=80), st.text(max_size=10))
def test_any_page_is_read(source, more):
    source += more
    page = read_page(source)
    assert len(page.visible) + len(page.hidden) <= 2 * len(source) + 1
    assert page.tags == [lowered(name) for name in page.tags]
    if "<" not in source and "&" not in source:
        assert page == (source, "", [], [], 0)


def test_what_decodes_to_line_breaks_and_halves_of_characters_is_harmless():
    message = parse(b"Subject: =?utf-8?q?a=0AX-Odd:_b?=\n\nx")
    assert message.headers == [("subject", "a X-Odd: b")]
    for charset, raw in (
        ("utf-7", b"+2AA- ab"),
        ("unicode_escape", rb"\ud800 ab"),
        ("utf-16", b"a"),
    ):
        text = decode(raw + b"\0", charset)
        assert text.encode().decode() == text
        assert "\0" not in text


def test_broken_encodings_never_fail():
    assert decode(b"\xff\xfe", "utf-8") == "ÿþ"
    assert decode(b"abc", "no-such-charset") == "abc"
    assert decode(b"abc", "utf\0") == "abc"
    rng = random.Random(0)
    for n in range(40):
        from_base64(bytes(rng.randrange(256) for _ in range(n)))
    assert from_base64(b"aGVs\nbG8") == b"hello"


def test_what_html_hides_is_kept_apart():
    page = read_page(
        "<style>p{}</style><!-- secret --><p>See <font color='#ffffff'>invisible ink</font> "
        "this</p>"
        '<div style="display:none">deep <b>poem</b> here</div>after&amp;all'
    )
    assert page.visible.split() == ["See", "this", "after&all"]
    assert page.hidden.split() == ["invisible", "ink", "deep", "poem", "here"]
    assert page.n_comments == 1


@pytest.mark.parametrize("raw", [b"", b"  \n", b"\x7fELF\x02\x01\0\0" * 50, b"just some words\n"])
def test_what_is_no_mail_is_refused(raw):
    with pytest.raises(ValueError, match=r"empty|no e-mail"):
        check_mail(raw)


def test_headers_of_ours_and_of_other_filters_are_never_tokens():
    raw = (
        b"X-Rosenblatt: spam\nX-Spam-Status: Yes\nX-Bogosity: Spam\nStatus: RO\nSubject: hi\n\nyes"
    )
    assert set(tokens(parse(raw))) == {"header:subject", "subject:hi", "yes"}


def test_numbers_and_links_are_generalised_and_case_is_kept():
    found = tokens(parse(b"Subject: a\n\nWIN $1000 in 2024!! http://u:p@shop.example:80/Buy?id=77"))
    assert {"WIN", "$####", "####!!", "url:shop.example", "url:example", "url:/Buy"} <= set(found)
    assert list(plainer("FREE!!")) == ["FREE", "Free", "free"]


@pytest.mark.parametrize(
    "raw",
    [
        b"Content-Type: text/html\n\n<p style='color:" + b" " * 300_000 + b"'>hi",
        b"Content-Type: text/plain; charset=punycode\n\nab-" + b"x9" * 150_000,
        b"Content-Type: text/plain; charset=idna\n\n" + b"xn--a." * 80_000,
    ],
)
def test_no_page_or_charset_takes_the_square_of_time(raw):
    assert "header:content-type" in tokens(parse(raw))  # the square would take minutes


def test_a_number_too_long_for_python_is_no_character():
    raw = b"Content-Type: text/html\n\nbefore &#" + b"9" * 5000 + b"; after &#65;"
    assert parse(raw).texts == ["before \ufffd after A"]


def test_a_line_that_cannot_be_a_header_ends_the_headers():
    """The messages of the Enron corpus have no empty line before their body."""
    raw = b"Subject: farm pictures\nX-Folder: a,\n\tb\nfor your viewing pleasure\n\nTo: do\n"
    for mail in (raw, raw.replace(b"\n", b"\r\n"), b"From x Mon Jul  1 2024\n" + raw):
        found = parse(mail)
        peer = email.message_from_bytes(mail, policy=email.policy.default)
        assert [name for name, _ in found.headers] == [name.lower() for name in peer]
        assert found.texts[0].split() == peer.get_content().split()
        assert "viewing" in tokens(found)
    part = b"Content-Type: multipart/mixed; boundary=b\n\n--b\nno headers\n\nhere\n--b--\n"
    assert parse(part).texts == ["no headers\n\nhere"]


def test_headers_of_ours_are_removed_from_headers_alone():
    raw = b"Subject: farm\nthe body begins\nX-Rosenblatt: body\n\nmore\n"
    ours = marked(b"X-Rosenblatt: forged\n" + raw, {"X-Rosenblatt": "ham"})
    assert ours == b"X-Rosenblatt: ham\n" + raw
    assert digest_of(ours) == digest_of(raw)


def test_a_byte_order_mark_before_a_message_is_skipped():
    (raw,) = ham(1)
    assert parse(codecs.BOM_UTF8 + raw) == parse(raw)
    assert digest_of(codecs.BOM_UTF8 + raw) == digest_of(raw)
    check_mail(codecs.BOM_UTF8 + b"\nwords without headers")
    assert marked(codecs.BOM_UTF8 + raw, {"X-Rosenblatt": "ham"}) == b"X-Rosenblatt: ham\n" + raw
    with pytest.raises(ValueError, match="empty"):
        check_mail(codecs.BOM_UTF8)


def test_all_methods_accept_every_form_of_a_message(tmp_path):
    (raw,) = ham(1)
    forms = [raw, raw.decode(), email.message_from_bytes(raw), Mail("", raw)]
    forms.append(email.message_from_bytes(raw, policy=email.policy.default))
    with SpamFilter(tmp_path / "s.db") as spam_filter:
        assert spam_filter.learn(forms, "ham")[:3] == (1, 0, 4)
        for form in forms:
            assert spam_filter.forget(form) == "ham"
            assert spam_filter.learn(form, "ham").ham == 1
            assert spam_filter.classify(form) == spam_filter.classify(raw)
            assert spam_filter.explain(form) == spam_filter.explain(raw)
            assert spam_filter.correct(form, "ham") == "ham"
        assert {judged for _, judged, _ in spam_filter.classify_all(forms)} == {
            spam_filter.classify(raw)
        }
        with pytest.raises(TypeError, match="must be bytes, text, an email"):
            spam_filter.classify(7)
