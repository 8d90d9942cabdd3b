"""Models behind OpenAI-compatible endpoints: one client, and engines that make a base URL.

request        what is asked, and its digest          client        one row: send, resend, adapt
body           the request as it is really sent       reply         the 200 as it is read
faults         what an error means                    waiting       how long before a resend
limiter        how many requests may be in flight     ledger        what it cost
capabilities   what an endpoint takes                 structured    the probe that finds out
transport      one HTTP exchange                      engines       a server behind each engine
local, vllm    the servers that labelkit starts       guard         sees that vLLM never outlives us
"""
