/* Copyright 2024 Somebody. All rights reserved. */
#include <stdio.h>

/*
 * Adds two number, and print
 * the sum of they.
 */
int add(int a, int b)
{
    // return a - b;
    printf("/* not a comment */ %d", a); // It print the first.
    return a + b;  /* the sum */
}
