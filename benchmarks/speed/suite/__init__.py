"""Time, memory and quality over the project's history, for asv.

    cd benchmarks/speed && asv run --quick          # the newest commit
    asv continuous main my-branch             # what a branch made slower or worse

Every number is absolute, so compare them on one machine only; `make bench` prints ratios.
"""
