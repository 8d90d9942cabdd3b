"""The review pages: thin views over ``labelkit.workflows``. They know Streamlit, nobody else does.

Of labelkit, pages may import ``workflows``, ``domain`` and ``settings`` and nothing more. Text
that comes from traces, labels or names never reaches markdown, a label, a tooltip or a toast.
"""
