"""The prefix of names that no query can contain: those of columns and pattern elements that the planner makes."""

# A code point that is not a character. Backticks may quote any text, so the scanner refuses a name that contains it.
HIDDEN = "\uffff"
