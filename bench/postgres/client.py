# SPDX-License-Identifier: Apache-2.0
"""Runs client.cc: rates, times and answers of one prepared statement. One process a measurement; any number at once."""

import dataclasses
import json
import os
import struct
import subprocess
import tempfile

import numpy


@dataclasses.dataclass
class Parameters:
    """A file with the values of every execution, in the server's binary format."""

    path: str
    width: int  # values of one execution
    count: int


@dataclasses.dataclass
class Figures:
    executions: int
    seconds: float
    backend: int
    times: numpy.ndarray  # microseconds
    answers: object  # ids of the first round, -1 for none; None where none were asked for
    scans: int = 0  # of the contestant's index meanwhile, where somebody counted

    @property
    def rate(self):
        return self.executions / self.seconds

    @property
    def median(self):
        return float(numpy.percentile(self.times, 50))

    @property
    def p99(self):
        return float(numpy.percentile(self.times, 99))


def vector(values):
    return struct.pack(">HH", len(values), 0) + values.astype(">f4").tobytes()


def integer(value):
    return struct.pack(">i", value)


def text(value):
    return value.encode()


def write_parameters(rows):
    """`rows` has a tuple of bytes for each execution. The file lies among the server's temporary ones, and goes with them."""
    handle, path = tempfile.mkstemp(prefix="parameters-")
    count = width = 0
    with os.fdopen(handle, "wb") as file:
        for row in rows:
            file.write(b"".join(struct.pack("=i", len(value)) + value for value in row))
            count, width = count + 1, len(row)
    return Parameters(path, width, count)


class Run:
    """A client that is connected and has prepared its statement; `go` starts it, `figures` waits for its end."""

    def __init__(self, program, statement, parameters=None, sets=(), k=0, cpu=None, **options):
        self.k, self.files = k, tempfile.TemporaryDirectory(prefix="figures-")
        command = [program, "--statement", statement, "--k", str(k)]
        for name in ("times", "answers"):
            command += ["--" + name, os.path.join(self.files.name, name)]
        for sql in sets:
            command += ["--set", sql]
        if parameters is not None:
            command += ["--parameters", parameters.path, "--width", str(parameters.width)]
        if cpu is not None:
            command += ["--cpu", str(cpu)]
        for name, value in options.items():
            command += ["--" + name.replace("_", "-"), str(value)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if self.process.stdout.readline() != "ready\n":
            raise SystemExit(f"bench: the client cannot execute: {statement}")

    def go(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return self

    def figures(self):
        output, _ = self.process.communicate()
        if self.process.returncode != 0:
            raise SystemExit(f"bench: the client failed with {self.process.returncode}")
        times = numpy.fromfile(os.path.join(self.files.name, "times"), numpy.float64)
        answers = None
        if self.k:
            answers = numpy.fromfile(os.path.join(self.files.name, "answers"), numpy.int32).reshape(-1, self.k)
        self.files.cleanup()
        return Figures(**json.loads(output), times=times, answers=answers)
