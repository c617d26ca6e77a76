"""Make one printable line of text from other people's text."""


def plain(text: str) -> str:
    """One line of text that prints: spaces for white space, escapes for what does not print."""

    def show(character: str) -> str:
        if character.isprintable():
            return character
        return " " if character.isspace() else character.encode("unicode_escape").decode()

    return "".join(map(show, text))
