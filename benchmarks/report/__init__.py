"""Pages and tables, and the paper's figures to stand beside the measured ones."""
