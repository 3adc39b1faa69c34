"""The terminal editor: a text, your cursor, and the model's cursor beside it.

Each module knows only of those above it in its list, and of the lists above its own.

A text
    buffer.py      text in chunks, with an index of its lines
    document.py    a text under edit: selection, undo and redo, the region that a run writes
    searching.py   finding and replacing
    disk.py        the file behind a text: opening, saving, noticing that others changed it
    journal.py     what was typed since the last save, kept for the next start after a crash

A run
    review.py      the changes of a revision, one by one, to be accepted or rejected
    runs.py        a run as a tree of steps: play, scrub, branch
    settings.py    the configuration file
    choosing.py    the likeliest action, for those who want no chance
    writer.py      the thread in which the model works
    recordings.py  trajectory files: read, write, export

The open texts
    sheet.py       a text with its file, its journal and its run
    sheets.py      all of them, and which one is shown
    commands.py    every command: key, name, and when it is there

The screen
    themes.py      the colours, light and dark
    layout.py      characters to cells and lines to rows
    ghosts.py      what is shown in a text and is not in it
    looks.py       the styles of the text
    coats.py       what lies on the text of a run or a review
    editor.py      the widget that shows a text and takes keys and mouse
    find_bar.py    the bar to find and replace in
    bars.py        tabs above, status line below
    panels.py      log, options, branches, figures, timeline
    dialogs.py     questions, prompts and the help screen
    telling.py     what the status line says
    desk.py        all widgets, brought up to date
    voice.py       what is said and asked

What the user does
    pulse.py       frame after frame while a run moves
    player.py      starting, driving and ending runs; deciding on changes
    files.py       opening, saving and closing
    upkeep.py      journals, recovery, files that others change
    run_files.py   playing and exporting recordings
    app.py         puts the parts together and hands them the commands
"""
