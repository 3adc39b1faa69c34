"""The text widget: its rows, their drawing, and the keys and mouse that edit the text."""
