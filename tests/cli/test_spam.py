"""The commands of the spam filter, as a mail server and a person call them."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from rosenblatt.spam.spam_filter import OTHER_THRESHOLDS, THRESHOLDS
from tests.cli import commands
from tests.spam.messages import ham, message, spam


@pytest.fixture
def trained(tmp_path):
    """A folder with ham, spam and a store that has learned both."""
    for name, mails in (("ham", ham()), ("spam", spam())):
        (tmp_path / name).mkdir()
        for k, raw in enumerate(mails):
            (tmp_path / name / str(k)).write_bytes(raw)
    result = run(tmp_path, "learn", "--ham", tmp_path / "ham", "--spam", tmp_path / "spam")
    assert result.output == "Learned 30 ham and 30 spam.\n"
    (tmp_path / "new").write_bytes(message(1, 40))
    return tmp_path


def run(folder, *words, input=""):
    return commands.run("spam", "--store", folder / "s.db", *words, input=input)


def test_a_message_is_judged_with_an_exit_code(trained):
    found = run(trained, "classify", trained / "new")
    assert (found.exit_code, found.output.split()[0]) == (1, "spam")
    assert run(trained, "classify", trained / "ham" / "3").exit_code == 0
    assert run(trained, "classify", input="Subject: odd\n\nunheard words").exit_code == 3
    assert run(trained, "classify", trained / "none").exit_code == 2
    (trained / "bare").mkdir()
    found = run(trained, "classify", trained / "bare")
    assert (found.exit_code, "There is no message in" in found.output) == (2, True)


def test_what_is_no_mail_is_named_with_an_exit_code(trained):
    cases = {"a": (b"", "empty"), "b": (b"\0\1" * 99, "no e-mail"), "c": (b"words", "no e-mail")}
    for name, (raw, why) in cases.items():
        (trained / name).write_bytes(raw)
        for words in (("classify",), ("learn", "--ham")):
            found = run(trained, *words, trained / name)
            assert found.exit_code == 2
            assert why in found.output
    assert run(trained, "learn", "--ham", trained / "a", "--ham", trained / "ham").exit_code == 0


def test_a_store_without_history_is_no_fault_of_the_message(trained):
    store = ["spam", "--store", str(trained / "counts.db")]
    folders = ["--ham", str(trained / "ham"), "--spam", str(trained / "spam")]
    commands.run(*store, "learn", "--no-history", *folders)
    words = [*store, "classify", "-m", "logistic regression", str(trained / "new")]
    found = commands.run(*words)
    assert (found.exit_code, found.output[:7]) == (2, "Error: ")
    assert "keeps counts only" in found.output


def test_many_messages_as_objects(trained):
    found = run(trained, "classify", "--format", "jsonl", trained / "spam", trained / "ham")
    rows = [json.loads(line) for line in found.output.splitlines()]
    assert len(rows) == 60
    assert set(rows[0]) == {"path", "label", "probability", "band"}
    assert {row["label"] for row in rows[:30]} == {"spam"}
    assert found.exit_code == 0


def test_explaining_correcting_and_forgetting(trained):
    assert "spam" in run(trained, "explain", trained / "new").output
    assert "log-odds in all" in run(trained, "explain", "-m", "multinomial", trained / "new").output
    before = run(trained, "status").output
    assert run(trained, "correct", trained / "new", "--ham").output == "Learned as ham.\n"
    found = run(trained, "correct", trained / "new", "--spam").output
    assert found == "Learned as spam, forgotten as ham.\n"
    assert "nothing has changed" in run(trained, "correct", trained / "new", "--spam").output
    assert run(trained, "forget", trained / "new").output.startswith("Forgotten")
    assert run(trained, "status").output == before
    assert run(trained, "forget", trained / "new").exit_code == 2
    assert "must be hexadecimal" in run(trained, "forget", "--digest", "zz").output
    assert "--ham or --spam" in run(trained, "correct", trained / "new").output
    known = run(trained, "learn", "--spam", trained / "spam").output
    assert known == "Learned 0 ham and 0 spam. 30 had been learned before.\n"


def test_stores_move_as_text_and_are_evaluated(trained, tmp_path):
    assert run(trained, "export", "-o", trained / "e.jsonl").exit_code == 0
    other = trained / "other"
    other.mkdir()
    assert run(other, "import", trained / "e.jsonl").output == "Added 60 messages.\n"
    found = run(other, "evaluate", "--protocol", "folds", "-o", trained / "page.html")
    assert "100.0% of the spam caught with no ham lost" in found.output
    assert (trained / "page.html").exists()


FILTER = [sys.executable, "-m", "rosenblatt", "spam"]


def filtered(raw, *words, store, before=FILTER):
    command = [*before, "--store", str(store), "classify", "--filter", *words]
    return subprocess.run(command, input=raw, capture_output=True, check=False)


def test_a_filter_never_loses_mail(trained):
    """Whatever fails, the message comes out as it went in, with exit code 0."""
    raw = b"From x Mon Jul  1 10:00:00 2024\r\nX-Rosenblatt: ham\r\n" + message(1, 41).replace(
        b"\n", b"\r\n"
    )
    store = trained / "s.db"
    done = filtered(raw, store=store)
    assert done.returncode == 0
    assert b"X-Rosenblatt: spam\r\nX-Rosenblatt-Probability: " in done.stdout
    assert b"X-Rosenblatt: ham" not in done.stdout
    assert done.stdout.endswith(raw[raw.index(b"From: ") :])

    (trained / "broken.db").write_bytes(b"no database" * 100)
    for bad, words in (
        (trained / "none.db", ()),
        (trained / "broken.db", ()),
        (store, ("--model", "magic")),
        (store, ("--no-such-option",)),
    ):
        done = filtered(raw, *words, store=bad)
        assert (done.returncode, done.stdout) == (0, raw), done.stderr
    for words in ((), ("--no-such-option",)):
        done = filtered(raw, "--tempfail", *words, store=trained / "none.db")
        assert (done.returncode, done.stdout) == (75, b"")
    # Nothing can come out of a file that is not there: the server must keep its copy.
    assert filtered(raw, trained / "gone", store=store).returncode == 75
    binary = bytes(range(256)) * 100
    assert filtered(binary, store=store).stdout == binary


def test_a_filter_whose_installation_is_broken_passes_mail_on(trained):
    raw = message(1, 41)
    broken = (
        "import sys\nsys.modules['rosenblatt.spam'] = None\nfrom rosenblatt.cli import main\n"
        "sys.argv[0:1] = ['rosenblatt', 'spam']\nmain()"
    )
    before = [sys.executable, "-c", broken]
    done = filtered(raw, store=trained / "s.db", before=before)
    assert (done.returncode, done.stdout) == (0, raw)
    assert b"rosenblatt.spam" in done.stderr
    done = filtered(raw, "--tempfail", store=trained / "s.db", before=before)
    assert (done.returncode, done.stdout) == (75, b"")


def test_a_store_that_is_damaged_inside_is_named(trained):
    path = trained / "s.db"
    with closing(sqlite3.connect(path)) as connection:
        query = "SELECT rootpage FROM sqlite_master WHERE name IN ('tokens', 'messages')"
        pages = [page for (page,) in connection.execute(query)]
        ((size,),) = connection.execute("PRAGMA page_size")
    held = bytearray(path.read_bytes())
    for page in pages:
        held[(page - 1) * size : page * size] = b"\xff" * size
    path.write_bytes(held)
    for words in (("classify", trained / "ham"), ("export",), ("explain", trained / "new")):
        done = run(trained, *words)
        assert done.exit_code == 2, done.output
        assert "s.db cannot be read: database disk image is malformed." in done.output


def test_one_message_needs_no_heavy_import(trained):
    """A new process answers before NumPy would be loaded."""
    code = (
        "import sys\nfrom rosenblatt.cli import main\n"
        f"sys.argv = ['rosenblatt', 'spam', '--store', {str(trained / 's.db')!r}, 'classify', "
        f"{str(trained / 'new')!r}]\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "print(sorted({'numba', 'scipy', 'sklearn', 'numpy', 'rich'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.skipif(shutil.which("maildrop") is None, reason="maildrop is not installed here")
def test_a_real_delivery_through_the_filter(trained):
    """maildrop pipes each message through the filter and sorts it into a Maildir by our header."""
    for name in ("Inbox", "Junk"):
        for part in ("cur", "new", "tmp"):
            (trained / name / part).mkdir(parents=True)
    command = f"{sys.executable} -m rosenblatt spam --store {trained}/s.db classify --filter"
    recipe = trained / "mailfilter"
    recipe.write_text(
        f'xfilter "{command}"\nif (/^X-Rosenblatt: spam/)\n{{\n    to "{trained}/Junk"\n}}\n'
        f'to "{trained}/Inbox"\n'
    )
    recipe.chmod(0o600)
    environment = {**os.environ, "HOME": str(trained)}
    for raw in (message(0, 43), message(1, 43)):
        done = subprocess.run(
            ["maildrop", str(recipe)], input=raw, env=environment, capture_output=True, check=False
        )
        assert done.returncode == 0, done.stderr
    delivered = {
        name: [file.read_bytes() for file in (trained / name / "new").iterdir()]
        for name in ("Inbox", "Junk")
    }
    assert [len(mails) for mails in delivered.values()] == [1, 1]
    assert message(1, 43) in delivered["Junk"][0]
    assert b"X-Rosenblatt: ham" in delivered["Inbox"][0]


def test_help_and_cut_lists_name_what_is_not_shown(trained):
    text = " ".join(run(trained, "classify", "--help").output.replace("│", " ").split())
    for low, high in (*THRESHOLDS.values(), OTHER_THRESHOLDS):
        assert f" {low:g}" in text
        assert f" {high:g}" in text
    found = run(trained, "explain", "--most", 1, trained / "new").output
    count = int(found.split("--most ")[1].split()[0])
    assert f"and {count - 1} more; --most {count} shows all." in found
    assert "more" not in run(trained, "explain", "--most", count, trained / "new").output


def test_serving_without_its_packages_names_the_extra(trained, monkeypatch):
    monkeypatch.delitem(sys.modules, "rosenblatt.spam.service", raising=False)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    found = run(trained, "serve", "--port", "0")
    assert found.exit_code == 2
    assert 'pip install "rosenblatt[service]"' in found.output


def test_a_path_that_does_not_exist_creates_no_store(tmp_path):
    found = run(tmp_path, "learn", "--ham", tmp_path / "nothing")
    assert (found.exit_code, "There is no file or folder" in found.output) == (2, True)
    assert not (tmp_path / "s.db").exists()
