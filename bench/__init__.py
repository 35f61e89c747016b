"""What the auditor costs: CPU time and memory per device, growth with size, and ratios against named references."""
