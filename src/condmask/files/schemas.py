"""Schemas of files: of all files of a folder as one, and of types that pyarrow can work with."""

from collections.abc import Mapping

from condmask import _checks
from condmask.errors import ArgumentError
from condmask.files.arrow import ArrowSchema, ArrowType, pa

KeyValue = str | int | None  # in the name of a folder, as key=value
DASK_INDEX = "__null_dask_index__"  # where Dask writes an index without a name, mostly row numbers


def without_dask_index(schema: ArrowSchema) -> ArrowSchema:
    """Return a schema without the row numbers of Dask, which show who was left out of the
    original."""
    place = schema.get_field_index(DASK_INDEX)
    return schema if place < 0 else schema.remove(place)


def without_views(kind: ArrowType) -> ArrowType:
    """Return a type with text in place of views of text, which polars writes: pyarrow cannot take
    rows of views."""
    if pa.types.is_dictionary(kind):
        return pa.dictionary(kind.index_type, without_views(kind.value_type), kind.ordered)
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(without_views(field.type)) for field in kind])
    if pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        field = kind.value_field.with_type(without_views(kind.value_type))
        size = getattr(kind, "list_size", None)
        return pa.list_(field, size) if size else pa.large_list(field)
    return {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}.get(
        kind, kind
    )


def unified(
    path: object, schemas: list[ArrowSchema], keys: Mapping[str, list[KeyValue]]
) -> ArrowSchema:
    """Return the one schema of all files, with a column for each key."""
    for schema in schemas:
        twice = sorted(
            {name for name in schema.names if schema.names.count(name) > 1 or name in keys}
        )
        if twice:
            raise ArgumentError(f"{path} has more than one column {_checks.listed(twice)}")
        other = sorted({*schema.names} ^ {*schemas[0].names})
        if other:
            raise ArgumentError(
                f"{path} has files that differ in the columns {_checks.listed(other)}"
            )
    try:
        unified = pa.unify_schemas(schemas, promote_options="default")
    except pa.ArrowException as error:  # which names columns and types
        raise ArgumentError(f"{path} must have columns of one type: {error}") from None
    key_fields = [pa.field(key, pa.array(values).type) for key, values in keys.items()]
    return pa.schema([*unified, *key_fields], unified.metadata)
