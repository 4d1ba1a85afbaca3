"""The page on commands shows what they print.

``python -m tests.docs.test_commands`` writes the outputs anew.
"""

import os
import re
import shlex
import tempfile
from pathlib import Path

from tests.cli.commands import run

PAGE = Path(__file__).resolve().parents[2] / "docs" / "commands.md"
BLOCKS = re.compile(r"^```console\n(.*?)^```$", flags=re.M | re.S)


def shown():
    """Each command on the page, with what it says is printed."""
    for block in BLOCKS.findall(PAGE.read_text(encoding="utf-8")):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, _, output = part.partition("\n")
            yield command, output


def printed(command):
    return run(*shlex.split(command)[1:], columns=100).output


def without_numbers(text):
    """The words: the last digits of numbers are the machine's."""
    return re.sub(r"[+-]?\d[\d,.]*(e[+-]\d+)?", "#", text)


def test_every_output_is_as_shown(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = [(command, without_numbers(printed(command))) for command, _ in shown()]
    assert found == [(command, without_numbers(output)) for command, output in shown()]


def rewrite():
    """Run every command and put what it prints below it."""
    text = PAGE.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)

        def run(block):
            commands = re.findall(r"^\$ (.*)$", block[1], flags=re.M)
            return "```console\n" + "".join(f"$ {c}\n{printed(c)}" for c in commands) + "```"

        text = BLOCKS.sub(run, text)
        os.chdir(PAGE.parent)
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    rewrite()
