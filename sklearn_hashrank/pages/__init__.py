"""HTML pages that are one file: escaping, security policy, style sheets and scripts.

The report of a comparison and the pages of ``explore`` are made here::

    read_style, read_script (modules joined) --> html_page (a policy with their digests)
    encode_array (base64, deflated if smaller) --> data of the page, in a block of JSON
"""

from ._html_page import encode_array, escape, html_page, read_script, read_style

__all__ = ["encode_array", "escape", "html_page", "read_script", "read_style"]
