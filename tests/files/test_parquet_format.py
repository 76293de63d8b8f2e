"""Which footers have the fields that the format says. Oracle: a file as pyarrow writes it, field by field."""

import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from condmask.files.parquet_footer import MAGIC
from condmask.files.parquet_format import FILE, Fields, ListOf, is_sound
from condmask.files.thrift import BINARY, FALSE, I16, I32, I64, LIST, STRUCT, TRUE, read_struct, write_struct


def footer():
    """The footer of a sorted file with text, lists and missing values, of two row groups."""
    file = io.BytesIO()
    table = pa.table({"x": [1.5, None, 2.5], "t": ["a", "b", "a"], "l": [[1], [], None]})
    order = [pq.SortingColumn(0), pq.SortingColumn(1, descending=True)]
    pq.write_table(table, file, row_group_size=2, sorting_columns=order)
    content = file.getvalue()
    length = int.from_bytes(content[-8:-4], "little")
    assert content.endswith(MAGIC)
    return read_struct(content[-8 - length : -8])


def structs(fields, of=FILE):
    """All structs of a footer with what they should be."""
    yield fields, of
    for number, meant in of.types.items():
        if number not in fields:
            continue
        value = fields[number][1]
        for each in value[1] if isinstance(meant, ListOf) else [value]:
            inner = meant.element if isinstance(meant, ListOf) else meant
            if isinstance(inner, Fields):
                yield from structs(each, inner)


def test_what_writers_write_is_sound():
    assert is_sound(footer())
    assert len(list(structs(footer()))) > 40


def test_each_field_of_another_type_or_missing_is_noticed():
    kinds = (TRUE, I16, I32, I64, BINARY, LIST, STRUCT)
    changed = 0
    for place, (_, of) in enumerate(structs(footer())):
        for number in of.types:
            for kind in (None, *kinds):
                whole = footer()
                fields, _ = list(structs(whole))[place]
                if number not in fields:
                    break
                before = fields.pop(number)
                if kind is not None:
                    fields[number] = kind, {STRUCT: {}, LIST: (TRUE, [1])}.get(kind)
                same = kind == before[0] or {kind, before[0]} <= {TRUE, FALSE}
                if kind is None:
                    assert is_sound(whole) is (number not in of.needed)
                elif not same:
                    assert not is_sound(whole)
                changed += not same
        if changed > 3_000:
            break
    assert changed > 1_000


def test_elements_of_another_type_are_noticed():
    whole = footer()
    encodings = next(fields for fields, of in structs(whole) if 16 in of.types)
    encodings[2] = LIST, (I64, encodings[2][1][1])

    assert not is_sound(whole)


def test_a_field_that_comes_twice_is_refused():
    once = write_struct({1: (I32, 5)})
    with pytest.raises(ValueError, match=r"^the footer has field 1 twice$"):
        read_struct(once[:-1] + bytes([I32, 2, 10, 0]))
