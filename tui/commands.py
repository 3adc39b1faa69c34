"""The table of commands: key, name in the footer and the palette, action, and when each is available."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from textual.binding import Binding
from textual.keys import format_key

from tui.sheet import Sheet


@dataclass(frozen=True)
class Command:
    """A command of the editor. `id` names it in the configuration file; one with a `footer` name is shown in the
    footer.

    The widget that shows the text carries out commands that are `of_text`; the app carries out the others.
    """

    id: str
    key: str
    action: str
    title: str
    help: str = ""
    footer: str = ""
    priority: bool = False
    of_text: bool = False

    @property
    def binding(self) -> Binding:
        return Binding(self.key, self.action, self.title, show=False, priority=self.priority, id=self.id)

    @property
    def selects(self) -> Command | None:
        """The same movement with Shift, which selects; None if the command is no movement."""
        if not self.id.startswith("move-"):
            return None
        keys = (key.rpartition("+") for key in self.key.split(","))
        return Command(
            self.id.replace("move", "select", 1),
            ",".join(f"{held}{plus}shift+{last}" for held, plus, last in keys),
            self.action.replace(")", ", True)"),
            f"Select: {self.title}",
            of_text=True,
        )


def _text(id: str, key: str, action: str, title: str, help: str = "") -> Command:
    return Command(id, key, action, title, help, of_text=True)


def _plain(id: str, key: str, title: str, help: str, footer: str = "") -> Command:
    """A command whose action has the same name as the command."""
    return Command(id, key, id.replace("-", "_"), title, help, footer)


def _move(key: str, where: str, title: str) -> Command:
    return _text(f"move-{where}", key, f"move('{where}')", title)


GROUPS: dict[str, tuple[Command, ...]] = {
    "Writing with the model": (
        _plain("continue", "f5", "Continue the text", "Write on at the end", "Continue"),
        _plain("infill", "f6", "Write here", "Write at the cursor, or in the place of the selection", "Write here"),
        _plain("revise", "ctrl+e", "Revise", "Revise the selection, or the paragraph at the cursor", "Revise"),
        _plain("pause", "f7", "Pause or resume", "Halt the run, or let it go on", "Pause"),
        _plain("step", "f8", "One step", "Take one step and wait", "Step"),
        _plain(
            "rewrite",
            "f9",
            "Another way from here",
            "Let the model choose anew from the step that is shown",
            "Other way",
        ),
        _plain(
            "keep", "ctrl+k", "Keep the run", "Accept what was written, or all changes that are not decided", "Keep"
        ),
        _plain(
            "discard",
            "alt+d",
            "Discard the run",
            "Reject what was written, or all changes that are not decided; undo brings it back",
            "Discard",
        ),
        Command("stop", "escape", "escape", "Stop", "Stop writing; back to the text"),
        Command("faster", "ctrl+up", "speed(1)", "Faster", "More actions a second"),
        Command("slower", "ctrl+down", "speed(-1)", "Slower", "Fewer actions a second"),
        _plain("full-speed", "alt+g", "At full speed", "The rest of the run at once", "Full speed"),
    ),
    "Looking through changes": (
        Command(
            "accept",
            "alt+a",
            "decide(True)",
            "Accept the change",
            "Leave the change as it is, and go to the next",
            "Accept",
        ),
        Command(
            "reject",
            "alt+r",
            "decide(False)",
            "Reject the change",
            "Put the old text back, and go to the next",
            "Reject",
        ),
        Command("next-change", "alt+down", "look(1)", "Next change", "Look at the next one", "Next"),
        Command("previous-change", "alt+up", "look(-1)", "Previous change", "Look back by one"),
    ),
    "Your edits, made elsewhere too": (
        _plain(
            "places",
            "alt+p",
            "List of places",
            "Where your edits could be made again, shown or hidden; in it: a r accept or reject this, k d all",
            "Places",
        ),
        _plain("next-edits", "", "Follow your edits or not", "Offer them elsewhere while you pause; on or off"),
    ),
    "Mistakes": (
        Command("next-mistake", "alt+j", "mistake(1)", "Next mistake", "Go to the next", "Next mistake"),
        Command("previous-mistake", "alt+k", "mistake(-1)", "Previous mistake", "Go back by one"),
        Command("fix", "alt+m", "fix('this')", "Fix this", "The mistake at the cursor", "Fix"),
        Command("fix-kind", "", "fix('kind')", "Fix all of this kind", "In the whole text"),
        Command("fix-all", "", "fix('all')", "Fix all mistakes", "In the whole text"),
        _plain("ignore", "alt+i", "Ignore this here", "Leave it as it is, for good", "Ignore"),
        Command(
            "add-word-project",
            "",
            "add_word('project')",
            "Add the word to the project's words",
            "Nothing is found about it in this project",
        ),
        Command(
            "add-word-user", "", "add_word('user')", "Add the word to your words", "Nothing is found about it any more"
        ),
        _plain(
            "mistakes",
            "ctrl+l",
            "List of mistakes",
            "Show or hide it; in it: m k a fix this, its kind, all; i ignores; w u add the word",
            "Mistakes",
        ),
        _plain("proofread", "", "Look for mistakes or not", "While you pause; on or off"),
    ),
    "Looking at a run": (
        _plain("panel", "f4", "Show or hide the panel", "Log, options, branches, figures", "Panel"),
        _plain("timeline", "ctrl+t", "Timeline", "Scrub through the run with the arrows", "Timeline"),
        _plain("play-file", "", "Play a trajectory file", "Open a recorded run"),
        _plain("save-run", "", "Save the run", "As a trajectory file, all branches"),
        _plain("export-page", "", "Export the run as a page", "HTML that plays it"),
        _plain("export-diff", "", "Export the run as a patch", "A unified diff"),
    ),
    "Files": (
        _plain("new", "ctrl+n", "New text", "An empty text in a new tab"),
        _plain("open", "ctrl+o", "Open a file", "In a new tab"),
        _plain("save", "ctrl+s", "Save", "Write the file, in one step", "Save"),
        _plain("save-as", "f12", "Save as", "Write to another file"),
        _plain("close", "alt+w", "Close the tab", "Asks if there are unsaved changes"),
        Command("next-tab", "ctrl+pagedown,alt+right", "tab(1)", "Next tab", "The file to the right"),
        Command("previous-tab", "ctrl+pageup,alt+left", "tab(-1)", "Previous tab", "The file to the left"),
        _plain("recover", "", "Recover a text", "What a crash left, or was discarded"),
        _plain("reload", "", "Read the file again", "Take over what is on disk"),
        Command("quit", "ctrl+q", "quit", "Quit", "Asks if there are unsaved changes", "Quit", True),
    ),
    "Editing": (
        _text("undo", "ctrl+z", "undo", "Undo", "A run, or discarding one, is one step"),
        _text("redo", "ctrl+y", "redo", "Redo", "Do again what was undone"),
        _text("cut", "ctrl+x", "cut", "Cut", "Take the selection to the clipboard"),
        _text("copy", "ctrl+c", "copy", "Copy", "Put the selection into the clipboard"),
        _text("paste", "ctrl+v", "paste", "Paste", "In the place of the selection"),
        _text("select-all", "ctrl+a", "select_all", "Select all", "The whole text"),
        _text("erase", "backspace", "erase('left')", "Erase"),
        _text("erase-forwards", "delete,ctrl+d", "erase('right')", "Erase forwards"),
        _text("erase-word", "ctrl+w,ctrl+backspace,alt+backspace", "erase('word_left')", "Erase a word"),
        _text("erase-word-forwards", "ctrl+delete", "erase('word_right')", "Erase a word forwards"),
        Command("find", "ctrl+f", "find(False)", "Find", "Look for text; alt+c case, alt+r pattern", "Find"),
        Command("replace", "ctrl+r", "find(True)", "Find and replace", "One by one, or all with alt+a"),
        Command("find-next", "f3", "find_next(True)", "Find the next", "Go to the next match"),
        Command("find-previous", "shift+f3", "find_next(False)", "Find the previous", "Go back one match"),
        _plain("go-to-line", "ctrl+g", "Go to a line", "By its number"),
    ),
    "Moving; with Shift: selecting": (
        _move("left", "left", "Left"),
        _move("right", "right", "Right"),
        _move("up", "up", "Up"),
        _move("down", "down", "Down"),
        _move("ctrl+left", "word_left", "A word left"),
        _move("ctrl+right", "word_right", "A word right"),
        _move("home", "row_start", "Start of the line"),
        _move("end", "row_end", "End of the line"),
        _move("ctrl+home", "start", "Start of the text"),
        _move("ctrl+end", "end", "End of the text"),
        _move("pageup", "page_up", "A page up"),
        _move("pagedown", "page_down", "A page down"),
    ),
    "View": (
        _plain("wrap", "alt+z", "Wrap lines or not", "Long lines in several rows"),
        _plain("numbers", "alt+n", "Line numbers on or off", "At the left edge"),
        _plain("theme", "f2", "Light or dark", "Switch the theme"),
        _plain("help", "f1", "Help", "All keys", "Help"),
        Command("palette", "ctrl+p", "command_palette", "Command palette", "Every command by its name", priority=True),
    ),
}

_ALL = [command for group in GROUPS.values() for command in group]
COMMANDS = [command for command in _ALL if not command.of_text]
TEXT_COMMANDS = [command for command in _ALL if command.of_text]
PALETTE = [command for command in _ALL if command.id != "palette" and command.help]

# From left to right.
_FOOTER = (
    *("help", "accept", "reject", "next-change", "pause", "full-speed", "step", "rewrite", "keep", "discard"),
    *("timeline", "panel", "places", "fix", "ignore", "next-mistake", "mistakes"),
    *("continue", "infill", "revise", "save", "find", "quit"),
)
# The commands that a narrow footer prefers: those of use at the moment, and the way out.
_FIRST = (
    *("help", "accept", "reject", "pause", "keep", "places", "discard", "quit", "next-change", "full-speed"),
    *("fix", "ignore", "next-mistake", "mistakes"),
    *("step", "rewrite", "timeline", "save", "continue", "infill", "revise", "find", "panel"),
)


# What commands do where next edits are offered.
_OF_OFFERS = {"keep": "Accept all", "discard": "Reject all"}


@dataclass(frozen=True)
class Hint:
    """A key in the footer and what it does; where room is short, those with the lowest rank are shown."""

    key: str
    shown: str
    does: str
    rank: int


def footer_hints(sheet: Sheet, keys: Mapping[str, str]) -> list[Hint]:
    """The footer's hints for a sheet; `keys` are the keys that the settings bind in place of the defaults."""
    named = {command.id: command for command in COMMANDS}
    found = []
    for id in _FOOTER:
        command = named[id]
        key = keys.get(id, command.key).partition(",")[0]
        if key and is_available(command.action.partition("(")[0], sheet) and _matters(id, sheet):
            paused = id == "pause" and sheet.open_run is not None and not sheet.open_run.writing
            does = "Resume" if paused else command.footer
            if sheet.offers.shown:
                does = _OF_OFFERS.get(id, does)
            found.append(Hint(key, _short(key), does, _FIRST.index(id)))
    return found


def _matters(id: str, sheet: Sheet) -> bool:
    """Whether a command is of use now; those about mistakes are not if there are none or a run is open."""
    if id == "fix":
        return sheet.mistakes.here is not None
    if id == "full-speed":
        return sheet.open_run is not None and sheet.open_run.writing and sheet.open_run.speed > 0
    if id == "places":
        return len(sheet.offers.findings) > 0 and not sheet.offers.hidden
    if id in ("next-mistake", "mistakes"):
        return len(sheet.mistakes) > 0 and sheet.open_run is None and sheet.review is None
    return True


def _short(key: str) -> str:
    """A key's name in few letters: ^K, F5, Alt+↓."""
    *held, last = key.split("+")
    name = format_key(last)
    name = name.upper() if len(last) == 1 else name[:1].upper() + name[1:]
    return "^" + name if held == ["ctrl"] else "+".join([*map(str.capitalize, held), name])


INTRODUCTION = (
    "Type as in any editor. F5 lets the model write on at the end, F6 at your cursor or in the place "
    "of what you have selected. Its cursor is the coloured one; what it has just written fades to the "
    "colour of your text. Go on typing elsewhere while it writes; where you type into its words, it stops. "
    "Ctrl+E lets it revise a paragraph; each change is then yours to accept or reject. "
    "Ctrl+Z takes a whole run back in one step. "
    "Mistakes are underlined when you pause: Alt+J goes to the next one, Alt+M fixes it, Ctrl+L lists them. "
    "Where an edit of yours is likely to be wanted again, it is offered when you pause: Alt+Down goes there, "
    "Alt+A accepts it, Ctrl+K accepts all, Alt+P lists all places."
)


def help_groups(keys: Mapping[str, str]) -> list[tuple[str, list[tuple[str, str, str]]]]:
    """Key, name and purpose of each command, by group; `keys` are those that the settings bind in place of the
    defaults.
    """
    return [
        (title, [(_key_of(command, keys), command.title, command.help) for command in commands])
        for title, commands in GROUPS.items()
    ]


def _key_of(command: Command, keys: Mapping[str, str]) -> str:
    """The keys of a command as people write them; for a command without a key, where the palette has it."""
    bound = keys.get(command.id, command.key)
    return bound.replace(",", " ") if bound else f"{keys.get('palette', 'ctrl+p')} …"


_RUN_ACTIONS = {"pause", "step", "rewrite", "keep", "discard", "speed", "timeline"}
_REVIEW_ACTIONS = {"decide", "look"}
_MISTAKE_ACTIONS = {"ignore", "add_word"}


def is_available(action: str, sheet: Sheet) -> bool:
    """Whether an action is possible in the sheet that is shown; actions on a run need an open run."""
    run = sheet.open_run
    if action in _MISTAKE_ACTIONS:
        return sheet.mistakes.here is not None
    if action in _REVIEW_ACTIONS:
        return len(sheet.offers) > 0 or (sheet.run is not None and sheet.run.reviewable)
    if action in ("keep", "discard") and (len(sheet.offers) > 0 or sheet.review is not None):
        return True
    if action in ("pause", "step", "full_speed"):
        return run is not None and run.ending is None
    if action == "rewrite":
        return run is not None and run.branching
    return run is not None if action in _RUN_ACTIONS else True
