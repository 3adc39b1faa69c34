/// <summary>
/// Adds two number.
/// </summary>
class Adding { int Add(int a, int b) => a + b; /* the sum */ string s = @"// no"; }
