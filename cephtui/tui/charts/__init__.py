"""What is drawn over time: lines, heat maps, and two runs over each other."""
