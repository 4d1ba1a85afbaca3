"""Compiled loops find what Python finds, in the corpora and in whatever is made of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.spam import (
    Mail,
    SpamFilter,
    StoreError,
    batch_learning,
    batch_scoring,
    batches,
    spam_filter,
)
from rosenblatt.spam.batches import TokenCounter
from rosenblatt.spam.message import parse
from rosenblatt.spam.tokens import tokens
from rosenblatt.term_table import TermTable
from tests.spam.corpus import corpus, mutated, needs_corpus
from tests.spam.messages import ham, spam
from tests.spam.test_message import MULTIPART

ODD = [
    MULTIPART,
    MULTIPART.replace(b"\n", b"\r\n"),
    b"Subject: FREE!! http://a.b.example/x1y2?z=Grunz http://u:p@10.20.30.40:80/\n"
    b"From: =?utf-8?q?J=C3=BCrgen?= <J.R@Mail.Example>, b@..x.\nTo: a@\nX-Odd: \n"
    b"Received: from a.b.example ([10.0.0.1]) by c.d. with v1.2\nReceived: from a.b.example\n"
    b"Content-Type: text/html; charset=iso-8859-1\n\n"
    b'<P>caf\xe9 &amp; <font size=1>tiny</font><a HREF="HTTPs://x.example/a_b/77/'
    + b"w"
    * 60
    + b'">x</a><!-- a --><style>p</style>'
    b'<span style="Display : None">poem <b>more</b></span><br/>x' + b"y" * 30,
    b"Subject: x\n\nxhttp://http://y https://[ http:// ab!!!! a! 12 #' \xc3\xa9\xc3\xa9 \xff",
]


@pytest.fixture(autouse=True)
def compiled(monkeypatch):
    """Loops that nobody has compiled yet are compiled, however few the messages."""
    monkeypatch.setattr(spam_filter, "MANY_TO_COMPILE", 0)


def assert_same_tokens(raws):
    messages = [parse(raw) for raw in raws]
    counter = TokenCounter(TermTable())
    rows, names = counter.count(messages), counter.table.terms()
    for i, message in enumerate(messages):
        some = slice(rows.indptr[i], rows.indptr[i + 1])
        found = {names[j]: n for j, n in zip(rows.numbers[some], rows.counts[some], strict=True)}
        assert found == tokens(message)


def test_tokens_are_those_of_single_messages():
    assert_same_tokens([*ODD, *ham(5), *spam(5), b"", b"\n\n", b"a"])


@needs_corpus
def test_the_corpus_is_read_alike():
    assert_same_tokens(corpus()[::10])


@needs_corpus
@given(st.lists(st.integers(0, 2999), min_size=2, max_size=4), st.randoms(use_true_random=False))
def test_spoilt_messages_of_the_corpus_are_read_alike(chosen, chance):
    raws = [corpus()[i] for i in chosen]
    assert_same_tokens([mutated(raw, raws[0], chance) for raw in raws])


@given(
    st.text("<>/!-abpH =\"'&;:@.?#$_0123httpfs\u00e9\u2028", max_size=120),
    st.sampled_from(["subject", "from", "received", "x-odd", "list-id", "content-type"]),
)
def test_tokens_of_any_header_and_text_are_the_same(text, name):
    link = f"http://{text} HTTPs://a{text}/b"
    header = text.replace("\n", " ")
    page = f"<p>{text}</p><a href='{link}'><font size=1>{text}"
    raws = [f"{name}: {header}\n\n{text} {link}", f"Content-Type: text/html\n\n{page}"]
    assert_same_tokens([raw.encode() for raw in raws])


def test_messages_with_many_or_long_tokens_get_more_room(monkeypatch):
    monkeypatch.setattr(batches, "MOST_TERMS", 1 << 7)
    monkeypatch.setattr(batches, "MOST_BYTES", 1 << 14)
    long = b"Subject: x\n\n" + b"hello there " * 3000
    attached = b"Content-Type: application/" + b"x" * 40_000 + b"; name=a.b\n\nx"
    assert_same_tokens([*ham(2), long, attached, *ham(1)])


def test_room_grows_with_what_comes():
    """More new tokens, and longer rows, than there was room for."""
    long = b"Subject: x\n\n" + b" ".join(
        bytes([97 + k % 26, 97 + k // 26 % 26, 97 + k // 676 % 26]) for k in range(9000)
    )
    assert_same_tokens([long, *ham(3), long + b" more"])


def learned(path, mails, many, monkeypatch, batch=5000):
    monkeypatch.setattr(spam_filter, "MANY_TO_LEARN", many)
    monkeypatch.setattr(spam_filter, "MOST_LEARNED", batch)
    monkeypatch.setattr(spam_filter, "MOST_AT_ONCE", min(batch, 250))
    monkeypatch.setattr(batch_learning, "MOST_AT_ONCE", min(batch, 8))
    with SpamFilter(path) as found:
        done = found.learn(mails)
        history = {(m.digest, m.label, m.sent, m.name): m.tokens for m in found.store.messages()}
        return done, found.store.all_counts(), found.store.n_messages(), history


MAILS = [
    Mail(f"{label}{k}", raw, label)
    for label, raws in ((0, [*ham(20), *ODD[:2]]), (1, [*spam(20), *ODD[2:]]))
    for k, raw in enumerate(raws)
] + [Mail("again", ham(1)[0], 0), Mail("empty", b"", 1), Mail("unlabelled", spam(30)[-1])]


def test_batches_are_learned_like_single_messages(tmp_path, monkeypatch):
    slow = learned(tmp_path / "a", MAILS, 10**9, monkeypatch)
    assert slow == learned(tmp_path / "b", MAILS, 1, monkeypatch)
    # Into a store that others write to, in batches of which some are known.
    monkeypatch.setattr(spam_filter, "MANY_TO_LEARN", 1)
    with SpamFilter(tmp_path / "c") as first:
        first.learn(MAILS[:7])
        learned(tmp_path / "c", MAILS[5:12], 10**9, monkeypatch)
    assert slow[1:] == learned(tmp_path / "c", MAILS, 1, monkeypatch, batch=9)[1:]


def test_loops_are_compiled_after_many_messages(tmp_path, monkeypatch):
    monkeypatch.setattr(spam_filter, "worth_loops", lambda n, many: n >= 8)
    monkeypatch.setattr(spam_filter, "MOST_AT_ONCE", 2)
    monkeypatch.setattr(spam_filter, "MOST_LEARNED", 4)
    with SpamFilter(tmp_path / "a") as found:
        found.learn(MAILS[:7])
        assert found._learner is None
        found.learn(MAILS[:7] + MAILS[7:12])
        assert found._learner is not None
        assert found.store.n_messages() == (12, 0)


def test_a_batch_without_a_message_that_can_be_read_is_learned_and_judged(tmp_path, monkeypatch):
    """The last of 5,001 messages was empty, and the loops had nothing to read."""
    monkeypatch.setattr(spam_filter, "MANY_TO_LEARN", 1)
    monkeypatch.setattr(spam_filter, "MANY_TO_JUDGE", 1)
    with SpamFilter(tmp_path / "a") as found:
        found.learn(MAILS)
        assert found.learn([Mail("", b"", 1)]).refused == [("", "the message is empty.")]
        assert [why for _, _, why in found.classify_all([Mail("", b"")])]


def test_messages_of_a_reading_that_failed_are_not_learned_later(tmp_path, monkeypatch):
    def broken():
        yield from MAILS[:20]
        raise OSError("the disk is gone")

    for many in (1, 10**9):
        monkeypatch.setattr(spam_filter, "MANY_TO_LEARN", many)
        monkeypatch.setattr(spam_filter, "MOST_AT_ONCE", 4)
        with SpamFilter(tmp_path / str(many)) as found:
            with pytest.raises(OSError, match="gone"):
                found.learn(broken())
            assert found.learn(MAILS[20:22]).ham == 2
            assert found.store.n_messages() == (2, 0)


def test_small_batches_after_a_large_one_are_learned_alike(tmp_path, monkeypatch):
    """Ham and spam come in two calls, with corrections between them."""
    states = []
    for many in (10**9, 20):
        monkeypatch.setattr(spam_filter, "MANY_TO_LEARN", many)
        with SpamFilter(tmp_path / str(many)) as found:
            found.learn(MAILS[:22])
            found.correct(MAILS[0].raw, "spam")
            found.correct(b"Subject: new words\n\nquite other ones", "ham")
            found.learn(MAILS[22:])
            found.forget(MAILS[30].raw)
            found.learn(MAILS[29:31])
            states.append((found.store.all_counts(), found.store.n_messages()))
    assert states[0] == states[1]


def test_a_batch_that_fails_leaves_the_store_and_the_next_succeeds(tmp_path, monkeypatch):
    from rosenblatt.spam.batch_learning import BatchLearner

    monkeypatch.setattr(spam_filter, "MANY_TO_LEARN", 1)
    with SpamFilter(tmp_path / "a") as found:
        histories = BatchLearner._histories

        def fail(self, *_):
            raise StoreError("no room")

        monkeypatch.setattr(BatchLearner, "_histories", fail)
        with pytest.raises(StoreError, match="no room"):
            found.learn(MAILS)
        assert found.store.n_messages() == (0, 0)
        assert found.store.totals() == ((0, 0), (0, 0), 0)
        monkeypatch.setattr(BatchLearner, "_histories", histories)
        assert found.learn(MAILS).ham == 22
        assert found.classify(ham(1)[0]).label == "ham"


@pytest.mark.parametrize("model", ["chi-square", "multinomial", "bernoulli", "complement"])
def test_batches_are_judged_like_single_messages(tmp_path, monkeypatch, model):
    learned(tmp_path / "a", MAILS, 1, monkeypatch)
    new = [
        Mail("", f"Subject: {w}!!\n\n{w} {w.upper()}! {w.capitalize()} x:{w} {k}".encode())
        for k, w in enumerate(["Winner", "meeting", "prize", "CAFÉ", "café", "tiny", "seen"])
    ]
    mails = [*new, Mail("", b""), *MAILS, *new]
    monkeypatch.setattr(batch_scoring, "MOST_TOKENS", 3)
    answers = []
    for many in (10**9, 4, len(mails)):
        monkeypatch.setattr(spam_filter, "MANY_TO_JUDGE", many)
        with SpamFilter(tmp_path / "a", model=model, read_only=True) as found:
            answers.append([(judged, why) for _, judged, why in found.classify_all(mails)])
    assert answers[0] == answers[1] == answers[2]
    assert answers[0][7] == (None, "the message is empty.")


def test_an_empty_store_judges_batches_as_unsure(tmp_path, monkeypatch):
    monkeypatch.setattr(spam_filter, "MANY_TO_JUDGE", 2)
    with SpamFilter(tmp_path / "a") as found:
        judged = [judged for _, judged, _ in found.classify_all(MAILS[:4])]
    assert {one.band for one in judged} == {"unsure"}
