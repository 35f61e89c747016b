"""Steps that bring an older database to the shape in `schema.py`, run by `engine.py` when a store is opened."""
