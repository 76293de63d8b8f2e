"""Numbers in CSV text: read exactly where that is simple, and written in the fewest digits that read back.

Reading: a number of at most 2^53 in whole units of a power of ten up to 22 is one exact product or quotient,
so rounded once (Clinger, 1990). What has more digits is handed back.

Writing: the shortest decimal number that lies nearer to the value than to its neighbours. One of up to 15
digits is found by trial, since two such numbers never share a float64; one of 16 or 17 in whole numbers of
128 bits. What is beyond (powers of ten as exponents, ties) is handed back.
"""

import math

import numpy as np

from condmask._jit import kernel
from condmask.kernels.masking import HALF, LOW, high_product

DONE, EXACTLY, MISSING, WORD = 0, 1, 2, 3  # read; a number of many digits; empty; something else
DOT, COMMA, CLEAR_DOT, CLEAR_COMMA = 1, 2, 4, 8  # marks seen, and seen where no thousands could stand
WIDEST = 26  # bytes of a number written
SHORTEST = -1  # places: as many as it needs

_DOT, _COMMA, _MINUS, _PLUS, _ZERO, _NINE = 46, 44, 45, 43, 48, 57
_QUOTE = 34
_EXACT = 9007199254740992  # 2^53
_SAFE = 2251799813685248  # 2^51: value and product, rounded each, are off by less than half a unit together
_TENS = 10.0 ** np.arange(23)
_WHOLE_TENS = np.array([10**d for d in range(20)], dtype=np.uint64)
_ONE, _TEN = np.uint64(1), np.uint64(10)
_LONGEST = np.uint64(64)


@kernel
def parse_numbers(text, starts, stops, mark, values, state):
    """values[i]: the number in text[starts[i] : stops[i]], and what became of it; returns the marks seen.

    ``mark`` is the byte of the decimal mark, 0 where it may be a point or a comma.
    """
    marks = 0
    for i in range(starts.size):
        position, stop = starts[i], stops[i]
        while position < stop and (text[position] == 32 or 9 <= text[position] <= 13):
            position += 1
        while stop > position and (text[stop - 1] == 32 or 9 <= text[stop - 1] <= 13):
            stop -= 1
        values[i] = np.nan
        if position == stop:
            state[i] = MISSING
            continue
        state[i] = WORD
        negative = text[position] == _MINUS
        if negative or text[position] == _PLUS:
            position += 1
        number, digits, before, after, mark_here = 0, 0, 0, 0, 0
        first = text[position] if position < stop else 0
        while position < stop:
            byte = np.int64(text[position])
            if _ZERO <= byte <= _NINE:
                if digits > 0 or byte != _ZERO:
                    digits += 1
                if digits <= 18:
                    number = 10 * number + (byte - _ZERO)
                if mark_here == 0:
                    before += 1
                else:
                    after += 1
            elif mark_here == 0 and (byte == mark or (mark == 0 and byte in (_DOT, _COMMA))):
                mark_here = byte
            else:
                break
            position += 1
        if before + after == 0:
            continue
        exponent = 0
        if position < stop and (text[position] == 69 or text[position] == 101):
            position += 1
            below = position < stop and text[position] == _MINUS
            if below or (position < stop and text[position] == _PLUS):
                position += 1
            if position == stop:
                continue
            while position < stop and _ZERO <= text[position] <= _NINE:
                if exponent < 100000:
                    exponent = 10 * exponent + (np.int64(text[position]) - _ZERO)
                position += 1
            exponent = -exponent if below else exponent
            clear = True
        else:
            clear = after != 3 or before < 1 or before > 3 or first == _ZERO
        if position < stop:
            continue
        if mark_here == _DOT:
            marks |= DOT | (CLEAR_DOT if clear else 0)
        elif mark_here == _COMMA:
            marks |= COMMA | (CLEAR_COMMA if clear else 0)
        exponent -= after
        state[i] = EXACTLY
        if digits > 18 or number > _EXACT or abs(exponent) > 22:
            continue
        state[i] = DONE
        value = float(number)
        value = value / _TENS[-exponent] if exponent < 0 else value * _TENS[exponent]
        values[i] = -value if negative else value
    return marks


@kernel
def gather(text, starts, stops, mark, out, ends):
    """The texts one after the other, without blanks and a plus in front, and a point for the mark; their
    ends."""
    length = 0
    for i in range(starts.size):
        for position in range(starts[i], stops[i]):
            byte = text[position]
            if byte == 32 or 9 <= byte <= 13 or (byte == _PLUS and length == (ends[i - 1] if i else 0)):
                continue
            out[length] = _DOT if byte == mark or (mark == 0 and byte == _COMMA) else byte
            length += 1
        ends[i] = length


@kernel
def format_numbers(values, places, mark, out, ends):
    """The rows of numbers as text, one after the other, and their ends; returns how many are not written.

    ``places[k]`` are the decimal places of column k, `SHORTEST` for the shortest text that reads back the
    same. NaN has no text; nor has what is to be written elsewhere.
    """
    length = 0
    left = 0
    for row in range(values.shape[0]):
        for k in range(values.shape[1]):
            value = values[row, k]
            begin = length
            if not np.isnan(value):
                if places[k] >= 0:
                    length = _fixed(value, places[k], mark, out, length)
                else:
                    length = _shortest(value, mark, out, length)
                left += length == begin
            ends[row * values.shape[1] + k] = length
    return left


@kernel
def _fixed(value, places, mark, out, length):
    """A whole multiple of 10^-places that is not too large."""
    size = np.rint(abs(value) * _TENS[places])
    if size >= _SAFE:
        return length
    return _write(np.uint64(size), places, value < 0.0, mark, out, length, 0)


@kernel
def _shortest(value, mark, out, length):
    size = abs(value)
    if size != 0.0 and not 1e-4 <= size < 1e15:
        return length
    places = 0
    while places < 18 and size * _TENS[places + 1] < 1e15:
        places += 1
    number = np.rint(size * _TENS[places])
    if number / _TENS[places] != size:
        return _long(size, value < 0.0, places + 1, mark, out, length)
    rest = np.uint64(number)
    while places > 0 and rest % _TEN == 0:
        rest //= _TEN
        places -= 1
    return _write(rest, places, value < 0.0, mark, out, length, 1)


@kernel
def _long(size, negative, places, mark, out, length):
    """A number of 16 or 17 digits, ``places`` of which stand behind the mark in the shorter case."""
    mantissa, exponent = math.frexp(size)
    whole = np.uint64(mantissa * 9007199254740992.0)
    below = np.uint64(53 - exponent)  # size = whole / 2^below
    if below < _ONE or below >= _LONGEST or whole == np.uint64(4503599627370496):  # a neighbour is nearer
        return length
    half = _ONE << (below - _ONE)
    for more in range(2):
        if places + more > 19:
            return length
        ten = _WHOLE_TENS[places + more]
        high, low = high_product(whole, ten), _low_product(whole, ten)
        number = (high << (_LONGEST - below)) | (low >> below)
        off = low & ((half - _ONE) | half)
        if off == half:
            return length
        if off > half:
            number += _ONE
            off = half + half - off
        limit = ten >> _ONE  # half the distance of neighbours
        if off == limit:
            return length
        if off < limit:
            return _write(number, places + more, negative, mark, out, length, 1)
    return length


@kernel
def _low_product(a, b):
    """The lower 64 bits of the product of two words, of which none overflows."""
    a1, a0 = a >> HALF, a & LOW
    b1, b0 = b >> HALF, b & LOW
    least = a0 * b0
    middle = ((a1 * b0) & LOW) + ((a0 * b1) & LOW) + (least >> HALF)
    return ((middle & LOW) << HALF) | (least & LOW)


@kernel
def _write(number, places, negative, mark, out, length, least_places):
    """A whole number, its last `places` digits behind the mark; a float without any gets `least_places`."""
    if negative and number > 0:
        out[length] = _MINUS
        length += 1
    digits = 1
    rest = number // _TEN
    while rest > 0:
        digits += 1
        rest //= _TEN
    digits = max(digits, places + 1)
    size = digits + (places > 0)
    position = length + size - 1
    rest = number
    for d in range(digits):
        if places > 0 and d == places:
            out[position] = mark
            position -= 1
        out[position] = np.uint8(rest % _TEN) + np.uint8(_ZERO)
        rest //= _TEN
        position -= 1
    length += size
    if places == 0 and least_places > 0:  # as Python writes a float
        out[length] = mark
        out[length + 1] = _ZERO
        length += 2
    return length


@kernel
def fill_in(fields, ends, wanting, more, more_ends, out, out_ends):
    """The texts again, with those of ``more`` where one is wanting."""
    length = 0
    filled = 0
    for i in range(ends.size):
        if wanting[i]:
            for position in range(more_ends[filled - 1] if filled else 0, more_ends[filled]):
                out[length] = more[position]
                length += 1
            filled += 1
        else:
            for position in range(ends[i - 1] if i else 0, ends[i]):
                out[length] = fields[position]
                length += 1
        out_ends[i] = length
