"""Pages and tables of results, and the paper's figures for comparison."""
