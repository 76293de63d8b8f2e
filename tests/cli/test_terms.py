"""What the API says of its arguments is said of options."""

import pytest
from command_line import MASK

from condmask.cli import parser

COMMANDS = {
    "mask": ["mask", "a", "b", "-c", "x", *MASK],
    "estimate": ["estimate", "a"],
    "plan": ["plan", "a", "-c", "x"],
    "run": ["run", "a"],
}


def to_cli_terms(text, command="mask"):
    return parser().parse_args(COMMANDS[command]).to_cli_terms(text)


@pytest.mark.parametrize(
    ("said", "heard"),
    [
        ("p must lie strictly between 0 and 1, got 2.0", "--p must lie strictly between 0 and 1, got 2.0"),
        ("pass step=1000, or sigma=600.5", "pass --step 1000, or --sigma 600.5"),
        ('pass reverse_mapping=True, scale="log"', "pass --reverse-mapping, --scale log"),
        ("step=1/3; step=0 for research", "--step 1/3; --step 0 for research"),
        ("it goes with --force (force=True)", "it goes with --force"),
        ("--accept-visible-coins (accept_visible_coins=True) goes on", "--accept-visible-coins goes on"),
        ('nan_policy="omit" leaves them out', "--omit-missing leaves them out"),
        ("donors='permutation' has none.", "--donors permutation has none."),
        ("the scheme is ConditionalMasking(p=0.6, sigma=9.0)",) * 2,
        ("income must be numeric, got text", "income must be numeric, got text"),
        ("a column p=q and other=3", "a column --p q and other=3"),
        ('missing_as="null" (--missing-as null) releases', "--missing-as null releases"),
        ("pass missing=(-8, 9) (--missing -8 --missing 9) if", "pass --missing -8 --missing 9 if"),
        ("pass missing=None (--no-missing) if", "pass --no-missing if"),
        ('decimal="," (--decimal ,) says', "--decimal , says"),
        ("dry_run and x must", "--dry-run and x must"),
        ("column 'dry_run' must", "column 'dry_run' must"),
    ],
)
def test_arguments_become_options(said, heard):
    assert to_cli_terms(said) == heard


def test_only_options_of_the_command_are_meant():
    assert to_cli_terms("pass step=1000", "estimate") == "pass step=1000"


CODED = 'got other bytes in line 5; encoding="latin-1", "cp1252", ... (--encoding) sets it'


@pytest.mark.parametrize(
    ("command", "said", "heard"),
    [
        ("mask", CODED, 'got other bytes in line 5; --encoding "latin-1", "cp1252", ... sets it'),
        (
            "estimate",
            CODED,
            "got other bytes in line 5; condmask mask --encoding sets it when the file is masked",
        ),
        ("run", CODED, CODED),
        ("plan", "pass reverse_mapping=True, aggregate_ends=3", "pass --reverse-mapping, aggregate_ends=3"),
        ("plan", "reverse_mapping=False leaves", "--no-reverse-mapping leaves"),
        (
            "run",
            "; --accept-visible-coins (accept_visible_coins=True) goes on",
            "; accept_visible_coins=True goes on",
        ),
        ("run", "it goes with --force (force=True)", "it goes with --force"),
        ("run", 'decimal="," (--decimal ,) says', 'decimal="," says'),
    ],
)
def test_a_remedy_is_one_that_can_be_given(command, said, heard):
    assert to_cli_terms(said, command) == heard
