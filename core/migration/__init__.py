"""Migration: what ties a code base to its accelerators, what moving costs in days, and whether it pays."""
