"""The terminal editor: a text, your cursor, and the model's cursor beside it.

buffer.py      text in chunks, with an index of its lines
document.py    a text under edit: selection, undo and redo, the region that a run writes
disk.py        the file behind a text: opening, saving, noticing that others changed it
journal.py     what was typed since the last save, kept for the next start after a crash
layout.py      characters to cells and lines to rows
editor.py      the widget that shows a text and takes keys and mouse
searching.py   finding and replacing
runs.py        a run as a tree of steps: play, scrub, branch
writer.py      the thread in which the model works
recordings.py  trajectory files: save, open, export
panels.py      log, alternatives, branches, statistics, timeline
dialogs.py     questions, prompts and the help screen
settings.py    the configuration file
app.py         the application
"""
