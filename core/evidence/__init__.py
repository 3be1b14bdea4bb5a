"""What the numbers rest on: every price and fact with source and date, what contradicts, what is missing."""
