"""From devices or capture folders to raw outputs."""
