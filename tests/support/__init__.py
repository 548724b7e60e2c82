"""What tests share: factories, fakes, recordings as data, and the words of `golden.txt`."""
