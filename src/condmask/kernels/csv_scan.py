"""Where the fields of a CSV file stand, byte by byte, and other bytes put in their place.

Quotes, doubled quotes and line breaks within quotes are those of RFC 4180. A record that has not the
width of the header is a fault: one delimiter too many would shift a masked column by a field.
"""

from condmask._jit import kernel

QUOTE, NEWLINE, RETURN, BLANK = 34, 10, 13, 32
TOO_FEW, TOO_MANY, AFTER_QUOTE = 1, 2, 3  # faults


@kernel
def find_fields(text, delimiter, blank, width, wanted, starts, stops):
    """starts[r, k], stops[r, k]: the field wanted[k], ascending, of the r-th record of ``width`` fields.

    Returns the number of records, the bytes they take, and what is wrong with the next one (0: nothing).
    Only records that end with a line break count, and empty lines are none. A quoted field is given
    without its quotes. With ``blank`` one blank after a delimiter belongs to it.
    """
    records = 0
    size = 0
    position = 0
    while position < text.size and records < starts.shape[0]:
        first = position
        field = 0
        k = 0
        fault = 0
        ended = False
        while not ended:
            if blank and field > 0 and position < text.size and text[position] == BLANK:
                position += 1
            if position >= text.size:
                return records, size, 0
            start = position
            stop = -1
            if text[position] == QUOTE:
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
            after = position
            while position < text.size and text[position] != delimiter and text[position] != NEWLINE:
                position += 1
            if position >= text.size:
                return records, size, 0
            ended = text[position] == NEWLINE
            end = position
            if ended and end > after and text[end - 1] == RETURN:
                end -= 1
            is_wanted = k < wanted.size and wanted[k] == field
            if stop < 0:
                stop = end
            elif end > after and is_wanted:
                fault = AFTER_QUOTE
            if is_wanted:
                starts[records, k] = start
                stops[records, k] = stop
                k += 1
            position += 1
            field += 1
        if field == 1 and stop == first:  # an empty line
            size = position
            continue
        if field != width:
            return records, size, TOO_FEW if field < width else TOO_MANY
        if fault:
            return records, size, fault
        size = position
        records += 1
    return records, size, 0


@kernel
def splice(text, starts, stops, keep, quoted, fields, begins, ends, out):
    """out: the text with fields[begins[i] : ends[i]] for its i-th piece, unless keep[i]; its length.

    With ``quoted`` pieces stand in quotes, also those that had none.
    """
    length = 0
    copied = 0
    for i in range(starts.size):
        if not keep[i]:
            for position in range(copied, starts[i]):
                out[length] = text[position]
                length += 1
            unquoted = quoted and begins[i] < ends[i] and not (starts[i] > 0 and text[starts[i] - 1] == QUOTE)
            if unquoted:
                out[length] = QUOTE
                length += 1
            for position in range(begins[i], ends[i]):
                out[length] = fields[position]
                length += 1
            if unquoted:
                out[length] = QUOTE
                length += 1
            copied = stops[i]
    for position in range(copied, text.size):
        out[length] = text[position]
        length += 1
    return length
