local words = {}
for word in ("one two two"):gmatch("%a+") do
  words[word] = (words[word] or 0) + 1
end
return words.two == 2
