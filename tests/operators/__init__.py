"""Tests of physical operators over batches of their own."""
