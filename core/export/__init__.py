"""Files that leave the project: a workbook whose arithmetic a reader can follow and change."""
