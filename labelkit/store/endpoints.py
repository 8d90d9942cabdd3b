"""TEMP"""


def known_capabilities(store, endpoint):
    return None


def remember_capabilities(store, endpoint, capabilities):
    pass
