"""Small mail for the tests."""

HAM_WORDS = ("meeting", "lunch", "report", "review", "thanks", "tomorrow", "agenda", "notes")
SPAM_WORDS = ("winner", "prize", "FREE!!", "click", "viagra", "offer", "cash", "guarantee")


def message(label, k):
    """The k-th message of a class; all differ."""
    words = SPAM_WORDS if label else HAM_WORDS
    text = " ".join(words[(k + j) % len(words)] for j in range(5))
    return (
        f"From: {'seller' if label else 'ann'}{k}@{'deals' if label else 'work'}.example\n"
        f"Subject: {words[k % len(words)]} number {k}\n"
        f"Date: Mon, 0{1 + k % 9} Jul 2024 10:{k % 60:02d}:00 +0000\n\n"
        f"{text} {k} http://{'buy' if label else 'wiki'}.example/p{k}\n"
    ).encode()


def ham(n=30):
    return [message(0, k) for k in range(n)]


def spam(n=30):
    return [message(1, k) for k in range(n)]
