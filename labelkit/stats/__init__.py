"""Numbers people cite: pure functions over arrays and label triples; no store, no pages.

undefined      a number that does not exist, with its reason
ratings        the table of who gave which label to what (wide, long, counts, cross table)
agreement      every coefficient with se and interval, and their table ``COEFFICIENTS``
intervals      Wilson's interval of a rate; ``proportions`` has the exact ones
bootstrap      percentile and BCa over items or clusters; ``clusters`` the robust t
allocation     sample size and its split; ``draws`` the draw; ``planning`` how many more
weighted       rates from draws with unequal probabilities
comparison     tests of differences within named families; ``ranking`` fronts and ranks
vote           majority with tie rule and null policy; ``dawid_skene`` the model
confusion      a judge against people; ``prevalence`` and ``ppi`` correct for its errors
missingness    what the rows without a label could change

``agreement``, ``intervals``, ``vote`` and ``clusters`` import numpy alone, so a report starts fast.
"""
