"""What begins the names that no query can write: those of columns and pattern elements that the planner makes."""

# A code point that is not a character. A backtick may quote any text, so a name with it is refused when it is read.
HIDDEN = "\uffff"
