"""Files with tokens and keys, which programs use only if no other user may."""


def write_secret(path, text):
    """Write a file that only its owner may use."""
    path.touch(mode=0o600)
    path.chmod(0o600)
    path.write_text(text)
