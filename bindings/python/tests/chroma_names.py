# SPDX-License-Identifier: Apache-2.0
"""The public names of chromadb or of pigment as JSON, with the parameters of what is called: `python chroma_names.py MODULE`. test_names.py compares both."""

import enum
import importlib
import inspect
import json
import sys
import types

MODULES = ("", "errors", "config", "types", "api.types", "execution.expression", "utils.embedding_functions")
CLASSES = {
    "": ("Collection", "Key", "Schema", "EmbeddingFunction", "HnswIndexConfig", "SpannIndexConfig", "VectorIndexConfig", "SparseVectorIndexConfig",
         "FtsIndexConfig", "StringInvertedIndexConfig", "IntInvertedIndexConfig", "FloatInvertedIndexConfig", "BoolInvertedIndexConfig"),
    "execution.expression": ("Search", "Knn", "Val", "Rrf", "Sum", "Sub", "Mul", "Div", "Abs", "Exp", "Log", "Max", "Min", "Limit", "Where", "And", "Or", "Eq", "Ne", "Gt", "Gte", "Lt", "Lte", "In", "Nin",
                             "Contains", "NotContains", "Regex", "NotRegex", "Select", "GroupBy", "MinK", "MaxK"),
    "api": ("ClientAPI", "AdminAPI"), "api.models.AsyncCollection": ("AsyncCollection",),
    "api.collection_configuration": ("CollectionConfiguration", "CreateCollectionConfiguration", "CreateHNSWConfiguration", "CreateSpannConfiguration",
                                     "UpdateCollectionConfiguration", "UpdateHNSWConfiguration", "UpdateSpannConfiguration"), "api.client": ("Client", "AdminClient"), "api.shared_system_client": ("SharedSystemClient",),
    "api.models.Collection": ("Collection",), "api.types": ("ValueTypes", "DefaultEmbeddingFunction", "DataLoader"),
    "utils.embedding_functions": ("SentenceTransformerEmbeddingFunction", "DefaultEmbeddingFunction"),
}
CALLS = ("Client", "EphemeralClient", "PersistentClient", "AdminClient", "HttpClient", "AsyncHttpClient", "CloudClient", "configure", "get_settings",
         "utils.batch_utils.create_batches", "utils.embedding_functions.register_embedding_function")


def module(name):
    try:
        return importlib.import_module(".".join(filter(None, [sys.argv[1], name])))
    except ModuleNotFoundError:
        return types.ModuleType(name)


def is_own(name, value):
    """Of the module, and no helper of its own: neither a module nor a function nor something from another package."""
    if name.startswith("_") or isinstance(value, types.ModuleType) or inspect.isfunction(value):
        return False
    origin = getattr(value, "__module__", None)
    return not isinstance(origin, str) or origin.split(".")[0] == sys.argv[1] or getattr(sys.modules.get(origin), name, None) is not value


def default(value):
    if value is inspect.Parameter.empty:
        return "required"
    if isinstance(value, enum.Enum):
        return f"{type(value).__name__}.{value.name}"
    return repr(value) if value is None or isinstance(value, (bool, int, float, str, list)) else type(value).__name__


def parameters(function):
    try:
        given = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    return [(one.name, one.kind.name, default(one.default)) if one.kind.name[:3] != "VAR" else ("", one.kind.name, "") for one in given]


def members(kind):
    """Methods with their parameters, others with none; "()" is the constructor. What pydantic puts into its models is none of Chroma's."""
    base = importlib.import_module("pydantic").BaseModel if hasattr(kind, "model_fields") else object
    names = {*dir(kind), *getattr(kind, "__annotations__", ()), *getattr(kind, "model_fields", ()), *getattr(kind, "__dataclass_fields__", ())}
    made = {name: parameters(getattr(kind, name)) if inspect.isroutine(getattr(kind, name, None)) else None
            for name in sorted(names) if not name.startswith("_") and not hasattr(base, name)}
    return {**made, "()": parameters(kind)}


def main():
    errors = module("errors")
    kinds = {name: kind for name, kind in vars(errors).items() if inspect.isclass(kind) and kind.__module__ == errors.__name__ and not inspect.isabstract(kind)}
    print(json.dumps({
        "names": {name: sorted(one for one, value in vars(module(name)).items() if is_own(one, value)) for name in MODULES},
        "classes": {f"{name}.{one}".lstrip("."): members(getattr(module(name), one)) for name, wanted in CLASSES.items() for one in wanted},
        "calls": {name: parameters(getattr(module(name.rpartition(".")[0]), name.rpartition(".")[2])) for name in CALLS},
        "results": {name: sorted(one.__annotations__) for name, one in vars(module("api.types")).items() if name in ("GetResult", "QueryResult")},
        "errors": {name: {"name": kind.name(), "code": kind("words").code(), "words": str(kind("words")), "message": kind("words").message(),
                          "above": [one.__name__ for one in kind.__mro__[1:] if one.__module__.split(".")[0] in (sys.argv[1], "builtins")]} for name, kind in kinds.items()},
    }))


main()
