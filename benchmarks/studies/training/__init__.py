"""Studies of training: short runs that differ in one setting, and long ones in figures."""
