int parse_it(const char *text);
