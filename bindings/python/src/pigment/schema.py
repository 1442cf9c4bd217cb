# SPDX-License-Identifier: Apache-2.0
"""Chroma's schema builder, which prints the JSON of docs/schema.md:

    Schema().delete_index(StringInvertedIndexConfig(), key="title").create_index(VectorIndexConfig(space="cosine"))

Where an index may be is said here in Chroma's words, for that is the builder's; the rest of a schema the library checks, when a collection is made with it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar, Generic, TypeVar, Union

from .embedding import NOT_GIVEN, stored_name, validate_embedding_function
from .errors import UnimplementedError
from .filters import Key

DOCUMENT_KEY = "#document"
EMBEDDING_KEY = "#embedding"


@dataclass(kw_only=True)
class FtsIndexConfig:
    """Of what documents say. `text_index` is beyond Chroma: how they are ranked, docs/text-search.md; None: they are not."""

    text_index: dict[str, Any] | None = None


@dataclass(kw_only=True)
class StringInvertedIndexConfig:
    """Of texts of metadata."""


@dataclass(kw_only=True)
class IntInvertedIndexConfig:
    """Of integers of metadata."""


@dataclass(kw_only=True)
class FloatInvertedIndexConfig:
    """Of floats of metadata."""


@dataclass(kw_only=True)
class BoolInvertedIndexConfig:
    """Of bools of metadata."""


@dataclass(kw_only=True)
class HnswIndexConfig:
    """What is None takes its default: docs/operations.md."""

    ef_construction: int | None = None
    max_neighbors: int | None = None
    ef_search: int | None = None
    num_threads: int | None = None
    batch_size: int | None = None
    sync_threshold: int | None = None
    resize_factor: float | None = None


@dataclass(kw_only=True)
class SpannIndexConfig:
    """What is None takes its default: docs/operations.md. Chroma has some of these without effect; here the library says what they may be."""

    search_nprobe: int | None = None
    write_nprobe: int | None = None
    ef_construction: int | None = None
    ef_search: int | None = None
    max_neighbors: int | None = None
    reassign_neighbor_count: int | None = None
    split_threshold: int | None = None
    merge_threshold: int | None = None
    search_rng_factor: float | None = None
    search_rng_epsilon: float | None = None
    write_rng_factor: float | None = None
    write_rng_epsilon: float | None = None
    nreplica_count: int | None = None
    num_samples_kmeans: int | None = None
    num_centers_to_merge_to: int | None = None
    initial_lambda: float | None = None
    center_drift_threshold: float | None = None


@dataclass(kw_only=True)
class VectorIndexConfig:
    """`full_vectors` ("f32" or "f16") is beyond Chroma. The embedding function becomes the collection's; None: it takes vectors alone."""

    space: str | None = None
    embedding_function: Any = NOT_GIVEN
    source_key: str | None = None
    hnsw: HnswIndexConfig | None = None
    spann: SpannIndexConfig | None = None
    full_vectors: str | None = None

    def __post_init__(self) -> None:
        self.source_key = _source_key(self.source_key)
        if self.embedding_function is not None:
            if not callable(self.embedding_function):
                raise ValueError("embedding_function must be callable or None")
            validate_embedding_function(self.embedding_function)


@dataclass(kw_only=True)
class SparseVectorIndexConfig:
    """There are no sparse vectors: a collection whose schema enables this index is refused with UnimplementedError."""

    embedding_function: Any = None
    source_key: str | None = None
    bm25: bool | None = None

    def __post_init__(self) -> None:
        self.source_key = _source_key(self.source_key)


IndexConfig = Union[FtsIndexConfig, VectorIndexConfig, SparseVectorIndexConfig, StringInvertedIndexConfig, IntInvertedIndexConfig,
                    FloatInvertedIndexConfig, BoolInvertedIndexConfig]


def _source_key(given: Any) -> str | None:
    name = given.name if isinstance(given, Key) else given
    if name is not None and not isinstance(name, str):
        raise ValueError(f"source_key must be str or Key, got {type(name).__name__}")
    if name is not None and name.startswith("#") and name != DOCUMENT_KEY:
        raise ValueError("source_key cannot begin with '#'. The only valid key starting with '#' is Key.DOCUMENT or '#document'.")
    return name


Config = TypeVar("Config")


@dataclass
class IndexType(Generic[Config]):
    """An index, and whether there is one."""

    enabled: bool
    config: Config


@dataclass
class StringValueType:
    fts_index: IndexType[FtsIndexConfig] | None = None
    string_inverted_index: IndexType[StringInvertedIndexConfig] | None = None


@dataclass
class FloatListValueType:
    vector_index: IndexType[VectorIndexConfig] | None = None


@dataclass
class SparseVectorValueType:
    sparse_vector_index: IndexType[SparseVectorIndexConfig] | None = None


@dataclass
class IntValueType:
    int_inverted_index: IndexType[IntInvertedIndexConfig] | None = None


@dataclass
class FloatValueType:
    float_inverted_index: IndexType[FloatInvertedIndexConfig] | None = None


@dataclass
class BoolValueType:
    bool_inverted_index: IndexType[BoolInvertedIndexConfig] | None = None


@dataclass
class ValueTypes:
    """The indexes of the values of a key, or of all keys, type by type."""

    string: StringValueType | None = None
    float_list: FloatListValueType | None = None
    sparse_vector: SparseVectorValueType | None = None
    int_value: IntValueType | None = None
    float_value: FloatValueType | None = None
    boolean: BoolValueType | None = None


# Of each attribute of ValueTypes: its class and its name in JSON.
_TYPES: dict[str, tuple[type, str]] = {
    "string": (StringValueType, "string"), "float_list": (FloatListValueType, "float_list"),
    "sparse_vector": (SparseVectorValueType, "sparse_vector"), "int_value": (IntValueType, "int"), "float_value": (FloatValueType, "float"),
    "boolean": (BoolValueType, "bool"),
}
# Of each config: the attribute of ValueTypes that has its index, and the index there.
_PLACES: dict[type, tuple[str, str]] = {
    FtsIndexConfig: ("string", "fts_index"), StringInvertedIndexConfig: ("string", "string_inverted_index"),
    VectorIndexConfig: ("float_list", "vector_index"), SparseVectorIndexConfig: ("sparse_vector", "sparse_vector_index"),
    IntInvertedIndexConfig: ("int_value", "int_inverted_index"), FloatInvertedIndexConfig: ("float_value", "float_inverted_index"),
    BoolInvertedIndexConfig: ("boolean", "bool_inverted_index"),
}
_CONFIGS: dict[str, type] = {index: config for config, (_, index) in _PLACES.items()}


class Schema:
    """Which values are indexed, and the vector index. A new one indexes everything. `nested_metadata`, beyond Chroma: metadata may have objects."""

    defaults: ValueTypes
    keys: dict[str, ValueTypes]
    nested_metadata: bool = False
    cmek: ClassVar[None] = None

    def __init__(self) -> None:
        self.defaults, self.keys = ValueTypes(), {DOCUMENT_KEY: ValueTypes(), EMBEDDING_KEY: ValueTypes()}
        for config in _PLACES:
            _put(self.defaults, config(), config not in (FtsIndexConfig, VectorIndexConfig, SparseVectorIndexConfig))
        _put(self.keys[DOCUMENT_KEY], FtsIndexConfig(), True)
        _put(self.keys[DOCUMENT_KEY], StringInvertedIndexConfig(), False)
        _put(self.keys[EMBEDDING_KEY], VectorIndexConfig(source_key=DOCUMENT_KEY), True)

    def create_index(self, config: IndexConfig | None = None, key: str | Key | None = None) -> Schema:
        """Enables an index, of one key or of all. VectorIndexConfig is for all, FtsIndexConfig for K.DOCUMENT alone."""
        key = key.name if isinstance(key, Key) else key
        if config is None and key is None:
            raise ValueError("Cannot enable all index types globally. Must specify either config or key.")
        if key == EMBEDDING_KEY:
            raise ValueError(f"Cannot create index on special key '{key}'. This key is managed automatically by the system. Invoke "
                             "create_index(VectorIndexConfig(...)) without specifying a key to configure the vector index globally.")
        _check_special(key, config, "create")
        if isinstance(config, VectorIndexConfig):
            if key is not None:
                raise ValueError("Vector index cannot be enabled on specific keys. Use create_index(config=VectorIndexConfig(...)) without "
                                 "specifying a key to configure the vector index globally.")
            return self._set_vector_index(config)
        if isinstance(config, FtsIndexConfig) and key != DOCUMENT_KEY:
            raise ValueError("FTS index can only be enabled on #document key. Use create_index(config=FtsIndexConfig(), key='#document')")
        if isinstance(config, SparseVectorIndexConfig) and key is None:
            raise ValueError("Sparse vector index must be created on a specific key. Please specify a key using: "
                             "create_index(config=SparseVectorIndexConfig(...), key='your_key')")
        if config is None:
            raise ValueError(f"Cannot enable all index types for key '{key}'. Please specify a specific index configuration.")
        return self._set(config, key, True)

    def delete_index(self, config: IndexConfig | None = None, key: str | Key | None = None) -> Schema:
        """Disables an index, of one key or of all: what would need it in a filter is refused."""
        key = key.name if isinstance(key, Key) else key
        if config is None and key is None:
            raise ValueError("Cannot disable all indexes. Must specify either config or key.")
        if key == EMBEDDING_KEY:
            raise ValueError("Cannot modify #embedding. Currently not supported")
        _check_special(key, config, "delete")
        if isinstance(config, VectorIndexConfig):
            raise ValueError("Deleting vector index is not currently supported.")
        if isinstance(config, SparseVectorIndexConfig):
            raise ValueError("Deleting sparse vector index is not currently supported.")
        if isinstance(config, FtsIndexConfig) and key != DOCUMENT_KEY:
            raise ValueError("Deleting FTS index is only supported on #document key.")
        if config is None:
            raise ValueError(f"Cannot disable all index types for key '{key}'. Please specify a specific index configuration.")
        return self._set(config, key, False)

    def set_cmek(self, cmek: Any) -> Schema:
        """Takes None alone."""
        if cmek is not None:
            raise UnimplementedError("there are no keys of customers: a store is as safe as the file system that it is on")
        return self

    def _set(self, config: IndexConfig, key: str | None, enabled: bool) -> Schema:
        if type(config) not in _PLACES:
            raise TypeError(f"expected the config of an index, got {type(config).__name__}")
        _put(self.defaults if key is None else self.keys.setdefault(key, ValueTypes()), config, enabled)
        return self

    def _set_vector_index(self, config: VectorIndexConfig) -> Schema:
        """It is described in the defaults and at #embedding, which alone has one and a source of its own."""
        _put(self.defaults, config, False)
        given = {one.name: getattr(config, one.name) for one in fields(config)}
        _put(self.keys[EMBEDDING_KEY], VectorIndexConfig(**{**given, "source_key": DOCUMENT_KEY}), True)
        return self

    def serialize_to_json(self) -> dict[str, Any]:
        """As a dictionary that json.dumps takes."""
        beyond = {"nested_metadata": True} if self.nested_metadata else {}
        return {"defaults": _printed(self.defaults), "keys": {key: _printed(types) for key, types in self.keys.items()}, **beyond}

    @classmethod
    def deserialize_from_json(cls, json_data: dict[str, Any]) -> Schema:
        """Of what serialize_to_json gives, or describe(). No embedding function is made of a name: those are None."""
        made = cls.__new__(cls)
        made.defaults = _read(json_data.get("defaults") or {})
        made.keys = {key: _read(types) for key, types in (json_data.get("keys") or {}).items()}
        made.nested_metadata = bool(json_data.get("nested_metadata"))
        return made

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Schema):
            return NotImplemented
        return self.serialize_to_json() == other.serialize_to_json()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Schema(defaults={self.defaults!r}, keys={self.keys!r})"


def _check_special(key: str | None, config: IndexConfig | None, verb: str) -> None:
    if key == DOCUMENT_KEY and not isinstance(config, FtsIndexConfig):
        raise ValueError(f"Cannot {verb} index on special key '{key}' with this config. Only FtsIndexConfig is allowed for #document.")
    if key is not None and key.startswith("#") and key != DOCUMENT_KEY:
        raise ValueError("key cannot begin with '#'. Keys starting with '#' are reserved for system use.")


def _put(types: ValueTypes, config: Any, enabled: bool) -> None:
    name, index = _PLACES[type(config)]
    value_type = getattr(types, name)
    if value_type is None:
        value_type = _TYPES[name][0]()
        setattr(types, name, value_type)
    setattr(value_type, index, IndexType(enabled, config))


def _printed(types: ValueTypes) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for name, (_, printed_name) in _TYPES.items():
        value_type = getattr(types, name)
        if value_type is not None:
            made[printed_name] = {index: {"enabled": one.enabled, "config": _printed_config(one.config)}
                                  for index, one in vars(value_type).items() if one is not None}
    return made


def _printed_config(config: Any) -> dict[str, Any]:
    given = {name: value for name, value in vars(config).items() if value is not None}
    function = given.pop("embedding_function", None)
    made = {name: {inner: number for inner, number in asdict(value).items() if number is not None}
            if name in ("hnsw", "spann") else value for name, value in given.items()}
    if isinstance(config, SparseVectorIndexConfig):
        made["embedding_function"] = {"type": "unknown"}
    elif isinstance(config, VectorIndexConfig):
        name = None if function is None else stored_name(function)
        made["embedding_function"] = {"type": "legacy"} if name is None else {"name": name, "type": "known", "config": function.get_config()}
        if name is not None:
            made.setdefault("space", getattr(function, "default_space", lambda: "l2")())
    return made


def _read(given: dict[str, Any]) -> ValueTypes:
    types = ValueTypes()
    for name, (value_type, printed_name) in _TYPES.items():
        if given.get(printed_name) is not None:
            setattr(types, name, value_type())
            for index, one in given[printed_name].items():
                if index not in _CONFIGS:
                    raise ValueError(f"no such index: {index}")
                _put(types, _read_config(_CONFIGS[index], one.get("config") or {}), one.get("enabled", True))
    return types


def _read_config(kind: type, given: dict[str, Any]) -> Any:
    made = {name: value for name, value in given.items() if name != "embedding_function"}
    for name, inner in (("hnsw", HnswIndexConfig), ("spann", SpannIndexConfig)):
        if made.get(name) is not None:
            made[name] = inner(**made[name])
    return kind(**made, embedding_function=None) if kind is VectorIndexConfig else kind(**made)


def given_schema(schema: Any) -> tuple[Any, Any]:
    """(JSON, embedding function) of JSON, a Schema, or chromadb's own. The JSON has no function: the library is given that with the collection, and
    it is what prefers a space where the schema names none."""
    serialize = getattr(schema, "serialize_to_json", None)
    if serialize is None:
        return schema, NOT_GIVEN
    made = serialize()
    for types, printed in [(schema.defaults, made["defaults"]), *((types, made["keys"][key]) for key, types in schema.keys.items())]:
        if types.float_list is not None and types.float_list.vector_index is not None:
            config = printed["float_list"]["vector_index"]["config"]
            config.pop("embedding_function", None)
            if types.float_list.vector_index.config.space is None:
                config.pop("space", None)
    types = schema.keys.get(EMBEDDING_KEY)
    if types is None or types.float_list is None or types.float_list.vector_index is None:
        return made, NOT_GIVEN
    return made, types.float_list.vector_index.config.embedding_function


def schema_of(model: dict[str, Any], function: Any) -> Schema:
    """Of a collection as it is described, with its embedding function; where it was made without a schema, the one that says the same."""
    if model["schema"] is None:
        given = {name: dict(parameters) for name, parameters in model["configuration"].items() if name in ("hnsw", "spann") and parameters}
        space = {"space": parameters.pop("space") for parameters in given.values()}
        kept = {name: value for name, value in model["configuration"].items() if name == "full_vectors"}
        made = Schema().create_index(_read_config(VectorIndexConfig, {**space, **given, **kept}))
        _put(made.defaults, SparseVectorIndexConfig(bm25=False), False)  # as a schema says it that is stored
        made.create_index(FtsIndexConfig(text_index=model["configuration"].get("text_index")), key=DOCUMENT_KEY)
        made.nested_metadata = model["configuration"].get("nested_metadata", False)
    else:
        made = Schema.deserialize_from_json(model["schema"])
    for types in (made.defaults, made.keys[EMBEDDING_KEY]):
        if types.float_list is not None and types.float_list.vector_index is not None:
            types.float_list.vector_index.config.embedding_function = function
    return made
