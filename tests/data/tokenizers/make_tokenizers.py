"""python3 make_tokenizers.py > tokenizers.json: small vocabularies, texts, and what two well-known libraries make of them.

Needs tokenizers 0.23 and sentencepiece 0.2 (not needed to run the tests). `words` are the cuts of the pre-tokenizers; `bpe` and `spm`
hold a vocabulary trained here on a few lines and the ids of each text.
"""
import io
import json

import sentencepiece
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

CORPUS = [
    "the quick brown fox jumps over the lazy dog and the dog sleeps in the sun",
    "a driver that crashes in its compiler is a line in the report, not the end of the program",
    "def answer(n):\n    if n == 0:\n        return 1\n    return n * answer(n - 1)\n",
    "It's what they've said: we'll see, I'd say. 1234 tokens, 56 of them right; 789 wrong!",
    "Straße, naïve café, Ελληνικά, русский текст, 日本語のテキスト, 한국어, emoji 🙂🙃",
] * 4

TEXTS = [
    "",
    " ",
    "a",
    "the dog",
    " the dog",
    "the  quick   brown",
    "trailing spaces   ",
    "\n",
    "\n\n\n",
    "line\nbreaks \n and\r\ntabs\t\tthere",
    "   \n   indented",
    "It's they've we'll I'd can't THEY'RE It\u2019s 's 'x",
    "1234567 v1.2.3 x86-64 3rd \u0661\u0662\u0663 \u00bd \u2167",
    "def f(n):\n    return n*f(n-1) # ok!?",
    "a,b;c...d--e (f) [g] {h} <i> $1,000.00",
    "Stra\u00dfe na\u00efve caf\u00e9 cafe\u0301 \u0395\u03bb\u03bb\u03b7\u03bd\u03b9\u03ba\u03ac \u0440\u0443\u0441\u0441\u043a\u0438\u0439",
    "\u65e5\u672c\u8a9e\u306e\u30c6\u30ad\u30b9\u30c8 \ud55c\uad6d\uc5b4 \u0e20\u0e32\u0e29\u0e32",
    "\U0001F642\U0001F643 \U0001F468\u200D\U0001F469\u200D\U0001F467 \u2603\ufe0f",
    "non\u00a0breaking\u2003em\u3000ideographic",
    "\u00a0 \u00a0x",
    "x\u0000y\u0007z\u007f\u0085w",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "\u2581already \u2581 marked",
]

GPT2 = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
SMOLLM = pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), GPT2])
QWEN2 = pre_tokenizers.Split(
    Regex(
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    ),
    behavior="isolated",
)


def words():
    for name, pre in (("gpt-2", GPT2), ("smollm", SMOLLM), ("qwen2", QWEN2)):
        for text in TEXTS:
            cuts = [text[a:b] for _, (a, b) in pre.pre_tokenize_str(text)]
            # A character of several bytes never is two words; what the offsets say twice would show here.
            assert "".join(cuts) == text, (name, text, cuts)
            yield {"pre": name, "text": text, "words": cuts}


def bpe():
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = SMOLLM
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=500, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), special_tokens=["<|im_start|>", "<|im_end|>", "<|im|>"], show_progress=False
    )
    tokenizer.train_from_iterator(CORPUS, trainer)
    model = json.loads(tokenizer.to_str())["model"]
    tokens = sorted(model["vocab"], key=model["vocab"].get)
    texts = TEXTS + ["<|im_start|>user\nthe dog<|im_end|>\n", "x<|im<|im|>|><|im_end|><|im_end|>", "<|im_start|", "<|im_start|><|im_start|>"]
    cases = [{"text": t, "ids": tokenizer.encode(t, add_special_tokens=False).ids} for t in texts]
    return {
        "tokens": tokens,
        "types": [3 if t.startswith("<|im") else 1 for t in tokens],
        "merges": [m if isinstance(m, str) else " ".join(m) for m in model["merges"]],
        "cases": cases,
    }


def spm():
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([line for text in CORPUS for line in text.split("\n")]),
        model_writer=model, model_type="bpe", vocab_size=440, byte_fallback=True, character_coverage=0.98, normalization_rule_name="identity",
        remove_extra_whitespaces=False, add_dummy_prefix=True, user_defined_symbols=["\n\n"], bos_id=1, eos_id=2, unk_id=0, pad_id=-1, minloglevel=2,
    )
    p = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    kind = lambda i: 2 if p.is_unknown(i) else 3 if p.is_control(i) else 6 if p.is_byte(i) else 4 if p.id_to_piece(i) == "\n\n" else 1
    size = p.get_piece_size()
    return {
        "tokens": [p.id_to_piece(i) for i in range(size)],
        "scores": [p.get_score(i) for i in range(size)],
        "types": [kind(i) for i in range(size)],
        "cases": [{"text": t, "ids": p.encode(t), "decoded": p.decode(p.encode(t))} for t in TEXTS if t and "\n\n" not in t and "\0" not in t],
    }


print(json.dumps({"words": list(words()), "bpe": bpe(), "spm": spm()}, ensure_ascii=True, indent=None, separators=(",", ":")).replace('},{', '},\n{'))
