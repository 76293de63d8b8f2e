"""List the nine commands, in the order in which ``condmask --help`` shows them."""

from condmask.cli.analyst import demo, estimate, info, simulate
from condmask.cli.publisher import audit, mask, plan, report, risk

COMMANDS = (plan, audit, mask, risk, estimate, report, info, simulate, demo)
