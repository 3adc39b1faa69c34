//! This crate add numbers.

/// Adds two numbers, see [`Adder`].
///
/// ```
/// assert_eq!(add(1, 2), 3);
/// ```
fn add(a: i32, b: i32) -> i32 {
    /* a nested /* comment */ here */
    a + b // their sum
}
