"""Make sets of embeddings from what pip installs: words, sentences, and sentences of packages.

    pip install tokenizers
    pip install --no-deps --target wordllama wordllama
    python -m benchmarks.notes.text_rows FOLDER --words wordllama/wordllama/weights/*.safetensors

``FOLDER/words.npy`` has the vectors of the vocabulary that the package wordllama ships: 256 numbers
each. ``FOLDER/sentences.npy`` has the sentences of the docstrings of the standard library of the
Python that runs this: TF-IDF of their words, and the first 256 singular vectors of it.
``FOLDER/documentation.npy`` has those and the sentences of numpy, scipy and scikit-learn, each the
mean of the vectors of its tokens, brought to length 1: a sentence encoder without a network. The
first two hold at most 40,000 rows of float32 that differ, the third 61,000, in an order that a seed
makes. Other versions of Python and of the packages have other sentences.
"""

import argparse
import ast
import json
import re
import struct
import sysconfig
import warnings
from importlib import import_module
from pathlib import Path

import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import normalize

MOST, MOST_OF_DOCUMENTATION = 40_000, 61_000
PACKAGES = ("numpy", "scipy", "sklearn")
FEWEST_WORDS = 5
N_FEATURES = 256


def read_safetensors(path):
    """The one matrix of a file of tensors."""
    data = path.read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    [tensor] = (each for name, each in json.loads(data[8 : 8 + size]).items() if name[0] != "_")
    dtype = {"F16": np.float16, "F32": np.float32}[tensor["dtype"]]
    start, end = (8 + size + offset for offset in tensor["data_offsets"])
    return np.frombuffer(data[start:end], dtype).reshape(tensor["shape"])


def docstrings(folder, skipped):
    """Docstrings of all modules, classes and functions of a library without its packages."""
    for path in sorted(folder.rglob("*.py")):
        if skipped & set(path.relative_to(folder).parts):
            continue
        try:
            tree = ast.parse(path.read_bytes())
        except (SyntaxError, ValueError, RecursionError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
                yield ast.get_docstring(node) or ""


def sentences(folder, skipped):
    """Sentences of several words, each once."""
    found = {}
    for text in docstrings(folder, skipped):
        for paragraph in re.split(r"\n\s*\n", text):
            for sentence in re.split(r"(?<=[.!?])\s+", " ".join(paragraph.split())):
                if len(re.findall(r"[A-Za-z]{2,}", sentence)) >= FEWEST_WORDS:
                    found[sentence] = None
    return list(found)


def means_of_tokens(texts, weights):
    """Mean of the vectors of the tokens of each text, of length 1."""
    from tokenizers import Tokenizer

    vectors = read_safetensors(weights).astype(np.float32)
    [settings] = weights.parents[1].glob("tokenizers/*.json")
    tokens = Tokenizer.from_file(str(settings)).encode_batch(texts, add_special_tokens=False)
    means = np.array([vectors[each.ids].mean(axis=0) for each in tokens])
    return normalize(means)


def write(path, rows, seed=0, most=MOST):
    """Write rows that differ and are not zero, some of them where they are many."""
    rows = np.unique(rows.astype(np.float32), axis=0)
    rows = rows[np.linalg.norm(rows, axis=1) > 1e-6]
    rows = rows[np.random.RandomState(seed).permutation(len(rows))[:most]]
    np.save(path, rows)
    print(path, rows.shape)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--words", type=Path, help="weights of wordllama")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    if options.words:
        write(options.folder / "words.npy", read_safetensors(options.words))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        texts = sentences(
            Path(sysconfig.get_path("stdlib")), {"site-packages", "dist-packages", "test"}
        )
        more = [
            text
            for name in PACKAGES
            for text in sentences(Path(import_module(name).__file__).parent, {"tests"})
        ]
    counts = TfidfVectorizer(sublinear_tf=True, min_df=3).fit_transform(texts)
    svd = TruncatedSVD(N_FEATURES, random_state=0)
    write(options.folder / "sentences.npy", svd.fit_transform(counts))
    if options.words:
        rows = means_of_tokens(list(dict.fromkeys([*texts, *more])), options.words)
        write(options.folder / "documentation.npy", rows, most=MOST_OF_DOCUMENTATION)


if __name__ == "__main__":
    main()
