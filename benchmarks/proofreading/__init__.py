"""The benchmark of proofreading: sets of learners' sentences, their scores, and programs to compare."""
