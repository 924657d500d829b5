INSERT INTO t(b, c) VALUES (7, 'seven'), (8, upper('x'));
UPDATE t SET b = b + 1 WHERE a IN (SELECT a FROM u);
SELECT * FROM t JOIN u USING (a);
