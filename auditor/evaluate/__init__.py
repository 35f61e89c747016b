"""Runs rules over what was seen: verdicts, findings and causes; a rule that crashes is a result, not the end."""
