# SPDX-License-Identifier: Apache-2.0
"""The same program by Chroma and by pigment prints the same, call for call, but for the lines named here, each with its reason."""

import os
import pathlib
import subprocess
import sys
import tempfile

SCRIPT = pathlib.Path(__file__).with_name("chroma_script.py")
PARTS = 500  # calls that are compared at least

# By the words before "->": how what Chroma prints begins, and what we print, and why. A line that no longer differs so fails.
DIFFERENCES = {
    "uri without metadata": ("[None, [{}],", "[None, [None],", "a record with a uri has {} in Chroma, others None"),
    "add metadata word": ("AttributeError", "ValueError Expected metadata to be a dict", "a wrong type that Chroma's own code falls over"),
    "upsert metadata word": ("AttributeError", "ValueError Expected metadata to be a dict", "as above"),
    "rank text again": ("TypeError", "{'$knn': {'key': '#embedding'", "a text in JSON is one, as it is in an object"),
    "rank fused again": ("TypeError", "{'$mul': [", "as above"),
    "odd peek -1": ("OverflowError", "InvalidArgumentError", "a limit below 0 is a wrong argument, not one that does not fit"),
    "odd offset -1": ("OverflowError", "InvalidArgumentError", "as above"),
    "odd n array": ("ValueError Expected requested number of results", "{'ids': [['a']]", "NumPy's integers are integers"),
    "left behind": ("['more']", "[]", "a refused embedding function leaves an empty collection in Chroma"),
    "query nan": ("{'ids': [['e'", "InvalidArgumentError", "a query of no direction finds everything at no distance in Chroma"),
}


def printed(interpreter, module):
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as folder:
        done = subprocess.run([interpreter, str(SCRIPT), module, folder], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              env={**os.environ, "ANONYMIZED_TELEMETRY": "False"})
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    order, answers = [], {}
    for line in done.stdout.splitlines():
        what, answer = line.split(" ", 1)[1].split(" -> ", 1)
        order.append(what if what not in answers else f"{what} (again)")
        answers[order[-1]] = answer
    return order, answers


def test_a_script_of_chroma_runs_after_changing_the_import():
    their_order, theirs = printed(os.environ["PIGMENT_CHROMA_PYTHON"], "chromadb")
    our_order, ours = printed(sys.executable, "pigment")
    assert our_order == their_order and len(theirs) == len(their_order) > PARTS, len(theirs)
    wrong = []
    for what in their_order:
        if what in DIFFERENCES:
            good = theirs[what].startswith(DIFFERENCES[what][0]) and ours[what].startswith(DIFFERENCES[what][1])
        else:
            good = theirs[what] == ours[what]
        if not good:
            wrong.append(f"{what}\n  Chroma   {theirs[what]}\n  pigment  {ours[what]}")
    left = set(DIFFERENCES) - set(their_order)
    assert not left, f"differences of calls that are not made: {left}"
    assert not wrong, "\n".join(wrong)
