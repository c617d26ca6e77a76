"""How many threads the BLAS libraries of this process take."""

from threadpoolctl import threadpool_info


def blas_threads():
    """Numbers of threads of the libraries that can take several; solvers bring some that cannot."""
    return {
        each["num_threads"]
        for each in threadpool_info()
        if each["user_api"] == "blas" and each.get("threading_layer") != "disabled"
    }
