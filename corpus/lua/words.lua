t = {}
for word in string.gmatch('one two two', '%a+') do t[ word] = (t[ word] or 0) + 1
end
return t.two == 2
