"""Numbers that the loops of mail and of pages share with those who call them.

They stand apart from the loops, so that whoever calls these by machine code imports no compiler.
"""

# Of mail.
HEADERS, TEXT, HIDDEN, LINKS, TOKENS = 0, 1, 2, 3, 4  # kinds of sections
# Bits of what a byte is.
LETTER, NAME, HOST_NAME, PATH, BLANK, URL_END, HOST_END, DIGIT, HEADER_NAME = (
    1, 2, 4, 8, 16, 32, 64, 128, 256,
)  # fmt: skip
AS_IS, DIGITS, LOWER, LOWER_DIGITS = 0, 1, 2, 3  # rows of folds
ORDINARY, IGNORED, IGNORED_START, ADDRESS, SUBJECT, RECEIVED = 0, 1, 2, 3, 4, 5  # roles of headers
MOST_RELAYS = 300
N_TERMS, AT, N_RELAYS, FULL = 0, 1, 2, 3  # places in the state

# Of pages.
PAGE_WORD, PAGE_BLANK, PAGE_LETTER = 1, 2, 4  # bits of what a byte is
BREAKING, EMPTY = 1, 2  # bits of names: breaks a word, holds nothing
