# SPDX-License-Identifier: Apache-2.0
"""Embedding functions: Chroma's protocol, the functions that come with the package, and how one is handed to the library.

The library stores a function's name and configuration as data. A collection that is opened without a function gets one only where that loads nothing by a stored
name: the default model, the lexical function, and classes that the program itself has registered."""

from __future__ import annotations

import ctypes
import functools
import inspect
import json
from collections.abc import Callable
from typing import Any, ClassVar, Generic, Protocol, TypeVar, runtime_checkable

import numpy as np
import numpy.typing as npt

from . import _core
from . import _declarations as c
from ._library import Column, call
from .errors import InvalidArgumentError

Matrix = npt.NDArray[np.float32]
LEXICAL = "pigment_lexical_v1"
MODEL = "all-MiniLM-L6-v2"


def as_matrix(given: Any) -> Any:
    """One vector or many, of any form that Chroma takes, as a matrix. An array is not copied."""
    if isinstance(given, np.ndarray):
        return given if given.ndim == 2 else given.reshape(1, -1) if given.ndim == 1 else _no_matrix(given)
    if not isinstance(given, list) or not given:
        return _no_matrix(given)
    first = given[0]
    if isinstance(first, np.ndarray):
        if len({one.shape for one in given}) > 1:
            raise InvalidArgumentError("Inconsistent dimensions in provided embeddings")
        return np.stack(given) if first.ndim == 1 else _no_matrix(given)
    inner = first[0] if isinstance(first, (list, tuple)) and first else first
    if isinstance(inner, (bool, str, bytes)) or (isinstance(first, (list, tuple)) and not first):
        return _no_matrix(given)
    try:
        made = np.array(given)  # the library rounds, and refuses what float32 cannot hold
    except ValueError:
        if isinstance(first, (list, tuple)) and len({len(one) for one in given if isinstance(one, (list, tuple))}) > 1:
            raise InvalidArgumentError("Inconsistent dimensions in provided embeddings") from None
        raise
    return made.reshape(1, -1) if made.ndim == 1 else made if made.ndim == 2 else _no_matrix(given)


def _no_matrix(given: Any) -> Any:
    raise ValueError("Expected embeddings to be a list of floats or ints, a list of lists, a numpy array, or a list of numpy arrays, "
                     f"got {given!r:.200}")


Embeddable = TypeVar("Embeddable", contravariant=True)


class EmbeddingFunction(Generic[Embeddable]):
    """Chroma's protocol: subclass it, or give any object with these methods. Only __call__ is needed; without name and get_config the
    function is not stored with the collection."""

    def __call__(self, input: Embeddable) -> Any:
        raise NotImplementedError(f"{type(self).__name__} does not define __call__")

    def embed_query(self, input: Embeddable) -> Any:
        """For queries, where they are embedded otherwise than documents."""
        return self(input)

    @staticmethod
    def name() -> str:
        return NotImplemented  # type: ignore[no-any-return]

    def get_config(self) -> dict[str, Any]:
        return NotImplemented  # type: ignore[no-any-return]

    @staticmethod
    def build_from_config(config: dict[str, Any]) -> Any:
        return NotImplemented

    def default_space(self) -> str:
        return "l2"

    def supported_spaces(self) -> list[str]:
        return ["cosine", "l2", "ip"]

    def validate_config_update(self, old_config: dict[str, Any], new_config: dict[str, Any]) -> None:
        return None

    @staticmethod
    def validate_config(config: dict[str, Any]) -> None:
        return None

    def is_legacy(self) -> bool:
        return stored_name(self) is None


@runtime_checkable
class DataLoader(Protocol):
    """From uris to what an embedding function takes."""

    def __call__(self, uris: list[str]) -> Any: ...


@functools.lru_cache(maxsize=None)
def _sentence_transformer(model_name: str, device: str, options: str) -> Any:
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError:
        raise ValueError(
            f"the embedding model {model_name} needs the package sentence-transformers, which is not installed. Install it "
            "(pip install sentence-transformers), or give embeddings instead of texts, or create the collection with an embedding "
            f"function of your own or with LexicalEmbeddingFunction() ({LEXICAL}: words and parts of words, no model)") from None
    return SentenceTransformer(model_name_or_path=model_name, device=device, **json.loads(options))


class SentenceTransformerEmbeddingFunction(EmbeddingFunction[list[str]]):
    """A model of the installed package sentence-transformers."""

    def __init__(self, model_name: str = MODEL, device: str = "cpu", normalize_embeddings: bool = False, **kwargs: Any) -> None:
        self.model_name, self.device, self.normalize_embeddings, self.kwargs = model_name, device, normalize_embeddings, kwargs
        self._options = json.dumps(kwargs, sort_keys=True)
        _sentence_transformer(model_name, device, self._options)

    def __call__(self, input: list[str]) -> Any:
        model = _sentence_transformer(self.model_name, self.device, self._options)
        return model.encode(list(input), convert_to_numpy=True, normalize_embeddings=self.normalize_embeddings)

    @staticmethod
    def name() -> str:
        return "sentence_transformer"

    def default_space(self) -> str:
        return "cosine"

    def get_config(self) -> dict[str, Any]:
        return {"model_name": self.model_name, "device": self.device, "normalize_embeddings": self.normalize_embeddings,
                "kwargs": self.kwargs}

    @staticmethod
    def build_from_config(config: dict[str, Any]) -> SentenceTransformerEmbeddingFunction:
        return SentenceTransformerEmbeddingFunction(config["model_name"], config["device"], config["normalize_embeddings"],
                                                    **config.get("kwargs", {}))


class DefaultEmbeddingFunction(EmbeddingFunction[list[str]]):
    """Chroma's default, all-MiniLM-L6-v2, of the installed package sentence-transformers; loaded when a text first needs it. Without that package texts are refused
    with what to do; another model is never taken in its place."""

    def __call__(self, input: list[str]) -> Any:
        return _sentence_transformer(MODEL, "cpu", "{}").encode(list(input), convert_to_numpy=True, normalize_embeddings=True)

    @staticmethod
    def name() -> str:
        return "default"

    def get_config(self) -> dict[str, Any]:
        return {}

    @staticmethod
    def build_from_config(config: dict[str, Any]) -> DefaultEmbeddingFunction:
        return DefaultEmbeddingFunction()

    def max_tokens(self) -> int:
        return 256


class LexicalEmbeddingFunction(EmbeddingFunction[list[str]]):
    """The library's own: words and parts of words, hashed; a pure function of the text, a baseline and no semantic model."""

    def __init__(self, dimension: int = 384) -> None:
        self.dimension = dimension

    def __call__(self, input: list[str]) -> Matrix:
        texts = Column(list(input))
        values = np.empty((texts.count, self.dimension), np.float32)
        call("pigment_embed_lexical", texts.count, ctypes.byref(texts.column), self.dimension,
             values.ctypes.data_as(ctypes.POINTER(ctypes.c_float)))
        return values

    @staticmethod
    def name() -> str:
        return LEXICAL

    def default_space(self) -> str:
        return "cosine"

    def get_config(self) -> dict[str, Any]:
        return {"dimension": self.dimension}

    @staticmethod
    def build_from_config(config: dict[str, Any]) -> LexicalEmbeddingFunction:
        return LexicalEmbeddingFunction(int(config.get("dimension", 384)))


# What a collection that is opened without a function may get by its stored name.
_registered: dict[str, Any] = {"default": DefaultEmbeddingFunction, LEXICAL: LexicalEmbeddingFunction}

_Kind = TypeVar("_Kind", bound=type)


def register_embedding_function(ef_class: Any = None) -> Any:
    """Lets collections that were made with this class be opened without naming it: its build_from_config makes the function. A decorator, with and
    without parentheses."""

    def register(kind: _Kind) -> _Kind:
        _registered[kind.name()] = kind  # type: ignore[attr-defined]
        return kind

    return register if ef_class is None else register(ef_class)


# Stands for "none was given"; Chroma has an instance of its default there too.
NOT_GIVEN = DefaultEmbeddingFunction()


def stored_name(function: Any) -> str | None:
    """The name to store, None for a function without one."""
    get_name, get_config = getattr(function, "name", None), getattr(function, "get_config", None)
    if not callable(get_name) or not callable(get_config):
        return None
    name = get_name()
    return name if isinstance(name, str) and get_config() is not NotImplemented else None


def validate_embedding_function(function: Any) -> None:
    """As Chroma: it must be called with `input`."""
    if not callable(function):
        raise ValueError(f"Expected an embedding function, got {type(function).__name__}")
    names = list(inspect.signature(type(function).__call__).parameters)
    if names != ["self", "input"]:
        raise ValueError("Expected EmbeddingFunction.__call__ to have the following signature: odict_keys(['self', 'input']), got "
                         f"odict_keys({names})")


def stored_function(stored: dict[str, Any] | None, dimension: int | None) -> Any:
    """The function of a collection, where none was given: None when its name is not registered. The lexical function of other languages has no
    dimension in its configuration; the collection has."""
    if stored is None or stored["name"] not in _registered:
        return None
    config = stored.get("config")
    config = dict(config) if isinstance(config, dict) else {}
    if stored["name"] == LEXICAL and dimension is not None:
        config.setdefault("dimension", dimension)
    return _registered[stored["name"]].build_from_config(config)


class Callback:
    """What the library calls: (purpose, texts) to a packed matrix of float32."""

    __slots__ = ("_function",)

    def __init__(self, function: Any) -> None:
        self._function = function

    def __call__(self, purpose: int, texts: list[str]) -> Any:
        embed = getattr(self._function, "embed_query", None) if purpose == c.EmbedPurpose.QUERY else None
        answer = (embed or self._function)(input=texts)
        matrix = as_matrix(answer if isinstance(answer, np.ndarray) else list(answer))
        return np.ascontiguousarray(matrix, dtype=np.float32)


class Registration:
    """A function as the library takes it, for one call; `keep` when that succeeded."""

    _callbacks: ClassVar[tuple[int, int]] = _core.embedding_callbacks()

    def __init__(self, function: Any, name: str) -> None:
        self._address = 0
        self.struct = c.EmbeddingFunction(struct_size=ctypes.sizeof(c.EmbeddingFunction))
        if name == LEXICAL and isinstance(function, LexicalEmbeddingFunction):
            call("pigment_embedding_function_lexical", function.dimension, ctypes.byref(self.struct))
            encoded = json.dumps(function.get_config()).encode()
            self.struct.config_json, self.struct.config_json_size = encoded, len(encoded)
            return
        get_config: Callable[[], Any] = getattr(function, "get_config", dict)
        config = get_config()
        config = config if isinstance(config, dict) else {}
        encoded = json.dumps(config).encode()
        space = getattr(function, "default_space", str)().encode()
        self.struct.name, self.struct.name_size = name.encode(), len(name.encode())
        self.struct.config_json, self.struct.config_json_size = encoded, len(encoded)
        if space:
            self.struct.space, self.struct.space_size = space, len(space)
        self.struct.embed, self.struct.release = self._callbacks
        self._address = _core.embedding_keep(Callback(function))
        self.struct.user_data = self._address

    def __enter__(self) -> Registration:
        return self

    def keep(self) -> None:
        self._address = 0

    def __exit__(self, *_: object) -> None:
        if self._address:
            _core.embedding_drop(self._address)
            self._address = 0


