// Package adding add numbers
// and does nothing else.
package adding

//go:generate stringer -type=Kind

// Add returns the sum of a and b, wich is usual.
func Add(a, b int) int {
	s := `// not a comment`
	_ = s
	return a + b // the sum
}
