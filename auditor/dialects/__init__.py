"""Grammars that several platforms or importers share: text in, plain values out."""
