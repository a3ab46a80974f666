# SPDX-License-Identifier: Apache-2.0
"""The same tokenizers as ours, of PyPI's tokenizers and tiktoken."""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "runtime"))
from pypi import fetch  # noqa: E402

kPackages = ["tokenizers==0.23.*", "tiktoken==0.14.*"]
kEnd = "<|endoftext|>"
# GPT-2's pattern as its authors published it, and as tiktoken's gpt2 has it, which is said to be the same and quicker.
kPattern = r"""'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"""


def fetch_peers(folder: pathlib.Path) -> None:
    fetch(folder, kPackages)


def trained(texts: list[str], size: int, least: int):
    """By tokenizers: `size` tokens, and the special one behind them."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=size, min_frequency=least, show_progress=False,
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.add_special_tokens([kEnd])
    return tokenizer


def merges_of(tokenizer) -> list[str]:
    return [" ".join(merge) for merge in json.loads(tokenizer.to_str())["model"]["merges"]]


def tiktoken_of(folder: pathlib.Path):
    """Of a folder with vocab.json and merges.txt, read by tiktoken's own function."""
    import os
    import tiktoken
    from tiktoken.load import data_gym_to_mergeable_bpe_ranks
    os.environ["TIKTOKEN_CACHE_DIR"] = ""
    ranks = data_gym_to_mergeable_bpe_ranks(str(folder / "merges.txt"), str(folder / "vocab.json"))
    return tiktoken.Encoding("ours", pat_str=kPattern, mergeable_ranks=ranks, special_tokens={kEnd: len(ranks)})


def words_of(text: str) -> list[str]:
    """By tokenizers' ByteLevel."""
    from tokenizers import pre_tokenizers
    split = pre_tokenizers.ByteLevel(add_prefix_space=False).pre_tokenize_str(text)
    return [text[begin:end] for _, (begin, end) in split]
