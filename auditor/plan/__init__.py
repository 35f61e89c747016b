"""The wiring plan and the fabric's intent: reading, port groups, slices for device jobs."""
