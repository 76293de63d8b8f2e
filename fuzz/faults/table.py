"""The table of the documentation."""


def table(faults, results):
    """One row for each room, one for each fault that survived, as reStructuredText."""
    head = row("", "faults", "noticed", "not noticed, and why")
    lines = [".. list-table::", "   :header-rows: 1", "", *head]
    pairs = list(zip(faults, results, strict=True))
    for room in dict.fromkeys(fault.room for fault in faults):
        ours = [(fault, result.by) for fault, result in pairs if fault.room == room]
        left = [fault for fault, by in ours if not by]
        told = "; ".join(f"``{fault.file}``, {fault.why}: {fault.explained or 'not yet'}" for fault in left)
        lines += row(room, len(ours), len(ours) - len(left), told or "-")
    noticed = sum(bool(result.by) for result in results)
    return "\n".join([*lines, *row("all", len(faults), noticed, "-"), ""])


def row(first, *rest):
    """A row of a list-table."""
    return [f"   * - {first}".rstrip(), *(f"     - {cell}" for cell in rest)]
