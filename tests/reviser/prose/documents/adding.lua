-- Adds two number.
--[[ A longer comment that go
over two lines. ]]
return function(a, b) return a + b, "-- no" end
