"""Tables."""
def write_tables(results, folder):
    raise NotImplementedError
