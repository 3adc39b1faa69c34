"""Which evidence tells right changes of a proofreader from wrong ones: proposals with all of it, comparisons, and the page."""
