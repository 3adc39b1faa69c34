/** Adds two number. */
object Adding { def add(a: Int, b: Int) = a + b /* the sum */ }
