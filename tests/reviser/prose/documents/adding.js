#!/usr/bin/env node
/**
 * Adds two number together.
 *
 * @param {number} a - The first numbr.
 * @returns {number} the sum of it
 * @example
 * add(1, 2)
 */
function add(a, b) { // eslint-disable-line
  // This are a comment
  // over two lines.
  const s = "// not a comment"; /* inline one here */
  // return a + b;
  return a + b; // sum it
}
