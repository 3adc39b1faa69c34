/** Adds number to each other. */
class Adding {
    /**
     * Returns the sum of two <b>numbers</b>.
     *
     * @param a the first of the number
     * @return the sum, see {@link Adding}
     */
    int add(int a, int b) { return a + b; }
    String s = "// no comment";
}
