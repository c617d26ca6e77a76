"""The style sheet of the report: light and dark, wide and narrow, nothing from elsewhere."""

SHADES = 9  # of cells, from the worst value to the best

_GROUPS = ("#0072B2", "#009E73", "#D55E00", "#CC79A7", "#E69F00", "#56B4E9", "#7f8794")
_OF_GROUPS = "\n".join(f".g{i} {{ --group: {color}; }}" for i, color in enumerate(_GROUPS))
_OF_SHADES = "\n".join(
    f"td.s{i} {{ background: rgb(0 114 178 / {0.30 * i / (SHADES - 1):.3f}); }}"
    for i in range(1, SHADES)
)
CSS = (
    """
:root {
  color-scheme: light dark;
  --page: #ffffff; --text: #1c2330; --quiet: #5b6576; --line: #d9dee6; --head: #f4f6f9;
  --best: #e3f0e5; --best-text: #14532d; --warn: #8a4b00;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #14181f; --text: #e4e8ee; --quiet: #9aa5b5; --line: #333c4a; --head: #1d232d;
    --best: #1f3a2a; --best-text: #b7e4c7; --warn: #f0b35a;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--page); color: var(--text);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif;
}
main { max-width: 1200px; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .3rem; }
h2 { font-size: 1.25rem; margin: 2.6rem 0 .4rem; padding-top: .8rem;
     border-top: 1px solid var(--line); }
h3 { font-size: 1rem; margin: 1.6rem 0 .2rem; }
p { margin: .2rem 0 .8rem; max-width: 75ch; }
.quiet, figcaption { color: var(--quiet); font-size: .9rem; }
.warn { color: var(--warn); }
.blocks { display: flex; flex-wrap: wrap; gap: 0 3rem; }
.blocks > div { min-width: 0; max-width: 100%; flex: 0 1 auto; }
.blocks p { max-width: 34rem; }
.wide { overflow-x: auto; -webkit-overflow-scrolling: touch; }
table { border-collapse: separate; border-spacing: 0; font-variant-numeric: tabular-nums;
        font-size: .92rem; }
th, td { padding: .35rem .8rem; text-align: right; border-bottom: 1px solid var(--line);
         white-space: nowrap; vertical-align: top; }
thead th { background: var(--head); font-weight: 600; }
th:first-child { text-align: left; position: sticky; left: 0; background: var(--page);
                 font-weight: 600; }
thead th:first-child { background: var(--head); }
td small { display: block; color: var(--quiet); font-size: .8rem; }
td.best { outline: 2px solid var(--best-text); outline-offset: -2px; }
td.best b { color: var(--best-text); }
th[class^="g"] { box-shadow: inset 4px 0 0 var(--group); padding-left: 1rem; }
tr.group th { background: var(--head); font-size: .8rem; padding: .2rem .8rem .2rem 1rem;
              color: var(--quiet); text-align: left; }
ul.groups { list-style: none; padding: 0; margin: .4rem 0 1rem; }
ul.groups li { border-left: 4px solid var(--group); padding-left: .6rem; margin: .2rem 0; }
th button { all: unset; cursor: pointer; display: block; width: 100%; }
th button:focus-visible { outline: 2px solid currentcolor; outline-offset: 2px; }
th[aria-sort="ascending"] button::after { content: " \\25b4"; }
th[aria-sort="descending"] button::after { content: " \\25be"; }
.raw { font-size: .78rem; }
.raw th, .raw td { padding: .2rem .6rem; }
.figures { display: grid; gap: 1rem; margin: 1rem 0;
           grid-template-columns: repeat(auto-fit, minmax(min(100%, 460px), 1fr)); }
figure { margin: 0; min-width: 0; }
figure.across { grid-column: 1 / -1; }
figure img { display: block; width: 100%; height: auto; background: #ffffff; border-radius: 6px;
             border: 1px solid var(--line); }
figcaption { padding: .3rem .1rem 0; }
dl { display: grid; grid-template-columns: minmax(8rem, max-content) 1fr; gap: .25rem 1.2rem;
     margin: .4rem 0 1rem; }
dt { color: var(--quiet); }
dd { margin: 0; overflow-wrap: anywhere; }
code, pre { font: .86rem/1.45 ui-monospace, "SF Mono", "DejaVu Sans Mono", monospace; }
pre { background: var(--head); padding: .7rem .9rem; border-radius: 6px;
      white-space: pre-wrap; overflow-wrap: anywhere; }
summary { cursor: pointer; margin: .6rem 0; }
@media (max-width: 600px) {
  body { font-size: 15px; }
  h1 { font-size: 1.4rem; }
  dl { grid-template-columns: 1fr; gap: 0; }
  dd { margin-bottom: .5rem; }
  th, td { padding: .3rem .5rem; }
}
@media print { .wide { overflow: visible; } }
"""
    + _OF_GROUPS
    + "\n"
    + _OF_SHADES
)
