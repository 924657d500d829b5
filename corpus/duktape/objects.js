var a = ({ b: 1, c: [1, 2, 'x'] });
for (var k in a) { a[k] += 1;
}
(a.c);
