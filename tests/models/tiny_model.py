"""Writes a tiny Llama with random weights, as a folder that vLLM serves. Nothing is downloaded.

Run by a Python that has transformers and torch: ``python tiny_model.py FOLDER``. Its tokens are
single bytes; its chat template knows tools.
"""

from __future__ import annotations

import sys

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

TEMPLATE = """{%- for message in messages %}<|im_start|>{{ message.role }}
{%- if loop.first and tools %}
Tools: {{ tools | tojson }}
{%- endif %}
{{ message.content or '' }}{% for call in message.tool_calls or [] %}
<tool_call>{{ call.function | tojson }}</tool_call>{% endfor %}<|im_end|>
{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""


def main(folder: str) -> None:
    """Write configuration, weights and tokenizer."""
    torch.manual_seed(0)
    special = ["<|im_start|>", "<|im_end|>", "<tool_call>", "</tool_call>"]
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocab = {token: place for place, token in enumerate([*special, *alphabet])}
    bytewise = Tokenizer(models.BPE(vocab=vocab, merges=[]))
    bytewise.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bytewise.decoder = decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=bytewise,
        bos_token=special[0],
        eos_token=special[1],
        pad_token=special[1],
        additional_special_tokens=special[2:],
        model_max_length=4096,
    )
    tokenizer.chat_template = TEMPLATE
    tokenizer.save_pretrained(folder)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=128,
        intermediate_size=256,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=4096,
        bos_token_id=0,
        eos_token_id=1,
        pad_token_id=1,
    )
    LlamaForCausalLM(config).to(torch.bfloat16).save_pretrained(folder)


if __name__ == "__main__":
    main(sys.argv[1])
