<h1>Text that stay</h1>
<?php
// Adds two number.
function add($a, $b) { return $a + $b; } # their sum
$s = "// no";
