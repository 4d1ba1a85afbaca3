"""How tests run commands, within the process."""

import contextlib
import io
from dataclasses import dataclass
from unittest import mock

from rosenblatt.cli import execute


@dataclass
class Result:
    """Exit code and output of a command."""

    exit_code: int
    stdout_bytes: bytes
    stderr: str
    output: str
    exception: Exception | None = None

    @property
    def stdout(self):
        return self.stdout_bytes.decode()


class _Both(io.BytesIO):
    """Bytes that also go to another stream."""

    def __init__(self, other):
        super().__init__()
        self.other = other

    def write(self, data):
        self.other.write(data)
        return super().write(data)


def run(*words, input="", columns=None):
    """Run a command; `input` is what standard input holds."""
    both = io.BytesIO()
    raw = [_Both(both), _Both(both)]
    out, err = (io.TextIOWrapper(stream, "utf-8", write_through=True) for stream in raw)
    data = input.encode() if isinstance(input, str) else input
    given = io.TextIOWrapper(io.BytesIO(data), "utf-8")
    environment = {} if columns is None else {"COLUMNS": str(columns)}
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        mock.patch("sys.stdin", given),
        mock.patch.dict("os.environ", environment),
    ):
        exception = None
        try:
            code = execute([str(word) for word in words])
        except SystemExit as end:  # such as --help
            code = end.code or 0
        except Exception as error:  # such as one with --debug
            code, exception = 1, error
    texts = [stream.getvalue().decode(errors="replace") for stream in (*raw[1:], both)]
    return Result(code, raw[0].getvalue(), *texts, exception)


def done(*words):
    """Return what a successful command prints."""
    result = run(*words)
    assert result.exit_code == 0, result.output
    return result.stdout


def refused(*words):
    """Return the sentence of a command that ends with exit code 2."""
    result = run(*words)
    assert result.exit_code == 2, result.output
    assert "Traceback" not in result.output
    lines = result.stderr.splitlines()
    assert lines[-1].startswith("Error: "), result.stderr
    return lines[-1].removeprefix("Error: ")
