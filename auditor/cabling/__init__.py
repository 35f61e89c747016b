"""Evidence to link verdicts; causes and work orders of wrong cables."""
