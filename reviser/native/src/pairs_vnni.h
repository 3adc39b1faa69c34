/* Products with any number of panels, by twos, in terms of the level's `multiply_pair`. */

TARGET static void multiply_codes(const Matrix *matrix, int first, int count, const Activations *in, int n, float *out) {
    const unsigned char *panel = matrix->data + (size_t)first * matrix->panel_bytes;
    for (; count > 0; count -= 2, panel += 2 * matrix->panel_bytes, out += 2 * n * PANEL)
        if (matrix->bits == 4)
            multiply_pair(matrix, 4, panel, count == 1, in, n, out);
        else
            multiply_pair(matrix, 8, panel, count == 1, in, n, out);
}
#define MULTIPLY_CODES multiply_codes
