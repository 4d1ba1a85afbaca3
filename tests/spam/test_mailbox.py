"""Mail is found in every place that mail is kept in."""

import gzip
import mailbox
import os

import pytest

from rosenblatt.spam import Mail, SpamFilter, mails
from tests.spam.messages import ham


def test_an_mbox_is_read_like_the_standard_library_does(tmp_path):
    box = mailbox.mbox(tmp_path / "box")
    for raw in (*ham(3), ham(1)[0] + b"\nFrom here on it is text\n"):
        box.add(raw)
    box.close()
    found = list(mails(str(tmp_path / "box")))
    assert len(found) == 4
    assert found[3].raw.endswith(b"\nFrom here on it is text\n\n")
    cut = tmp_path / "cut"
    cut.write_bytes((tmp_path / "box").read_bytes()[:-60])
    assert len(list(mails(str(cut)))) == 4


def test_a_message_is_known_in_an_mbox_and_in_a_file(tmp_path):
    """An mbox adds a line before each message and an empty one after it."""
    box = mailbox.mbox(tmp_path / "box")
    for raw in ham(2):
        box.add(raw)
    box.close()
    with SpamFilter(tmp_path / "s.db") as found:
        assert found.learn(mails(str(tmp_path / "box")), "ham").ham == 2
        assert found.learn([Mail("", raw) for raw in ham(3)], "ham")[:3] == (1, 0, 2)


def test_folders_maildirs_and_single_files(tmp_path):
    for folder in ("cur", "new", "tmp"):
        (tmp_path / "maildir" / folder).mkdir(parents=True)
        (tmp_path / "maildir" / folder / "1:2,S").write_bytes(ham(1)[0])
    assert len(list(mails(str(tmp_path / "maildir")))) == 2  # tmp holds what is being delivered
    (tmp_path / "plain" / "deep").mkdir(parents=True)
    (tmp_path / "plain" / "deep" / "a").write_bytes(ham(1)[0])
    (tmp_path / "plain" / ".hidden").write_bytes(ham(1)[0])
    assert [mail.raw for mail in mails(str(tmp_path / "plain"))] == ham(1)
    with pytest.raises(FileNotFoundError, match="There is no file or folder"):
        list(mails(str(tmp_path / "none")))


def test_tables_bring_their_labels(tmp_path):
    (tmp_path / "a.csv").write_text('label,text\nspam,"win, now"\nham,hello\nodd,x\n')
    assert [mail.label for mail in mails(str(tmp_path / "a.csv"))] == [1, 0, None]
    with gzip.open(tmp_path / "b.tsv.gz", "wt") as file:
        file.write('ham\tHe said "hi\nspam\tWIN\n')
    found = list(mails(str(tmp_path / "b.tsv.gz")))
    assert [(mail.label, mail.raw) for mail in found] == [(0, b'\nHe said "hi'), (1, b"\nWIN")]
    (tmp_path / "c.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match="needs a column called text"):
        list(mails(str(tmp_path / "c.csv")))


def test_file_names_need_not_be_unicode(tmp_path):
    name = os.fsencode(tmp_path) + b"/\xff-mail"
    with open(name, "wb") as file:
        file.write(ham()[0])
    with SpamFilter(tmp_path / "s.db") as spam_filter:
        assert spam_filter.learn(mails(os.fsdecode(name)), "ham").ham == 1
        (stored,) = spam_filter.store.messages()
    assert stored.name.endswith("\\udcff-mail")
