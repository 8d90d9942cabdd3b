"""The service below the review app: people, samples, leases, labels by people, decisions.

Pages call these modules and nothing of the store. Every function takes the person who acts and
checks that the person may (``access``); a page never decides that.

access         rights and roles
people         who works here, signing in, sessions
samples        planning, drawing, listing, assigning a sample
assignment     the next item, blind; giving it back; progress
annotate       drafts, submitting, skipping, undoing
adjudicate     the queue of cases, one case, the decision
live           agreement of a sample while labels arrive
judge_quality  judges, rule and ensemble against the decided labels
overview       samples, people and labels by day
"""
