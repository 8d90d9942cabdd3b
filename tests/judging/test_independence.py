"""H3: a model never grades itself unawares, whatever its name is spelt like."""

from __future__ import annotations

import pytest

from labelkit.domain.endpoint import Endpoint
from labelkit.errors import InputError
from labelkit.judging.independence import check_independence, families, model_key


def endpoint(model: str, family: str | None = None) -> Endpoint:
    return Endpoint(name="big", model=model, family=family)


SAME = [
    ("Qwen/Qwen3-32B", "qwen3-32b"),
    ("qwen3:32b", "Qwen3-32B-FP8"),
    ("org/Model-7B-Instruct-GGUF", "model-7b-instruct"),
    ("smollm2-135m-instruct-q4_1", "HuggingFaceTB/SmolLM2-135M-Instruct"),
    ("llama-3.1-8b-instruct-q4_k_m.gguf", "meta-llama/Llama-3.1-8B-Instruct"),
    ("gpt-4o-2024-08-06", "gpt-4o"),
    ("claude-x-20250101", "claude-x-latest"),
    ("glm-4.7-awq-int4", "GLM-4.7"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_h3_spellings_of_one_model(one: str, other: str) -> None:
    assert model_key(one) == model_key(other)
    with pytest.raises(InputError, match="allow_self_judging"):
        check_independence(endpoint(one), [other])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("qwen3-32b", "qwen3-8b"),
        ("llama-3.1-8b", "llama-3.1-8b-instruct"),
        ("gpt-4o", "gpt-4o-mini"),
    ],
)
def test_relatives_are_not_the_same_model(one: str, other: str) -> None:
    found = check_independence(endpoint(one), [other, "strange-1"])
    assert found.own == ()
    assert found.related == (other,)
    (warning,) = found.warnings
    assert other in warning


def test_h3_the_refusal_is_one_sentence_that_names_model_and_switch() -> None:
    with pytest.raises(InputError) as error:
        check_independence(endpoint("m1"), ["m1", "m2"])
    assert "'m1'" in str(error.value)
    assert "allow_self_judging: true" in str(error.value)
    assert "\n" not in str(error.value)


def test_h3_allowed_self_judging_is_still_warned_about() -> None:
    found = check_independence(endpoint("m1"), ["m1", "org/M1-FP8", "z"], allow=True)
    assert found.own == ("m1", "org/M1-FP8")
    assert len(found.warnings) == 1


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("Qwen/Qwen3.5-397B-FP8", {"qwen"}),
        ("o3-mini", {"gpt"}),
        ("mixtral-8x7b", {"mistral"}),
        ("deepseek-ai/DeepSeek-R1-Distill-Qwen-7B", {"deepseek", "qwen"}),
        ("HuggingFaceTB/SmolLM2-135M", {"smollm"}),
        ("zai-org/GLM-4.7", {"glm"}),
        ("7b", {"b"}),
        ("123", set()),
    ],
)
def test_families(name: str, family: set[str]) -> None:
    assert families(name) == family


def test_a_declared_family_overrides_the_name() -> None:
    assert families("my-finetune", "Qwen") == {"qwen"}
    assert check_independence(endpoint("my-finetune", "Qwen"), ["qwen3-8b"]).related == (
        "qwen3-8b",
    )


def test_strangers_pass_in_silence() -> None:
    found = check_independence(endpoint("gpt-4o"), ["qwen3-8b", "llama-3"])
    assert (found.own, found.related, found.warnings) == ((), (), ())
