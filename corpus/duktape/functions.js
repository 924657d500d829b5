function f(n) { return ((n < 1) ? 0 : (n + f((n - 1)))); }
try { f(5);
(/a+b/).exec('aab');
}
catch (e) { throw e;
}
