#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""`pigment browse` on a pseudo-terminal: check_browse.py TOOL. What a terminal would show is worked out by pyte (Debian's
python3-pyte, hence Debian's Python). Run by the stage `terminal`. Prints TAP."""

import fcntl
import json
import os
import pathlib
import re
import select
import shlex
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

import pyte

import tap

UP, DOWN, PAGE_UP, PAGE_DOWN, HOME, END, ESCAPE, ENTER = (
    "\x1b[A", "\x1b[B", "\x1b[5~", "\x1b[6~", "\x1b[1~", "\x1b[4~", "\x1b", "\r")
WAIT_S = 20


class Terminal:
    """The tool on a terminal of so many rows and columns."""

    def __init__(self, tool, *arguments, rows=24, columns=80, environment=None, shell="exec {}"):
        self.master, self.slave = os.openpty()
        self.resize(rows, columns, tell=False)
        self.before = termios.tcgetattr(self.slave)
        self.raw = b""
        environment = {**os.environ, "TERM": "linux", "LC_ALL": "C.UTF-8", **(environment or {})}

        def take_terminal():
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        self.process = subprocess.Popen(
            ["bash", "-c", shell.format(shlex.join([tool, "browse", *map(str, arguments)]))], stdin=self.slave, stdout=self.slave, stderr=self.slave, env=environment,
            preexec_fn=take_terminal)

    def resize(self, rows, columns, tell=True):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        if tell:
            self.screen.resize(rows, columns)
            os.kill(self.process.pid, signal.SIGWINCH)
        else:
            self.screen = pyte.Screen(columns, rows)
            self.stream = pyte.ByteStream(self.screen)

    def read(self, wait_s=0.05):
        while select.select([self.master], [], [], wait_s)[0]:
            piece = os.read(self.master, 65536)
            self.raw += piece
            self.stream.feed(piece)

    def lines(self):
        return [line.rstrip() for line in self.screen.display]

    def wait(self, what):
        """Until a line has this (a text or a pattern); its number."""
        deadline = time.monotonic() + WAIT_S
        while time.monotonic() < deadline:
            self.read()
            for number, line in enumerate(self.lines()):
                if (what.search(line) if isinstance(what, re.Pattern) else what in line):
                    return number
            assert self.process.poll() is None, f"exit status {self.process.returncode}:\n" + "\n".join(self.lines())
        raise AssertionError(f"no {what!r} on the screen:\n" + "\n".join(self.lines()))

    def type(self, keys):
        os.write(self.master, keys.encode())

    def end(self, status):
        """Waits for the end; the terminal must be as it was."""
        deadline = time.monotonic() + WAIT_S
        while self.process.poll() is None and time.monotonic() < deadline:
            self.read()
        assert self.process.poll() is not None, "it does not end"
        self.read()
        assert self.process.returncode == status, f"exit status {self.process.returncode}, not {status}\n" + "\n".join(self.lines())
        after = termios.tcgetattr(self.slave)
        os.close(self.master)
        os.close(self.slave)
        assert after == self.before, "the terminal is left in another mode"

    def is_reversed(self, row):
        return self.screen.buffer[row][0].reverse


class Bench:
    def __init__(self, tool, folder):
        self.tool, self.folder = tool, pathlib.Path(folder)
        self.store = self.folder / "store"
        self.make("numbers", [
            {"id": f"id{n:03}", "document": f"document {n}", "metadata": {"n": n}, "uri": f"u:{n}", "embedding": [n, 1.5]}
            for n in range(100)])
        self.make("texts", [{"id": "fish", "document": "a red fish"}, {"id": "field", "document": "a green field"},
                            {"id": "sky", "document": "the sky is blue"}], "--lexical", "384")
        self.make("evil", [
            {"id": "esc\x1b]0;owned\x07", "document": "\x1b[31mred\x1b[2J\u009b2J\r\b\x0e \u202egnp.exe\u2066", "uri": "\x1b[?1049l",
             "metadata": {"\x1b[5m": "\x1b]52;c;AAAA\x07", "wide": "漢字" * 40}, "embedding": [1, 2]},
            {"id": "long", "document": "word " * 400 + "the end", "embedding": [0.5] * 2},
            {"id": "bytes", "document_base64": "G1szMW3/", "embedding": [3, 4]}])

    def make(self, name, records, *more):
        lines = self.folder / f"{name}.jsonl"
        lines.write_text("".join(json.dumps(record) + "\n" for record in records))
        subprocess.run([self.tool, "import", self.store, name, lines, "--create", *more], check=True, stdout=subprocess.DEVNULL)

    def open(self, **options):
        return Terminal(self.tool, self.store, **options)


def from_list_to_record(bench):
    """the list of collections, records page by page, a record whole, and back"""
    terminal = bench.open()
    assert terminal.wait("3 collections") == 22 and terminal.wait("records dimension  index") == 0
    assert terminal.wait("q quit") == 23, "keys at the bottom"
    assert terminal.is_reversed(1) and terminal.wait(re.compile(r"^ +3 +2  hnsw l2 +evil$")) == 1
    assert terminal.wait(re.compile(r"^ +100 +2  hnsw l2 +numbers$")) == 2
    terminal.type(DOWN + ENTER)
    assert terminal.wait("records 1 to 21 of 100") == 22
    assert re.search(r'^id000 +document 0  \{"n":0\}  u:0$', terminal.lines()[1]), terminal.lines()[1]
    terminal.type(PAGE_DOWN)
    terminal.wait("records 22 to 42 of 100")
    assert terminal.lines()[1].startswith("id021") and terminal.is_reversed(1)
    terminal.type(DOWN * 21)
    terminal.wait("records 43 to 63")
    terminal.type(UP)
    terminal.wait("records 22 to 42")
    assert terminal.is_reversed(21), "the last line of the page before"
    terminal.type(ENTER)
    assert terminal.wait("record id041") == 0
    seen = "\n".join(terminal.lines())
    for part in ("uri: u:41", "  n: 41", "document 41", "embedding, 2 dimensions", "41 1.5"):
        assert part in seen, f"{part} is not in:\n{seen}"
    terminal.type(ESCAPE)
    terminal.wait("records 22 to 42")
    terminal.type(PAGE_DOWN * 3)
    terminal.wait("records 85 to 100 of 100")
    terminal.type(PAGE_DOWN + HOME)
    terminal.wait("records 1 to 21")
    terminal.type(ESCAPE)
    terminal.wait("3 collections")
    terminal.type("q")
    terminal.end(0)


def filters(bench):
    """filters of metadata and documents, refused ones too"""
    terminal = bench.open()
    terminal.wait("3 collections")
    terminal.type(DOWN + ENTER)
    terminal.wait("of 100")
    terminal.type("/")
    assert terminal.wait("where:") == 22
    terminal.wait("Enter apply")
    terminal.type('{"n":{"$gte":95}}x\x7f' + ENTER)
    terminal.wait('records 1 to 5 of 5  where {"n":{"$gte":95}}')
    assert [line.split()[0] for line in terminal.lines()[1:6]] == [f"id{n:03}" for n in range(95, 100)]
    terminal.type('/\x15{"n":{"$nope":1}}' + ENTER)
    terminal.wait("$nope")
    terminal.type(DOWN)
    terminal.wait("records 1 to 5 of 5")
    terminal.type("ddocument 97" + ENTER)
    terminal.wait("records 1 to 1 of 1")
    assert terminal.lines()[1].startswith("id097")
    terminal.type("d\x15" + ENTER + "/\x15" + ENTER)
    terminal.wait("of 100")
    terminal.type('/nonsense' + ESCAPE)
    terminal.wait("records 1 to 21 of 100")
    terminal.type('/{"n":-1}' + ENTER)
    terminal.wait("no records")
    terminal.type(ENTER + "v" + DOWN + END + "q")
    terminal.end(0)


def search(bench):
    """nearest to a text, to a record, and what cannot be asked"""
    terminal = bench.open()
    terminal.wait("3 collections")
    terminal.type(DOWN * 2 + ENTER)
    terminal.wait("of 3")
    terminal.type("sgreen field" + ENTER)
    terminal.wait("3 nearest to text green field")
    assert re.search(r"^[0-9.e-]+ +field +a green field", terminal.lines()[1]), terminal.lines()[1]
    terminal.type("v")
    terminal.wait("3 nearest to record field")
    assert re.search(r"^-?[0-9.e-]+ +field ", terminal.lines()[1]), terminal.lines()[1]
    terminal.type(ESCAPE)
    terminal.wait("records 1 to 3 of 3")
    terminal.type(ESCAPE)
    terminal.wait("3 collections")
    terminal.type(UP + ENTER)
    terminal.wait("of 100")
    terminal.type("sanything" + ENTER)
    terminal.wait("no embedding function")
    terminal.type(DOWN * 4 + "v")
    terminal.wait("100 nearest to record id004")
    assert re.search(r"^0 +id004 ", terminal.lines()[1]), terminal.lines()[1]
    terminal.type("/" + ESCAPE + '/{"n":{"$lt":3}}' + ENTER + UP + UP + "v")
    terminal.wait("3 nearest to record id000 of 3 that match")
    terminal.type("q")
    terminal.end(0)


def sizes(bench):
    """terminals of any size, also while it runs"""
    for rows, columns in ((1, 1), (1, 80), (2, 2), (3, 10), (4, 5), (24, 80), (100, 300), (24, 1), (60, 3)):
        terminal = bench.open(rows=rows, columns=columns)
        for keys in ("", ENTER, DOWN + PAGE_DOWN, ENTER, PAGE_DOWN + END, ESCAPE, "/{", ESCAPE, ESCAPE, DOWN * 5):
            terminal.type(keys)
            terminal.read(0.15)
            assert terminal.process.poll() is None, (rows, columns, keys)
        terminal.type("q")
        terminal.end(0)
    terminal = bench.open()
    terminal.wait("3 collections")
    terminal.type(DOWN + ENTER)
    terminal.wait("records 1 to 21 of 100")
    terminal.type(PAGE_DOWN)
    terminal.wait("records 22 to 42 of 100")
    terminal.resize(10, 40)
    assert terminal.wait("records 22 to 28 of 100") == 8
    terminal.type(PAGE_DOWN)
    terminal.wait("records 29 to 35")
    terminal.resize(40, 120)
    assert terminal.wait("records 29 to 65 of 100") == 38
    assert terminal.lines()[1].startswith("id028") and "q quit" in terminal.lines()[39], terminal.lines()
    terminal.type("q")
    terminal.end(0)


def untrusted(bench):
    """no byte of a record tells the terminal anything"""
    terminal = bench.open(columns=60)
    terminal.wait("3 collections")
    terminal.type(ENTER)
    terminal.wait("records 1 to 3 of 3")
    row = terminal.lines()[1]
    assert row.startswith("esc ]0;owned ") and "[31mred [2J" in row, row
    terminal.type(ENTER)
    terminal.wait("record esc ]0;owned")
    shown = "\n".join(terminal.lines())
    for part in ("id: esc ]0;owned", "uri:  [?1049l", "?gnp.exe?", "]52;c;AAAA", "漢 字".replace(" ", "")):
        assert part in shown.replace("漢 字", "漢字"), f"{part} is not in:\n{shown}"
    terminal.type(ESCAPE + DOWN + DOWN + ENTER)
    terminal.wait("record bytes")
    terminal.wait("[31m\ufffd")
    terminal.type(ESCAPE + UP + ENTER)
    terminal.wait("record long")
    terminal.type(END)
    terminal.wait("the end")
    terminal.type(ESCAPE + '/{"\x1b' + ESCAPE)
    terminal.type("q")
    terminal.end(0)
    for forbidden in (b"\x1b]", b"\x07", b"\xc2\x9b", b"\x1b[31m", b"\x1b[2J\xc2", b"\xe2\x80\xae", b"\xe2\x81\xa6", b"\x0e", b"\x1b[5m"):
        assert forbidden not in terminal.raw, forbidden


def ends(bench):
    """Ctrl-C, SIGTERM and SIGHUP give the terminal back, also while a prompt is open and twice"""
    for end in (lambda t: t.type("\x03"), lambda t: t.process.send_signal(signal.SIGTERM),
                lambda t: t.process.send_signal(signal.SIGHUP), lambda t: t.type("\x03\x03\x03"),
                lambda t: t.type(ENTER + "/" + "abc\x03")):
        terminal = bench.open()
        terminal.wait("3 collections")
        end(terminal)
        terminal.end(130)
    terminal = bench.open(environment={"TERM": "xterm"})
    deadline = time.monotonic() + WAIT_S
    while b"3 collections" not in terminal.raw and time.monotonic() < deadline:
        terminal.read()
    terminal.type("\x03")
    terminal.end(130)
    begin, left = terminal.raw.find(b"\x1b[?1049h"), terminal.raw.rfind(b"\x1b[?1049l")
    assert 0 <= begin < left, "xterm's other screen is left again"
    assert terminal.raw.rfind(b"\x1b[?25h") > terminal.raw.rfind(b"\x1b[?25l") or b"\x1b[?12l\x1b[?25h" in terminal.raw[-64:], "the cursor is seen"


def stopped(bench):
    """Ctrl-Z gives the terminal to the shell as it was, and fg goes on"""
    mode = bench.folder / "mode"
    terminal = bench.open(shell=f"set -m; stty -g >{mode}.before; {{}}; stty -g >{mode}.between; fg >/dev/null")
    terminal.wait("3 collections")
    terminal.type("\x1a")
    deadline = time.monotonic() + WAIT_S
    while not pathlib.Path(f"{mode}.between").exists() and time.monotonic() < deadline:
        terminal.read()
    terminal.read(0.5)
    assert pathlib.Path(f"{mode}.between").read_text() == pathlib.Path(f"{mode}.before").read_text()
    terminal.type(ENTER)
    terminal.wait("records 1 to 3 of 3")
    terminal.type("q")
    terminal.end(0)


def refusals(bench):
    """no terminal, none that is known, no store"""
    def run(*command, status, environment=None):
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, env={**os.environ, **(environment or {})})
        assert done.returncode == status, f"{command}: {done.returncode} {done.stderr}"
        assert not done.stdout, done.stdout
        return done.stderr

    assert "browse needs a terminal" in run(bench.tool, "browse", bench.store, status=9)
    said = json.loads(run(bench.tool, "browse", bench.store, "--json", status=9))
    assert said["error"]["status"] == 9, said
    terminal = bench.open(environment={"TERM": "no-such-terminal"})
    terminal.end(9)
    assert b'knows no terminal "no-such-terminal"' in terminal.raw, terminal.raw
    terminal = Terminal(bench.tool, bench.folder / "none")
    terminal.end(5)
    assert b"does not exist" in terminal.raw, terminal.raw


def without_utf8(bench):
    """a locale without UTF-8 has question marks for what it lacks"""
    terminal = bench.open(environment={"LC_ALL": "C"}, rows=40)
    terminal.wait("3 collections")
    terminal.type(ENTER)
    terminal.wait("records 1 to 3 of 3")
    terminal.type(ENTER)
    terminal.wait("????????")
    terminal.type("q")
    terminal.end(0)
    assert all(byte < 0x80 for byte in terminal.raw)


CHECKS = [from_list_to_record, filters, search, sizes, untrusted, ends, stopped, refusals, without_utf8]


def main():
    with tempfile.TemporaryDirectory(prefix="pigment-browse-") as folder:
        bench = Bench(sys.argv[1], folder)
        return tap.run(CHECKS, lambda check: check(bench))


if __name__ == "__main__":
    sys.exit(main())
