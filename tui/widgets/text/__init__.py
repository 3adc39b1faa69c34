"""The widget that shows a text: its rows, what is drawn on them, and the keys and mouse that edit it."""
