"""Module docs are hear."""



class A:
    """Single: the class.

    Args:
        foo: The foo that are given
            and wrapped.
        bar (int): The bar.

    >>> A()
    1

    Example::

        code_here()
    """

    def f(self):
        "One line."
        x = "not a docstring"
        "neither"
        return x
