SELECT a, c FROM t WHERE b > 5 OR c LIKE 't%' ORDER BY 1 DESC LIMIT 3;
SELECT count(*), max(c) FROM t GROUP BY b HAVING count(*) > 1;
