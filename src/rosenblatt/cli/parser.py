"""Parser of the command line, with plain help and errors of one sentence."""

import argparse
import difflib
import math
import re
from collections.abc import Callable
from typing import Any, NoReturn

TOGGLE: Any = {"action": argparse.BooleanOptionalAction, "default": True}


class UsageError(ValueError):
    """A command line that cannot be parsed."""


class HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Plain help: the value of an option is named once."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=28)

    def _format_action_invocation(self, action: argparse.Action) -> str:
        names = ", ".join(action.option_strings)
        if not names or action.nargs == 0:
            return names or super()._format_action_invocation(action)
        return f"{names} {self._format_args(action, action.dest.upper())}"


class Parser(argparse.ArgumentParser):
    """A parser that raises `UsageError` with one sentence, and prints plain help."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(
            allow_abbrev=False, add_help=False, formatter_class=HelpFormatter, **settings
        )
        self.add_argument("-h", "--help", action="help", help="Print this help.")

    def error(self, message: str) -> NoReturn:
        message = re.sub(r"^argument (.+?): ", r"\1 ", message)
        message = message.replace("the following arguments are required", "missing arguments")
        if one := re.match("one of the arguments (.+) is required", message):
            message = f"give {' or '.join(one[1].split())}"
        end = "" if message.endswith("?") else "."
        more = "" if "; got " in message else f" See {self.prog} --help."
        raise UsageError(f"{message[:1].upper()}{message[1:]}{end}{more}")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse, and report an unknown option with the command that lacks it."""
        found, unknown = super().parse_known_args(args, namespace)
        if unknown:
            near = difflib.get_close_matches(unknown[0], self._option_string_actions, 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            kind = "No such option" if unknown[0].startswith("-") else "Unexpected argument"
            self.error(f"{kind}: {unknown[0]}{hint}")
        return found, unknown

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if isinstance(action, argparse._SubParsersAction) and value not in action.choices:
            near = difflib.get_close_matches(str(value), action.choices, 1)
            self.error(
                f"No such command {value!r}" + (f"; did you mean {near[0]!r}?" if near else "")
            )
        super()._check_value(action, value)


def add(parser: Any, names: str, help: str, **settings: Any) -> None:
    """Add an argument; `names` are its names and that of its value, as in "-o --out FILE".

    An option without a value is a flag.
    """
    *flags, value = names.split()
    if value.isupper():
        settings["metavar"] = value
    else:
        flags.append(value)
        if value.startswith("-") and "action" not in settings:
            settings["action"] = "store_true"
    parser.add_argument(*flags, help=help, **settings)


def add_command(
    commands: Any,
    name: str,
    help: str,
    values: str = "",
    *,
    more: str = "",
    example: str = "",
    module: str | None = None,
    function: str = "run",
    if_stopped: str = "Stopped.",
) -> Parser:
    """Add a command: `function` of `cli/<module>.py` gets the parsed arguments."""
    parser: Parser = commands.add_parser(
        name,
        help=help,
        usage=f"{commands._prog_prefix} {name} [options] {values}".rstrip(),
        description="\n\n".join(filter(None, (help, more))),
        epilog=f"example:\n  {example}" if example else None,
    )
    parser.set_defaults(module=module or name, function=function, if_stopped=if_stopped)
    add(parser, "--debug", "Print the traceback of an error.")
    return parser


def number(
    least: float, most: float = math.inf, *, kind: type[int] | type[float] = int
) -> Callable[[str], Any]:
    """Return a function that reads a number between two bounds."""
    wanted = f"at least {least}" if most == math.inf else f"from {least} to {most}"
    name = "a whole number" if kind is int else "a number"

    def read(word: str) -> Any:
        try:
            value = kind(word)
        except ValueError:
            raise argparse.ArgumentTypeError(f"must be {name}; got {word!r}") from None
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(f"must be {wanted}; got {word}")
        return value

    return read


def any_number(word: str) -> float:
    """Read a number."""
    value: float = number(-math.inf, kind=float)(word)
    return value


def one_of(*words: str) -> Callable[[str], str]:
    """Return a function that accepts only the given words."""

    def read(word: str) -> str:
        if word not in words:
            wanted = f"{', '.join(words[:-1])} or {words[-1]}"
            raise argparse.ArgumentTypeError(f"must be {wanted}; got {word!r}")
        return word

    return read
