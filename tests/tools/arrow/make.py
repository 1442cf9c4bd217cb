# SPDX-License-Identifier: Apache-2.0
"""Writes the files beside it, by pyarrow 26: make.py. They are committed, so nothing runs this but somebody who adds one."""

import json
import pathlib

import pyarrow as pa

HERE = pathlib.Path(__file__).resolve().parent
IDS = ["a", "b", "ü", "d", "e"]
DOCUMENTS = ["one", None, "文\n\"two\"", "", None]
METADATAS = ['{"n":1}', None, '{"on":true,"x":0.5}', None, '{"s":"t"}']
URIS = [None, "file:b", None, None, "file:e"]
VECTORS = [[1.0, 0.5, -2.0], [0.25, 0.0, 1.0], [3.0, 4.0, 5.0], [-0.5, 8.0, 0.125], [1.0, 1.0, 1.0]]
OPTIONS = {"file": pa.ipc.new_file, "stream": pa.ipc.new_stream}


def write(name, columns, kind="file", rows=2, **options):
    table = pa.table(columns)
    with pa.OSFile(str(HERE / name), "wb") as sink, OPTIONS[kind](sink, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        for batch in table.to_batches(max_chunksize=rows):  # later ones are slices of one
            writer.write_batch(batch)


def columns(text, vector, **more):
    made = {"embedding": pa.array(VECTORS, vector), "id": pa.array(IDS, text), "document": pa.array(DOCUMENTS, text),
            "metadata": pa.array(METADATAS, text), "uri": pa.array(URIS, text)}
    return made | more


def main():
    write("large.arrow", columns(pa.large_utf8(), pa.list_(pa.float32(), 3)), rows=5)
    write("small.arrow", columns(pa.utf8(), pa.list_(pa.float64(), 3)))
    write("small.arrows", columns(pa.utf8(), pa.list_(pa.float64(), 3)), "stream")
    write("lists.arrow", columns(pa.utf8(), pa.large_list(pa.float32()), document=pa.array(
        [one and one.encode() for one in DOCUMENTS[:3]] + [b"", None], pa.large_binary())), rows=3)
    write("halves.arrow", columns(pa.utf8(), pa.list_(pa.float16())), rows=1)
    small = {"id": pa.array(["a", "b"])}
    write("compressed.arrow", {"id": pa.array(IDS * 50)}, compression="zstd")
    write("unknown.arrow", small | {"colour": pa.array(["red", "blue"])})
    write("no_id.arrow", {"uri": pa.array(["u"])})
    write("dictionary.arrow", small | {"uri": pa.array(["u", "u"]).dictionary_encode()})
    write("text_vector.arrow", small | {"embedding": pa.array(["1", "2"])})
    write("null_id.arrow", {"id": pa.array(["a", None]), "embedding": pa.array([[1.0], [2.0]])})
    write("null_number.arrow", small | {"embedding": pa.array([[1.0, None], [1.0, 2.0]], pa.list_(pa.float32()))})
    lines = []
    for row, name in enumerate(IDS):
        record = {"id": name}
        for key, value in (("document", DOCUMENTS[row]), ("metadata", METADATAS[row] and json.loads(METADATAS[row])), ("uri", URIS[row])):
            if value is not None:
                record[key] = value
        lines.append(json.dumps(record | {"embedding": VECTORS[row]}, ensure_ascii=False, separators=(",", ":")))
    (HERE / "expected.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
