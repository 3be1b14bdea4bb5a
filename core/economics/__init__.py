"""Bills, offers, matching rules and verdicts."""
