"""What a check finds in texts that no rule was made from: names that it leaves, and findings that were read."""
