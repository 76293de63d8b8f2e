"""Rewrite messages of the package, which name arguments as Python does, in the form of the shell.

The package has one wording of each message: ``pass shuffle=True``, ``p must lie strictly between 0
and 1``. The command shows it as ``pass --shuffle`` and ``--p must lie strictly between 0 and 1``.
Texts between quotation marks, which may be names of columns or files, stay as they are.
"""

import ast
import json
import re
import shlex
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from condmask.masking.scheme import Scheme
    from condmask.missing_codes import Code

# the options of all commands, by the names that Python has for them
OPTION_NAMES = """
accept accept_visible_coins again aggregate_ends cdf checkpoint column confidence_level d decimal
decimals delimiter donors drop dry_run encoding fix force group json keep_metadata known log match
max_error max_clear max_lift max_record_risk max_risk missing missing_as na nan_policy no_log noise
options original other out p part_rows people plot quantile range rare_gaps regress released
reverse_mapping round scale shuffle sigma small_strata step strata target units verbose weights
workers
"""
OPTIONS = frozenset(OPTION_NAMES.split())
POSITIONAL = {"target"}  # options of some commands, files of others
# arguments of methods of estimates that have another name as options
RENAMED = {
    "W": "regress",
    "schemes": "column",
    "labels": "group",
    "points": "cdf",
    "q": "quantile",
    "quantiles": "quantile",
}
NEGATIVE_FLAGS = {"log": "--no-log", "reverse_mapping": "--no-reverse-mapping"}
# calls that the shell writes as options, each with the option that chooses the class
CLASS_FLAGS = {"ConditionalMasking": "", "ReverseMapping": "--reverse-mapping", "CsvFormat": ""}

QUOTED_PATTERN = r"""(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
FLAT_PATTERN = rf"(?:[^()\[\]'\"]|{QUOTED_PATTERN})*"  # the inside of brackets that hold no others
INSIDE_PATTERN = rf"(?:[^()\[\]'\"]|{QUOTED_PATTERN}|[(\[]{FLAT_PATTERN}[)\]])*"
BRACKETS_PATTERN = rf"(?:\({INSIDE_PATTERN}\)|\[{INSIDE_PATTERN}\])"
CALL_PATTERN = (
    rf"\b(?:cm\.)?(?:{'|'.join(CLASS_FLAGS)})"
    rf"\((?:[^()\[\]'\"]|{QUOTED_PATTERN}|{BRACKETS_PATTERN})*\)"
)
NAME_PATTERN = rf"\b(?:{'|'.join(OPTIONS | {'schemes'})})"
SUBJECT_PATTERN = rf"\b(?:{'|'.join(OPTIONS | RENAMED.keys())})"
VALUE_PATTERN = rf"(?:{QUOTED_PATTERN}|{BRACKETS_PATTERN}|\.\.\.|[-+]?\w+(?:\.\w+)*(?:[-+]\d+)?)"

MESSAGE_PARTS = re.compile(
    rf"(?P<schemes>\{{(?:{QUOTED_PATTERN}: {CALL_PATTERN}(?:, )?)+\}})"
    rf"|(?P<call>(?:\bcsv=)?{CALL_PATTERN})"
    rf"|(?P<argument>{NAME_PATTERN}={VALUE_PATTERN})"
    rf"|(?P<subject>(?:^|(?<=\d\) )){SUBJECT_PATTERN}(?= must\b))"
    rf"|(?P<quoted>(?<!\w){QUOTED_PATTERN})"
)


def in_shell(message: str) -> str:
    """Return a message with its arguments as options: ``--shuffle`` for ``shuffle=True``."""
    return MESSAGE_PARTS.sub(_rewritten, message)


def _rewritten(part: re.Match[str]) -> str:
    """Return one part of a message in the form of the shell; as it is where it is no literal."""
    write = WRITERS.get(part.lastgroup or "")
    try:
        return part[0] if write is None else write(part[0])
    except (SyntaxError, ValueError):
        return part[0]


def options_of(arguments: dict[str, Any]) -> str:
    """Return arguments as options; those that are None or empty are left out."""
    given = {name: value for name, value in arguments.items() if value not in (None, (), [])}
    return " ".join(_option(name, value) for name, value in given.items())


def scheme_options(schemes: "Mapping[str, Scheme]") -> str:
    """Return the options that mask columns by these schemes."""
    full = ", ".join(f"{name!r}: {scheme!r}" for name, scheme in schemes.items())
    return _scheme_options(f"{{{full}}}")


def _subject(name: str) -> str:
    """Return the option with whose name a sentence begins."""
    return name if name in POSITIONAL else _flag(RENAMED.get(name, name))


def _argument(text: str) -> str:
    """Return ``name=value`` as an option. A value that is no literal, COLUMN, stands for one."""
    name, _, written = text.partition("=")
    try:
        return _option(name, ast.literal_eval(written))
    except (SyntaxError, ValueError):
        return f"{_flag(name)} {written}"


def _call_options(text: str) -> str:
    """Return a call, ``ConditionalMasking(p=0.6, sigma=500.0)``, as options."""
    kind, arguments = _parsed(text.removeprefix("csv="))
    options = [_option(name, value) for name, value in arguments.items()]
    return " ".join(filter(None, (CLASS_FLAGS[kind], *options)))


def _scheme_options(text: str) -> str:
    """Return schemes by column as options; those of several columns as a table in TOML."""
    table = ast.parse(text, mode="eval").body
    assert isinstance(table, ast.Dict)
    names = [ast.literal_eval(key) for key in table.keys if key is not None]
    calls = [ast.unparse(value) for value in table.values]
    if len(names) == 1:
        return f"-c {shlex.quote(names[0])} {_call_options(calls[0])}"
    rows = [
        f"{_toml(name)} = {_inline_table(call)}" for name, call in zip(names, calls, strict=True)
    ]
    return f"--options FILE.toml, a file that has columns = {{{', '.join(rows)}}}"


def _inline_table(call: str) -> str:
    """Return a scheme as an inline table in TOML."""
    kind, arguments = _parsed(call)
    chosen = {"reverse_mapping": True} if CLASS_FLAGS[kind] else {}
    entries = (f"{name} = {_toml(value)}" for name, value in (chosen | arguments).items())
    return f"{{{', '.join(entries)}}}"


def _parsed(text: str) -> tuple[str, dict[str, object]]:
    """Return the class that a text calls, and the arguments by name."""
    call = ast.parse(text, mode="eval").body
    assert isinstance(call, ast.Call)
    kind = ast.unparse(call.func).removeprefix("cm.")
    arguments: dict[str, object] = {}
    for name, value in zip(("p", "sigma"), call.args, strict=False):
        arguments[name] = ast.literal_eval(value)
    for keyword in call.keywords:
        arguments[str(keyword.arg)] = ast.literal_eval(keyword.value)
    return kind, arguments


def _toml(value: object) -> str:
    """Return a value in TOML, in which the command reads "none" as None."""
    return json.dumps(value, ensure_ascii=False).replace("null", '"none"')


def _option(name: str, value: Any) -> str:
    """Return an argument as an option: repeated for several values, a flag for True."""
    name = RENAMED.get(name, name) if name == "schemes" else name
    if value is True:
        return _flag(name)
    if value is False:
        return NEGATIVE_FLAGS.get(name) or f"no {_flag(name)}"
    if name == "missing":
        codes = value if isinstance(value, list | tuple) else [value]
        return " ".join(f"--missing {_code_word(code)}" for code in codes)
    if isinstance(value, list | tuple) and name == "range":
        return f"{_flag(name)} {' '.join(map(_shell_word, value))}"
    if isinstance(value, list | tuple):
        return " ".join(f"{_flag(name)} {_shell_word(each)}" for each in value)
    return f"{_flag(name)} {_shell_word(value)}"


def _code_word(code: "Code | None") -> str:
    """Return a code of missing values: -8, 9990:9999, or none."""
    from condmask.missing_codes import written  # here, since it imports NumPy

    if isinstance(code, tuple):
        return ":".join("" if end is None else written(end) for end in code)
    return "none" if code is None else written(code)


def _flag(name: str) -> str:
    """Return the option of a name of Python."""
    return f"--{name.replace('_', '-')}"


def _shell_word(value: object) -> str:
    """Return a value as a word of the shell."""
    if value is ...:
        return "..."
    return (
        f"{value:.15g}"
        if isinstance(value, float)
        else shlex.quote(str(value).replace("None", "none"))
    )


# by the group of MESSAGE_PARTS
WRITERS: dict[str, Callable[[str], str]] = {
    "schemes": _scheme_options,
    "call": _call_options,
    "argument": _argument,
    "subject": _subject,
}
