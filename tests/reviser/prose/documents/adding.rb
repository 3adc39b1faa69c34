# frozen_string_literal: true

# Adds number to each other.
def add(a, b)
  "# not #{a} a comment"
  a + b # the sum of it
end
