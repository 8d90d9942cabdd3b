"""From tasks to traces: scripted tools, protocols, and the runner that plays them."""
