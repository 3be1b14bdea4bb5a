"""What the pages share: address, controls, charts, tables, prose and translation. Reads core; never read by it."""
