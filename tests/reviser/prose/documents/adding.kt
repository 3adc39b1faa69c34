/** Adds two number. */
fun add(a: Int, b: Int) = a + b // their sum
val s = "// no $s"
