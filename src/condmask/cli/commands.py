"""List the commands, in the order in which ``condmask --help`` shows them."""

from condmask.cli.analyst import demo, estimate, info, simulate
from condmask.cli.checking import check
from condmask.cli.publisher import audit, mask, plan, risk
from condmask.cli.reporting import report

COMMANDS = (plan, audit, check, mask, risk, estimate, report, info, simulate, demo)
