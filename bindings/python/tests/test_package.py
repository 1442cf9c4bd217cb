# SPDX-License-Identifier: Apache-2.0
"""The wheel, its types, and what is generated."""

import ctypes
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import zipfile

import pigment
from pigment import _declarations, errors
from tap import raises

ROOT = pathlib.Path(os.environ["PIGMENT_ROOT"])


def test_the_wheel_holds_the_library_once_and_the_types():
    wheel = os.environ["PIGMENT_WHEEL"]
    names = zipfile.ZipFile(wheel).namelist()
    assert "cp311-abi3-linux" in wheel, wheel
    assert [name for name in names if "libpigment" in name] == ["pigment/libpigment.so.1"], names
    assert "pigment/py.typed" in names and "pigment/_core.pyi" in names and "pigment/_core.abi3.so" in names, names
    assert not [name for name in names if not name.startswith(("pigment/", "pigment-")) or name.endswith("README.md")], names


def test_the_package_loads_the_library_beside_it():
    assert "LD_LIBRARY_PATH" not in os.environ
    loaded = [line.split()[-1] for line in pathlib.Path("/proc/self/maps").read_text().splitlines() if "libpigment" in line]
    assert set(loaded) == {str(pathlib.Path(pigment.__file__).with_name("libpigment.so.1"))}, set(loaded)
    assert pigment.__version__ == _declarations.VERSION and pigment.version() in pigment.build_info()


def test_mypy_finds_nothing_in_the_package_nor_in_a_program_that_uses_it():
    program = pathlib.Path("typed_program.py")
    program.write_text(
        "import numpy as np\nimport pigment as chromadb\n"
        "class Letters(chromadb.EmbeddingFunction[chromadb.Documents]):\n"
        "    def __call__(self, input: chromadb.Documents) -> chromadb.Embeddings:\n"
        "        return [np.array([float(len(text))], np.float32) for text in input]\n"
        "async def later(store: chromadb.AsyncClient) -> int:\n"
        "    docs = await store.get_or_create_collection('docs')\n"
        "    found = await docs.query(query_texts=['a'], n_results=1)\n"
        "    return await docs.count() + len(found['ids'])\n"
        "client = chromadb.PersistentClient('store')\n"
        "docs: chromadb.Collection = client.create_collection('docs', embedding_function=Letters())\n"
        "docs.add(ids='a', documents='a', metadatas={'n': 1})\n"
        "result: chromadb.QueryResult = docs.query(query_texts='a', where=(chromadb.K('n') > 0) & ~chromadb.K('m').exists())\n",
        encoding="utf-8")
    sources = ROOT / "bindings/python"
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--cache-dir", "mypy_cache", "--config-file",
                           str(sources / "pyproject.toml"),
                           str(sources / "src/pigment"), str(program)],
                          env={**os.environ, "MYPYPATH": str(sources / "src")}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout
    program.write_text("import pigment\npigment.PersistentClient('store').count_collections('x')\n", encoding="utf-8")
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", "mypy_cache", str(program)], stdout=subprocess.PIPE, text=True)
    assert done.returncode == 1 and "Too many arguments" in done.stdout, done.stdout


def test_structs_lie_as_the_c_compiler_lays_them():
    layouts = json.loads(subprocess.run([sys.executable, str(ROOT / "bindings/tables/layouts")], check=True, stdout=subprocess.PIPE).stdout)
    assert len(layouts) > 10
    for name, layout in layouts.items():
        struct = getattr(_declarations, "".join(word.capitalize() for word in name.removeprefix("pigment_").split("_")))
        assert ctypes.sizeof(struct) == layout["size"], name
        assert {field[0]: getattr(struct, field[0]).offset for field in struct._fields_} == layout["offsets"], name


def generator():
    sys.path.insert(0, str(ROOT / "bindings/tables"))
    specification = importlib.util.spec_from_file_location("for_python", ROOT / "bindings/tables/for_python.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    import header
    return module, header


def test_a_function_that_is_called_nowhere_fails_the_generator():
    module, header = generator()
    declared = header.read()
    assert module.files(declared)[module.TARGET]
    more = header.Header(**{**vars(declared), "functions": (*declared.functions, header.Function("pigment_new_one", "void", (), False))})
    raises((ValueError, "pigment_new_one is called nowhere"), module.files, more)
    module.NOT_CALLED["pigment_version"] = "a reason"
    raises((ValueError, "which bindings/python calls"), module.files, declared)
    del module.NOT_CALLED["pigment_version"]
    module.NOT_CALLED["pigment_gone"] = "a reason"
    raises((ValueError, "pigment_gone"), module.files, declared)


def test_a_status_without_an_exception_fails_the_generator():
    module, header = generator()
    declared = header.read()
    module.EXCEPTIONS.pop("ABORTED")
    raises((ValueError, "ABORTED"), module.files, declared)


def test_every_status_becomes_an_exception_of_chromas_or_of_ours():
    kinds = {errors.kind_of(status, 0) for status in _declarations.Status if status != 0}
    assert all(issubclass(kind, errors.ChromaError) for kind in kinds)
    assert errors.kind_of(99, 0) is errors.InternalError
    names = {name: getattr(pigment._library._library, "pigment_status_sqlstate")(status) for name, status in _declarations.Status.__members__.items()}
    assert names["NOT_FOUND"] == b"42704"
    assert pigment.status_name(3) == "invalid argument" and pigment.status_name(99) == "unknown"
