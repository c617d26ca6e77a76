"""Pages to look at what codes retrieve, each one file that needs no server.

::

    write_page --> _choice (which rows are items, which are queries)
               --> encode --> codes of each model
               --> _levels (relevance of pairs), _exact (nearest by distances of floats)
               --> _appearance (pictures by _sprites, texts, rows of a table)
               --> html_page with main.js, which searches, counts and measures in the browser
    write_neighbors --> a Parquet file of neighbors for other viewers

HTML pages that are one file: escaping, security policy, style sheets and scripts.

The report of a comparison and the pages of ``explore`` are made here::

    read_style, read_script (modules joined) --> html_page (a policy with their digests)
    encode_array (base64, deflated if smaller) --> data of the page, in a block of JSON
"""

from ._neighbor_file import write_neighbors
from ._page_writer import write_page

__all__ = ["write_neighbors", "write_page"]
