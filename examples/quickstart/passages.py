# SPDX-License-Identifier: Apache-2.0
"""The PostgreSQL manual as passages of a few hundred characters, from its HTML on this machine."""

import html.parser
import pathlib
import re

MANUAL = pathlib.Path("/usr/share/doc/postgresql-doc-15/html")
CHARACTERS_MIN = 200  # a passage ends at the first paragraph after this many
CHARACTERS_MAX = 600  # longer paragraphs are cut at a word

BLOCKS = {"p", "pre", "dt", "dd", "li", "td", "th", "div", "tr", "table", "h1", "h2", "h3", "h4", "br"}


class Page(html.parser.HTMLParser):
    """Title, chapter and paragraphs of one page; navigation is left out."""

    def __init__(self, text):
        super().__init__()
        self.title, self.chapter, self.paragraphs = "", "", []
        self._place, self._text, self._navigation_divs = None, [], 0
        self.feed(text)
        self._end_paragraph()

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag == "title":
            self._place = "title"
        elif tag == "th" and attributes.get("width") == "60%":
            self._place = "chapter"
        elif tag == "div" and (self._navigation_divs or attributes.get("class") in ("navheader", "navfooter")):
            self._navigation_divs += 1
        if tag in BLOCKS:
            self._end_paragraph()

    def handle_endtag(self, tag):
        if tag in ("title", "th"):
            self._place = None
        if tag == "div" and self._navigation_divs:
            self._navigation_divs -= 1
        if tag in BLOCKS:
            self._end_paragraph()

    def handle_data(self, data):
        if self._place == "title":
            self.title += data
        elif self._navigation_divs:
            self.chapter += data if self._place == "chapter" else ""
        elif self._place is None:
            self._text.append(data)

    def _end_paragraph(self):
        paragraph = squeeze("".join(self._text))
        self._text = []
        if paragraph:
            self.paragraphs.append(paragraph)


def squeeze(text):
    return re.sub(r"\s+", " ", text).strip()


def cut(paragraphs):
    """Joins short paragraphs and cuts long ones."""
    passage = ""
    for paragraph in paragraphs:
        while len(paragraph) > CHARACTERS_MAX:
            end = paragraph.rfind(" ", CHARACTERS_MIN, CHARACTERS_MAX)
            end = end if end > 0 else CHARACTERS_MAX
            yield squeeze(f"{passage} {paragraph[:end]}")
            passage, paragraph = "", paragraph[end:].strip()
        passage = squeeze(f"{passage} {paragraph}")
        if len(passage) >= CHARACTERS_MIN:
            yield passage
            passage = ""
    if passage:
        yield passage


def read_manual(folder=MANUAL):
    """All passages, as (id, page, chapter, position, length, text); no field has a tab or a line break."""
    rows = []
    for path in sorted(folder.glob("*.html")):
        page = Page(path.read_text(encoding="utf-8"))
        chapter = squeeze(page.chapter) or squeeze(page.title)
        for position, text in enumerate(cut(page.paragraphs), start=1):
            rows.append((f"{path.stem}/{position}", path.name, chapter, position, len(text), text))
    return rows
