"""The widgets of the editor: their layout, styles and dialogs."""
