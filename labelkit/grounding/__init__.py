"""What an answer says and where each value in it comes from, with character offsets."""
