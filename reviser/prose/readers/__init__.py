"""Where prose stands in a document, one module for each kind of format."""
