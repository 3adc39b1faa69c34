/// Adds two number.
func add(_ a: Int, _ b: Int) -> Int { a + b } // their sum
let s = "// no"
