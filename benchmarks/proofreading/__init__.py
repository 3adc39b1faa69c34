"""How well a program proofreads: sets of learners' sentences, their scores, and programs to compare."""
