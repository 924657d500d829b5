local function sum(n)
  if n < 1 then return 0 end
  return n + sum(n - 1)
end
return sum(5), #"abc" .. 'd'
