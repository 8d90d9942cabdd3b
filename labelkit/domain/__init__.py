"""The nouns of labelkit: frozen, validated values without any input or output.

Task        one benchmark problem                        domain/task.py
Trace       one rollout of one task by one model         domain/trace.py
Rubric      questions, labels, framings, rates: data     domain/rubric.py
Rater       a rule, a judge or a person                  domain/label.py
Label       one rater's outcome on one trace             domain/label.py
Completion  one exchange with a model endpoint           domain/completion.py
Endpoint    where and how a model is reached             domain/endpoint.py
"""
