"""Where the fields of a CSV file stand, byte by byte: quotes, doubled quotes, line breaks within quotes."""

from condmask._jit import kernel

QUOTE, NEWLINE, RETURN = 34, 10, 13


@kernel
def find_fields(text, delimiter, wanted, starts, stops):
    """starts[r, k], stops[r, k]: the field wanted[k] of the r-th record; (records, bytes they take, short).

    Only records that end with a line break count, and empty lines are none. ``short`` is the first
    record with fewer fields than wanted, or -1. A quoted field is given without its quotes.
    """
    records = 0
    taken = 0
    position = 0
    while position < text.size and records < starts.shape[0]:
        field = 0
        k = 0
        begin = position
        first = position
        ended = False
        while not ended:
            start = position
            stop = -1
            if position < text.size and text[position] == QUOTE:
                start = position + 1
                position += 1
                while position < text.size:
                    if text[position] == QUOTE:
                        if position + 1 < text.size and text[position + 1] == QUOTE:
                            position += 1
                        else:
                            stop = position
                            position += 1
                            break
                    position += 1
            while position < text.size and text[position] != delimiter and text[position] != NEWLINE:
                position += 1
            if position >= text.size:
                return records, taken, -1
            if stop < 0:
                stop = position
                if text[position] == NEWLINE and stop > start and text[stop - 1] == RETURN:
                    stop -= 1
            if k < wanted.size and wanted[k] == field:
                starts[records, k] = start
                stops[records, k] = stop
                k += 1
            ended = text[position] == NEWLINE
            begin = start
            position += 1
            field += 1
        taken = position
        if field == 1 and stop <= begin and position - first <= 2:
            continue
        if k < wanted.size:
            return records, taken, records
        records += 1
    return records, taken, -1
