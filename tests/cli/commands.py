"""How tests call commands."""

from typer.testing import CliRunner

from rosenblatt.cli.app import app


def run(*words, **options):
    return CliRunner().invoke(app, [str(word) for word in words], **options)


def done(*words):
    """What a command prints that went well."""
    result = run(*words)
    assert result.exit_code == 0, result.output
    return result.stdout


def refused(*words):
    """The sentence that a command refuses with."""
    result = run(*words)
    assert result.exit_code == 2, result.output
    assert isinstance(result.exception, SystemExit)
    assert "Traceback" not in result.output
    lines = result.stderr.splitlines()
    assert lines[-1].startswith("Error: "), result.stderr
    return lines[-1].removeprefix("Error: ")
