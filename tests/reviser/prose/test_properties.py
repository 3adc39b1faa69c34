"""Whatever is proposed, only prose changes: generated documents of every kind under hostile changes."""

from __future__ import annotations

import re
from itertools import accumulate, pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reviser.core.edits import Edit, apply_edits
from reviser.prose import Format, format_of, paragraphs, safe_edits, same_structure, sentences
from tests.reviser.prose.judges import judged

DOCUMENTS = sorted((Path(__file__).parent / "documents").iterdir())

EXAMPLES = settings().max_examples

# What breaks formats when it comes at the wrong place, and ordinary text.
HOSTILE = [
    "", " ", "  ", "word", "two words", "a much longer text with many words in it", ".", ". ", "1.", "1. ", "- ", "+ x",
    "# ", "#", "> ", "*", "**", "_", "`", "```", "~~~", "<b>", "</b>", "<!-- ", "-->", "[", "]", "](x)", "[x]: y", "|",
    "\\",
    "\\\\", "\\end{document}", "{", "}", "$", "$$", "%", "&", "&amp;", "~", "^", "\n", "\r", "\r\n", "\n\n", "\t", "\0",
    "\u2028", "\x85", "\ufeff", "---", "===", ":::", "*/", "/*", "//", '"', '"""', "'''", "'", "--", "]]", "=>", "::",
    ": ",
    "x: y", "Fixes: #1", "noqa", "type: ignore", "type: ", "Copyright ", "e\u0301", "\u0301", "👩‍🚀", "עברית", "::\n",
    ".. x::",
    "@param", ">>> ", "…", "http://x", "foo_bar", "www.x", "..", "<", ">", "!", "![", "()", "(", ")", "<?", "?>", "${",
    "#{",
]  # fmt: skip
CHANGES = st.lists(
    st.tuples(st.integers(0, 400), st.integers(0, 30), st.lists(st.sampled_from(HOSTILE), max_size=3)), max_size=6
)

# Without quotation marks, which would end the strings of code.
WORDS = st.text(st.sampled_from("abcde ABC é 漢 .,!-’"), min_size=1, max_size=30)
PIECES = {
    Format.MARKDOWN: [
        "# {}", "{} *{}* `{}`", "> {}\n> {}", "- {}\n  {}\n- {}", "1. {}\n2. {}", "```\n{}\n```", "    {}",
        "| {} | {} |\n|--|--|\n| {} | {} |",
        "[{}](http://x_y)", "![{}](a.png) {}", "<div>\n{}\n</div>", "{}  \n{}\\\n{}", "{}\n===", "$$\n{}\n$$",
        "[^1]: {}", "{} $a_b$ {}[^1]",
        "[{}][r] and [r]\n\n[r]: http://z", "- [ ] {}\n\n  {}", "{}\n: {}", "<b>{}</b> &amp; {}",
        "> - {}\n>   {}\n> {}", "***{}** {}*",
        "\t{}", "* {}\n\n\t{}", "{} \\* {} \\_", "#{}", "{}|{}",
    ],
    Format.LATEX: [
        "\\section{{{}}}", "{} \\emph{{{}}} $x_1$ {}", "\\begin{{itemize}}\n\\item {}\n\\item {}\n\\end{{itemize}}",
        "{} % {}\n{}", "\\begin{{verbatim}}\n{}\n\\end{{verbatim}}",
        "\\caption{{{}}}", "\\begin{{equation}}\nx\n\\end{{equation}}", "{}\\footnote{{{}}} {}", "\\foo[{}]{{{}}} {}",
        "{}~\\cite{{a}} \\\\ {}", "\\[ x \\] {}", "\\verb|{}| {}",
        "{{\\bf {}}} {}", "\\begin{{foo}}\n{}\n\\end{{foo}}", "\\def\\x{{{}}}", "\\href{{http://x}}{{{}}}", "$ {}",
        "}} {}", "{{ {}", "\\begin{{quote}} {}",
    ],
    Format.RST: [
        "{}\n====================================", "{} *a* ``{}`` {}", "* {}\n  x {}\n* {}",
        ".. note:: {}\n   {}\n\n   {}", ".. code-block:: c\n\n   {}", ".. image:: a.png", "x::\n\n   {}",
        "term\n   {}", ":param a: {}", "=== ===\nab  cd\n=== ===", ".. [1] {}", "`{} <http://x>`_ {}", ".. {}",
        "   {}", "#. {}", "| {}\n| {}",
    ],
    Format.PLAIN: [
        "{}\n{} {}", "{}", "- {}\n  {}", "> {}", "    {}", "{}\n----", "a   b   c   {}", "```\n{}\n```", "1) {}",
    ],
    Format.COMMIT: ["{}\n{}", "# {}", "- {}\n  {}", "Signed-off-by: {}", "    {}"],
    Format.MAIL: ["{}\n{}", "> {}", "On x, {} wrote:", "-- \n{}", "- {}"],
    Format.PYTHON: [
        '"""{}"""', "# {}\n# {}", "x = 1  # {}", "def f():\n    '''{}\n\n    {}\n    '''\n    return '# {}'",
        "class A:\n    r\"\"\"{}\n    {}\"\"\"", "'x'  # type: ignore",
    ],
    Format.JAVASCRIPT: [
        "// {}\n// {}", "/** {}\n * {}\n * @param {{x}} y {}\n */", "f('// {}') /* {} */", "x = `/* ${{1}} */`",
        "x = /[/*]/ // {}",
    ],
    Format.C: ["// {}\n// {}", "/* {}\n * {}\n */", 'char *s = "/* {} */";', "int x; /* {} */", "#define A /* {} */ 1"],
    Format.RUST: ["/// {}\n/// {}", "/* {} /* {} */ */", "fn f() {{ }} // {}"],
    Format.SHELL: ["# {}\n# {}", "echo a # {}", "cat <<E\n# x\nE"],
    Format.YAML: ["# {}\n# {}", "a: b # {}", "c: |\n  # x"],
    Format.LUA: ["-- {}\n-- {}", "--[[ {}\n{} ]]", "x = 1 -- {}"],
    Format.HTML: [
        "<!-- {}\n{} -->", "<p>{} <b class='x'>{}</b>{}\n  {}</p>", "<ul><li>{}<li lang=de>{}</ul>", "<pre>{}</pre>",
        "<script>{}</script>",
        "{} &amp; {}&eacute;{}&nbsp;{}", "{} <img src=a> {} <code>{}</code>", "<p translate='no'>{}</p>",
        "{}<br>{}<br><br>{}", "<td>{}<i>{}", "</p>{}",
        "{} & {} &lt;b&gt;{}", "<i>{}</i><b>{}</b>{}", "<span title='{}'>{}</span>", "{} < {} <!-- -->{}",
        "<title>{}</title>", "<x-y>{}</x-y>",
    ],
}  # fmt: skip


@st.composite
def documents(draw: st.DrawFn, format: Format) -> str:
    pieces = draw(st.lists(st.sampled_from(PIECES[format]), max_size=6))
    filled = [
        re.sub(r"(?<!\{)\{\}(?!\})|(?<=\{\{)\{\}(?=\}\})", lambda _: draw(WORDS), piece)
        .replace("{{", "{")
        .replace("}}", "}")
        for piece in pieces
    ]
    gap = draw(st.sampled_from(["\n\n", "\n\n", "\n"]))
    front = "---\nt: 'x: y'\n---\n" if format is Format.MARKDOWN and draw(st.booleans()) else ""
    text = front + gap.join(filled) + draw(st.sampled_from(["", "\n"]))
    text = text.replace("\n", draw(st.sampled_from(["\n", "\n", "\r\n", "\r"])))
    return draw(st.sampled_from(["", "", "\ufeff"])) + text


def proposals(text: str, format: Format, changes: list[tuple[int, int, list[str]]]) -> list:
    proposed = []
    for number, paragraph in enumerate(paragraphs(text, format)):
        size = len(paragraph.text) + 1
        some = []
        for place, length, new in changes:
            start = (place * 7 + number * 13) % size
            end = min(start + length, size - 1)
            some.append(Edit(start, paragraph.text[start:end], "".join(new)))
        proposed.append((paragraph, some))
    return proposed


def check(text: str, format: Format, changes: list[tuple[int, int, list[str]]]) -> None:
    for paragraph in paragraphs(text, format):
        for start, end, (source_start, source_end) in zip(
            paragraph.starts, paragraph.ends, paragraph.segments, strict=True
        ):
            piece = text[source_start:source_end]
            assert piece == paragraph.source_of(start, end)
            assert (source_start, source_end) == paragraph.source_span(start, end)
            assert (start, end) == paragraph.text_span(source_start, source_end)
            assert paragraph.written or piece == paragraph.text[start:end]
            assert piece == piece.strip()
            assert "\n" not in piece
            assert "\r" not in piece
        spans = sentences(paragraph)
        assert all(a.end <= b.start for a, b in pairwise(spans))
        assert "".join(paragraph.text[a:b] for a, b in spans).replace(" ", "") == re.sub(
            r"\s", "", paragraph.text
        ) or re.search(r"[^\S ]", paragraph.text)
    proposed = proposals(text, format, changes)
    edits = safe_edits(text, format, proposed)
    after = apply_edits(text, edits)
    # Everything outside prose is what it was, byte for byte.
    prose = [span for paragraph, _ in proposed for span in paragraph.segments]
    for edit in edits:
        assert any(start <= edit.start <= edit.end <= end for start, end in prose)
    assert re.findall(r"\r\n|\r|\n", after) == re.findall(r"\r\n|\r|\n", text)
    assert same_structure(text, after, format)
    plain = text.removeprefix("\ufeff")
    assert judged(after.removeprefix("\ufeff"), format) == judged(plain, format)
    # What is protected is still there.
    news = paragraphs(after, format)
    if len(news) == len(proposed):
        for (paragraph, _), new in zip(proposed, news, strict=True):
            for start, end in paragraph.protected:
                assert paragraph.text[start:end] in new.text


@pytest.mark.parametrize("format", PIECES, ids=str)
def test_only_prose_changes(format: Format) -> None:
    @settings(max_examples=EXAMPLES // 2, suppress_health_check=list(HealthCheck))
    @given(text=documents(format), changes=CHANGES)
    def run(text: str, changes: list[tuple[int, int, list[str]]]) -> None:
        check(text, format, changes)

    run()


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_realistic_documents_keep_their_structure(path: Path) -> None:
    text = path.read_bytes().decode()
    format = format_of(str(path), text)

    @settings(max_examples=EXAMPLES // 8, suppress_health_check=list(HealthCheck))
    @given(changes=CHANGES)
    def run(changes: list[tuple[int, int, list[str]]]) -> None:
        check(text, format, changes)

    run()


@settings(max_examples=2 * EXAMPLES)
@given(
    text=st.text(st.sampled_from("ab .*_`#>-|[]()<&\\$%{}~\"'/!=+:1\n\r\t\0\u2028\ufeffé漢👩\u0301")),
    format=st.sampled_from(list(Format)),
    changes=CHANGES,
)
def test_any_text_in_any_format_is_read(text: str, format: Format, changes: list[tuple[int, int, list[str]]]) -> None:
    after = apply_edits(text, safe_edits(text, format, proposals(text, format, changes)))
    assert same_structure(text, after, format)
    assert re.findall(r"\r\n|\r|\n|\0|\u2028", after) == re.findall(r"\r\n|\r|\n|\0|\u2028", text)


@given(st.lists(st.text("ab", min_size=1), min_size=1))
def test_edits_are_applied_in_the_places_of_the_text(words: list[str]) -> None:
    from reviser.core.edits import Edit

    text = " ".join(words)
    starts = [0, *accumulate(len(word) + 1 for word in words)]
    edits = [Edit(s, w, w.upper()) for s, w in zip(starts, words, strict=False)]
    assert apply_edits(text, reversed(edits)) == text.upper()
