"""What is on the screen: the editor's widgets, their layout, styles and dialogs."""
