"""Checks the viewer page: its markup as text, and its behaviour in a real browser."""

import itertools
import json
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from websockets.sync.client import ClientConnection, connect

from reviser.viewer import ViewerStep, ViewerTrajectory, render_page

AWKWARD = "</script><!--<script>\u2028\u2029\"'&amp;\\ \t\r\n\x00\x7f é 😀"


class Script:
    """Writes a trajectory by hand, keeping count of the text so that tests need no offsets."""

    def __init__(self, prompt: str, suffix: str = "") -> None:
        self.prompt, self.suffix = prompt, suffix
        self.text = prompt + suffix
        self.cursor = _utf16(prompt)
        self.steps: list[ViewerStep] = []

    def insert(self, text: str) -> None:
        self.edit("insert", f"Insert({text!r})", [(self.cursor, self.cursor, text)])

    def move(self, delta: int) -> None:
        self.cursor += delta
        self.steps.append(ViewerStep(f"Move({delta:+d})", "move", (), self.cursor))

    def stop(self) -> None:
        self.steps.append(ViewerStep("Stop", "stop", (), self.cursor))

    def edit(self, kind: str, label: str, edits: list[tuple[int, int, str]]) -> None:
        for start, end, replacement in edits:
            units = self.text.encode("utf-16-le", "surrogatepass")
            units = units[: 2 * start] + replacement.encode("utf-16-le", "surrogatepass") + units[2 * end :]
            self.text = units.decode("utf-16-le", "surrogatepass")
            self.cursor = start + _utf16(replacement)
        self.steps.append(ViewerStep(label, kind, tuple(edits), self.cursor, probability=0.5))

    def trajectory(self, name: str, expected: str | None = None) -> ViewerTrajectory:
        return ViewerTrajectory(
            name=name,
            start_text=self.prompt + self.suffix,
            prefix=_utf16(self.prompt),
            suffix=_utf16(self.suffix),
            start_cursor=_utf16(self.prompt),
            steps=tuple(self.steps),
            expected=self.text if expected is None else expected,
            facts=(("Model", "tiny <b>"),),
        )


def _utf16(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def out_of_order() -> Script:
    """The end first, then the beginning, with a line break, a smiley and spaces on the way."""
    script = Script("Once upon a time", suffix="\nThe end.")
    for word in [",", " there", " was", "  a", " 😀", ".\n"]:
        script.insert(word)
    script.move(-5)
    script.insert(" happy")
    script.move(-9)
    for word in [" really", " very"] * 30:
        script.insert(word)
    script.move(3)
    script.stop()
    return script


def every_edit() -> Script:
    script = Script("ab ")
    script.insert("cat")
    script.insert(" dog")
    script.edit("replace", "Replace", [(3, 6, "cow")])
    script.edit("swap", "Swap", [(3, 10, "dog cow")])
    script.edit("span", "SpanMove", [(3, 7, ""), (6, 6, " dog")])
    script.edit("delete", "Delete", [(3, 4, "")])
    script.stop()
    return script


def states_of(script: Script) -> list[str]:
    """The text after every step, by Python."""
    replay = Script(script.prompt, script.suffix)
    states = [replay.text]
    for step in script.steps:
        replay.edit(step.kind, step.label, list(step.edits))
        states.append(replay.text)
    return states


# --- The page as text ----------------------------------------------------------------------------


class PageReader(HTMLParser):
    """Collects the elements of a page and what its scripts hold."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.contents: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self.contents.append("")

    def handle_data(self, data: str) -> None:
        if self.contents:
            self.contents[-1] += data

    def data(self) -> Any:
        scripts = [
            content
            for (tag, attributes), content in zip(self.elements, self.contents, strict=True)
            if tag == "script" and attributes.get("type") == "application/json"
        ]
        assert len(scripts) == 1
        return json.loads(scripts[0])


@pytest.mark.parametrize("text", [AWKWARD, "\ud800 alone", "<!-- <script> -->", "]]>", "$title"])
def test_any_text_survives_in_the_data(text: str) -> None:
    script = Script(text)
    script.insert(text)
    page = render_page([script.trajectory(text)], title=text)
    page.encode("utf-8")
    [stored] = PageReader(page).data()
    assert stored["name"] == stored["start_text"] == text
    assert stored["steps"][0]["edits"] == [[_utf16(text), _utf16(text), text]]
    assert stored["expected"] == text + text


def test_awkward_text_adds_no_elements() -> None:
    plain = PageReader(render_page([Script("plain").trajectory("plain")], title="plain"))
    awkward = PageReader(render_page([Script(AWKWARD).trajectory(AWKWARD)], title=AWKWARD))
    assert [tag for tag, _ in plain.elements] == [tag for tag, _ in awkward.elements]


def test_page_uses_no_outside_resource() -> None:
    page = render_page([out_of_order().trajectory("one")])
    assert not re.search(r"""(?:src|href|action)\s*=\s*["']?\s*(?:https?:|//|file:)""", page, re.I)
    assert not re.search(r"url\(\s*[\"']?(?!#)|@import|\bfetch\(|XMLHttpRequest|import\(", page)
    assert "default-src 'none'" in page


def test_every_button_says_what_it_does() -> None:
    reader = PageReader(render_page([out_of_order().trajectory("one")]))
    buttons = [attributes for tag, attributes in reader.elements if tag == "button"]
    assert len(buttons) > 8
    assert all(button.get("aria-label") or button.get("type") == "submit" for button in buttons)


def test_page_needs_a_trajectory() -> None:
    with pytest.raises(ValueError, match="at least one trajectory"):
        render_page([])


def test_unknown_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown kind of step 'jump'"):
        ViewerStep("Jump", "jump", (), 0)


# --- The page in a browser -----------------------------------------------------------------------

PATIENCE_S = 15.0
BROWSER_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
BROWSER_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--remote-debugging-port=0",
)
KEY_CODES = {"ArrowLeft": 37, "ArrowRight": 39, "ArrowDown": 40, "Home": 36, "End": 35, "Escape": 27}


class Browser:
    """One tab of a headless browser, driven over the DevTools protocol."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._numbers = itertools.count(1)
        self._session: str | None = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        self.call("Page.enable")
        self.resize(1280, 860)

    def call(self, method: str, **parameters: Any) -> Any:
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        self._socket.send(json.dumps(message))
        while True:
            answer = json.loads(self._socket.recv(timeout=PATIENCE_S))
            if answer.get("id") == number:
                assert "error" not in answer, answer["error"]
                return answer["result"]

    def evaluate(self, expression: str) -> Any:
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def wait_until(self, expression: str) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not self.evaluate(expression):
            assert time.monotonic() < deadline, f"never became true: {expression}"
            time.sleep(0.02)

    def open(self, address: str) -> None:
        # A blank page in between: a change of the fragment alone would not load the page again.
        for url in ("about:blank", address):
            self.call("Page.navigate", url=url)
            self.wait_until(f"location.href.startsWith({json.dumps(url)})")
        self.wait_until("document.readyState === 'complete'")
        self.wait_until("document.querySelector('#app')?.dataset.step !== undefined")

    def press(self, key: str) -> None:
        code = KEY_CODES.get(key) or ord(key.upper())
        text = {"text": key} if len(key) == 1 else {}
        for kind in ("keyDown", "keyUp"):
            self.call(
                "Input.dispatchKeyEvent",
                type=kind,
                key=key,
                windowsVirtualKeyCode=code,
                **(text if kind == "keyDown" else {}),
            )

    def click(self, selector: str, across: float = 0.5) -> None:
        x, y = self.evaluate(
            f"""(() => {{
              const element = document.querySelector({json.dumps(selector)});
              const box = element.getBoundingClientRect();
              return [box.left + {across} * box.width, box.top + box.height / 2];
            }})()"""
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=1, clickCount=1)

    def resize(self, width: int, height: int) -> None:
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def text(self) -> str:
        return str(self.evaluate("document.querySelector('#text').textContent"))

    def content(self, selector: str) -> str:
        return str(self.evaluate(f"document.querySelector({json.dumps(selector)}).textContent"))

    def step(self) -> int:
        return int(self.evaluate("document.querySelector('#app').dataset.step"))


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    binary = next(filter(None, map(shutil.which, BROWSER_NAMES)), None)
    if binary is None:
        pytest.skip(f"no browser on PATH (looked for {', '.join(BROWSER_NAMES)})")
    profile = tmp_path_factory.mktemp("profile")
    process = subprocess.Popen(
        [binary, *BROWSER_FLAGS, f"--user-data-dir={profile}", "about:blank"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        with connect(_debugging_address(profile, process), max_size=None) as socket:
            tab = Browser(socket)
            yield tab
            tab.call("Page.close")
    finally:
        process.terminate()
        process.wait(PATIENCE_S)


def _debugging_address(profile: Path, process: "subprocess.Popen[bytes]") -> str:
    port_file = profile / "DevToolsActivePort"
    deadline = time.monotonic() + 2 * PATIENCE_S
    while time.monotonic() < deadline:
        assert process.poll() is None, f"the browser ended with status {process.returncode}"
        lines = port_file.read_text().splitlines() if port_file.exists() else []
        if len(lines) == 2:
            return f"ws://127.0.0.1:{lines[0]}{lines[1]}"
        time.sleep(0.05)
    raise AssertionError("the browser opened no debugging port")


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    mistaken = Script("wrong")
    mistaken.insert("ly")
    page = render_page(
        [
            out_of_order().trajectory("out of order"),
            every_edit().trajectory("every edit"),
            mistaken.trajectory("mistaken", expected="wrongest"),
        ]
    )
    path = tmp_path_factory.mktemp("viewer") / "page.html"
    path.write_bytes(page.encode("utf-8"))
    return path.as_uri()


def test_playing_ends_with_the_expected_text(browser: Browser, address: str) -> None:
    script = out_of_order()
    browser.open(address)
    assert browser.text() == script.prompt + script.suffix
    for _ in range(4):
        browser.press("+")
    assert browser.content("#speed").startswith("16")
    browser.press(" ")
    browser.wait_until(
        f"document.querySelector('#app').dataset.step === '{len(script.steps)}'"
        " && document.querySelector('#app').dataset.playing === 'false'"
    )
    assert browser.text() == script.text
    assert browser.content("#verdict") == "Final text as expected"


def test_every_step_is_exact_in_both_directions(browser: Browser, address: str) -> None:
    script = out_of_order()
    states = states_of(script)
    browser.open(address)
    walk = """(key, count) => Array.from({length: count}, () => {
      document.body.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}));
      return document.querySelector('#text').textContent;
    })"""
    count = len(script.steps)
    assert browser.evaluate(f"({walk})('ArrowRight', {count})") == states[1:]
    assert browser.evaluate(f"({walk})('ArrowLeft', {count})") == states[-2::-1]


def test_the_edits_of_every_kind(browser: Browser, address: str) -> None:
    script = every_edit()
    for step, text in enumerate(states_of(script)):
        browser.open(f"{address}#2/{step}")
        assert browser.text() == text
    assert browser.content("#verdict") == "Final text as expected"


def test_keyboard(browser: Browser, address: str) -> None:
    browser.open(address)
    last = len(out_of_order().steps)
    for key, step in [
        ("ArrowRight", 1),
        ("ArrowRight", 2),
        ("ArrowLeft", 1),
        ("End", last),
        ("ArrowRight", last),
        ("Home", 0),
        ("ArrowLeft", 0),
    ]:
        browser.press(key)
        assert browser.step() == step
    browser.press("?")
    assert browser.evaluate("document.querySelector('#help').open") is True
    browser.press("ArrowRight")
    assert browser.step() == 0
    browser.press("Escape")
    browser.wait_until("!document.querySelector('#help').open")


def test_keyboard_leaves_focused_controls_alone(browser: Browser, address: str) -> None:
    browser.open(address)
    browser.evaluate("document.querySelector('#scrubber').focus()")
    browser.press("ArrowRight")
    assert browser.step() == 1
    browser.evaluate("document.querySelector('#forward').focus()")
    browser.press(" ")
    assert browser.step() == 2
    assert browser.evaluate("document.querySelector('#app').dataset.playing") == "false"
    browser.evaluate("document.querySelector('#actions').focus()")
    browser.press("ArrowDown")
    assert browser.step() == 3


def test_mouse(browser: Browser, address: str) -> None:
    script = out_of_order()
    states = states_of(script)
    browser.open(address)
    browser.click("#forward")
    assert (browser.step(), browser.text()) == (1, states[1])
    browser.click("#action-4")
    assert (browser.step(), browser.text()) == (4, states[4])
    browser.click("#scrubber", across=0.5)
    middle = browser.step()
    assert abs(middle - len(script.steps) / 2) <= 1
    assert browser.text() == states[middle]
    browser.click("#map", across=0.25)
    assert abs(browser.step() - len(script.steps) / 4) <= 2
    browser.click("#to-start")
    assert browser.text() == states[0]


def test_current_action_is_selected_without_scrolling_the_page(browser: Browser, address: str) -> None:
    browser.open(address)
    browser.press("End")
    last = len(out_of_order().steps)
    assert browser.evaluate("document.querySelector('[aria-selected=true]').id") == f"action-{last}"
    assert browser.evaluate("document.querySelector('#actions').scrollTop") > 0
    assert browser.evaluate("document.scrollingElement.scrollTop") == 0


def test_switching_trajectory(browser: Browser, address: str) -> None:
    browser.open(address)
    browser.press("]")
    browser.press("End")
    assert browser.text() == every_edit().text
    browser.click("#next")
    assert browser.content("#verdict").endswith("differs from the expected one at character 6")
    browser.evaluate(
        """(() => {
          const picker = document.querySelector('#trajectory');
          picker.value = '0';
          picker.dispatchEvent(new Event('change'));
        })()"""
    )
    assert browser.text() == out_of_order().prompt + out_of_order().suffix


def test_address_remembers_the_place(browser: Browser, address: str) -> None:
    browser.open(f"{address}#1/9")
    assert browser.text() == states_of(out_of_order())[9]
    browser.press("]")
    browser.press("ArrowRight")
    browser.wait_until("location.hash === '#2/1'")
    browser.evaluate("location.hash = '#1/5'")
    browser.wait_until("document.querySelector('#app').dataset.step === '5'")
    assert browser.text() == states_of(out_of_order())[5]
    browser.open(f"{address}#99/9999")
    assert browser.text() == "wrongly"


def test_text_shows_the_caret_and_fresh_writing(browser: Browser, address: str) -> None:
    browser.open(f"{address}#1/8")
    assert browser.evaluate(
        "[...document.querySelectorAll('#text > span')].map(e => [e.classList[0], e.textContent])"
    ) == [
        ["prompt", "Once upon a time"],
        ["written", ","],
        ["written", " there"],
        ["written", " was"],
        ["written", "  a"],
        ["written", " happy"],
        ["caret", ""],
        ["written", " 😀"],
        ["written", ".\n"],
        ["suffix", "\nThe end."],
    ]
    assert browser.evaluate("document.querySelectorAll('.fresh').length") == 6


def test_statistics(browser: Browser, address: str) -> None:
    browser.open(address)
    shown = browser.evaluate(
        "Object.fromEntries([...document.querySelectorAll('#statistics > div')]"
        ".map(row => [...row.children].map(e => e.textContent)))"
    )
    assert shown == {
        "Actions": "71",
        "Inserts": "67" + "94.4%",
        "Inserts before the end": "61" + "91%",
        "Moves": "3" + "4.2%",
        "Backward moves": "2" + "66.7%",
        "Mean move": "5.7 characters",
        "Actions per inserted token": "1.06",
        "Model": "tiny <b>",
    }


def test_awkward_text_in_the_browser(browser: Browser, tmp_path: Path) -> None:
    script = Script(AWKWARD, suffix=AWKWARD)
    script.insert("\ud800 alone\u2028")
    script.insert("</script>")
    path = tmp_path / "awkward.html"
    path.write_bytes(render_page([script.trajectory("awkward")], title=AWKWARD).encode("utf-8"))
    browser.open(f"{path.as_uri()}#1/2")
    # JSON carries the lone surrogate out of the page as an escape.
    shown = json.loads(browser.evaluate("JSON.stringify(document.querySelector('#text').textContent)"))
    assert shown == script.text
    assert browser.content("#verdict") == "Final text as expected"


def test_trajectory_without_steps(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "empty.html"
    path.write_text(render_page([Script("nothing yet").trajectory("empty")]), encoding="utf-8")
    browser.open(path.as_uri())
    browser.press(" ")
    browser.press("ArrowRight")
    assert (browser.step(), browser.text()) == (0, "nothing yet")


@pytest.mark.parametrize("width", [360, 700, 1600])
def test_page_is_never_wider_than_the_window(browser: Browser, address: str, width: int) -> None:
    browser.resize(width, 800)
    browser.open(f"{address}#1/30")
    assert browser.evaluate("document.scrollingElement.scrollWidth") <= width
    assert browser.evaluate("document.querySelector('#faster').getBoundingClientRect().right") <= width
    browser.resize(1280, 860)


def test_theme_toggle(browser: Browser, address: str) -> None:
    browser.open(address)
    ground = "getComputedStyle(document.body).backgroundColor"
    light = browser.evaluate(ground)
    browser.click("#theme")
    dark = browser.evaluate(ground)
    browser.click("#theme")
    assert browser.evaluate(ground) == light != dark
