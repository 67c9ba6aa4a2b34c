"""The benchmark itself: its arithmetic, its references, and that it notices answers that differ. No peer is needed."""
