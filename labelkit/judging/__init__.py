"""Rubric-driven judges: what a judge sees, what it is asked, how its reply is read.

    view.py          what exactly is shown of one trace
    shorten.py       the declared shortening policy and characters no request can carry
    form.py          the closed answer form of one framing and task subset
    prompt.py        the request: rubric in the system message, the trace as data after it
    extract.py       JSON objects in free text, found in linear time
    verdict.py       a reply becomes a verdict or a null with a reason, never a guess
    judge.py         one judge: rubric x framing x endpoint x decoding x parser
    independence.py  who may judge whose traces

This package knows rubrics only through the rubric object: one package serves every scheme.
"""
